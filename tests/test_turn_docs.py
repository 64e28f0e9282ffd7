"""The tables of docs/turns.md say what the numbers' files say."""

from pathlib import Path

from harness.dimension import Dimension, dimensions

PAGE = Path(__file__).parent.parent / "docs" / "turns.md"
OURS = [each for each in dimensions() if each.score.__module__.startswith("harness.")]


def summary_row(each: Dimension) -> str:
    issue, evidence = each.numbers.issue, each.numbers.evidence
    assert issue is not None
    severity = issue.severity if issue.error_below is None else f"error under {issue.error_below:g}"
    high = (
        ""
        if evidence is None
        else f"above {evidence.above:g}"
        if evidence.above
        else f"{evidence.from_:g} on"
    )
    cells = [f"`{each.name}`", f"{each.weight:g}", f"{each.numbers.default:g}"]
    return f"| {' | '.join([*cells, f'{issue.below:g}', issue.category, severity, high])} |"


def detail_rows(each: Dimension) -> list[str]:
    numbers = each.numbers
    kinds = (numbers.levels, "{:g}"), (numbers.amounts, "{:+g}"), (numbers.limits, "{:g}")
    return [f"| `{name}` | {form.format(value)} |" for table, form in kinds for name, value in table.items()]


def section(name: str) -> str:
    return PAGE.read_text("utf-8").partition(f"\n### {name}\n")[2].partition("\n#")[0]


def test_the_summary_is_the_numbers() -> None:
    rows = [
        row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| `") and row.count("|") == 8
    ]
    assert rows == [summary_row(each) for each in OURS]


def test_every_dimension_has_a_section_with_its_numbers() -> None:
    for each in OURS:
        rows = [
            row.rsplit(" | ", 1)[0] + " |" for row in section(each.name).splitlines() if row.startswith("| `")
        ]
        assert rows == detail_rows(each), each.name


def test_thresholds_and_evidence_are_named() -> None:
    page = " ".join(PAGE.read_text("utf-8").split())
    for each in OURS:
        if each.numbers.evidence is not None:
            assert each.numbers.evidence.text in page
