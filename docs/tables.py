"""Write the generated tables into the handbook: `python docs/tables.py`. A test compares."""

import inspect
from pathlib import Path

from harness import plugins
from harness.criterion import Criterion
from harness.rubric import criterion_type

PAGE = Path(__file__).parent / "rubrics.md"
BEGIN = "<!-- criteria table: generated -->\n"
END = "<!-- end of criteria table -->\n"


def criteria_table() -> str:
    """One row per criterion, from its file's docstring, its class's docstring and its fields."""
    rows = ["| scoring key | the criterion … | notes | other keys |", "|---|---|---|---|"]
    for key in plugins.own("criteria"):
        kind = criterion_type(key)
        what = _first_line(inspect.getmodule(kind))
        fields = {field.alias or name for name, field in kind.model_fields.items()}
        other = ", ".join(f"`{name}`" for name in sorted(fields - set(Criterion.model_fields) - {key}))
        rows.append(f"| `{key}` | {what} | {_first_line(kind)} | {other} |")
    for key in plugins.own("checkers"):
        what = _first_line(plugins.module("checkers", key))
        rows.append(f"| `{key}` | {what} | a [checker](checkers.md) | see below |")
    return "\n".join(rows) + "\n"


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").splitlines()[0].replace("|", "\\|")


def page_with_table(page: str) -> str:
    """The page with the table between its marks made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{criteria_table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text("utf-8")), "utf-8")
