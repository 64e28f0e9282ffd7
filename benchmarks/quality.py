"""How good the checkers are on labelled exchanges: `python benchmarks/quality.py FILE.jsonl …`.

Rows have `user`, `assistant` and `label` (or `expected`): true, false, or null where `topic_pivot` should
not apply. A flagged reply is one the check fails. Not applicable against a true or false label counts as
not flagged.

`--cross-validate` splits the rows into ten folds. For each fold, every rule that matches no row outside it is
taken out, as if it had never been written, and the fold is judged by what is left. So a rule written for one
row earns nothing there.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path[0] = str(
    Path(__file__).parent.parent
)  # else `harness` is the benchmark of that name beside this file

from harness import lexicon, plugins
from harness.check import check_one
from harness.records import CheckResult, Status, Turn
from harness.settings import CheckSettings

FOLDS = 10
STATUSES: tuple[Status, ...] = ("passed", "failed", "not_applicable", "error")
Row = dict[str, Any]
Judged = list[tuple[bool | None, CheckResult]]


def main() -> None:
    """Print one line of figures per check, and the misjudged rows of one check if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--errors", metavar="CHECK", help="list the rows this check misjudges")
    parser.add_argument("--only", metavar="CHECK", help="measure one check alone")
    parser.add_argument("--cross-validate", action="store_true")
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.files for line in file.read_text("utf-8").splitlines()]
    for name in [options.only] if options.only else plugins.own("checkers"):
        asked = [row for row in rows if name in labels(row)]
        judged = judge(asked, name)
        print(f"{name:26}", figures(judged))
        if options.cross_validate:
            print(f"{'  cross-validated':26}", figures(cross_validated(asked, name, judged)))
        if options.errors == name:
            show_errors(asked, name, judged)


def labels(row: Row) -> dict[str, bool | None]:
    """What a row says each check should give."""
    found: dict[str, bool | None] = row.get("label") or row.get("expected") or {}
    return found


def judge(rows: list[Row], name: str) -> Judged:
    """Each row's label with the verdict."""
    turns = [Turn(user=row["user"], assistant=row["assistant"]) for row in rows]
    return [
        (labels(row)[name], check_one(name, turn, CheckSettings()))
        for row, turn in zip(rows, turns, strict=True)
    ]


def cross_validated(rows: list[Row], name: str, judged: Judged) -> Judged:
    """The verdicts of every fold by rules that have support outside it."""
    used = [{hit.rule for hit in result.spans} for _, result in judged]
    found: dict[int, tuple[bool | None, CheckResult]] = {}
    for fold in range(FOLDS):
        supported = set().union(*(rules for index, rules in enumerate(used) if index % FOLDS != fold))
        inside = [index for index in range(len(rows)) if index % FOLDS == fold]
        with only_rules(supported):
            found.update(zip(inside, judge([rows[index] for index in inside], name), strict=True))
    return [found[index] for index in range(len(rows))]


@contextmanager
def only_rules(supported: set[str]) -> Iterator[None]:
    """Let every lexicon answer with these rules alone."""
    whole = lexicon.Lexicon.hits

    def hits(self: lexicon.Lexicon, *args: Any, **options: Any) -> list[Any]:
        return [hit for hit in whole(self, *args, **options) if hit.rule in supported]

    lexicon.Lexicon.hits = hits  # type: ignore[method-assign]
    try:
        yield
    finally:
        lexicon.Lexicon.hits = whole  # type: ignore[method-assign]


def figures(judged: Judged) -> str:
    """Balanced accuracy and what it is made of; applicability where there are null labels."""
    seen: Counter[tuple[bool | None, Status]] = Counter((label, result.status) for label, result in judged)
    bad, flagged = sum(seen[False, status] for status in STATUSES), seen[False, "failed"]
    good, wrongly = sum(seen[True, status] for status in STATUSES), seen[True, "failed"]
    recall, specificity = flagged / max(1, bad), 1 - wrongly / max(1, good)
    line = f"balanced {(recall + specificity) / 2:.3f}  recall {recall:.3f}  specificity {specificity:.3f}"
    nothing = sum(seen[None, status] for status in STATUSES)
    if nothing:
        missed = seen[True, "not_applicable"] + seen[False, "not_applicable"]
        line += (
            f"  n/a right {seen[None, 'not_applicable']}/{nothing}  disclosures missed {missed}/{good + bad}"
        )
    return line


def show_errors(rows: list[Row], name: str, judged: Judged) -> None:
    """Each misjudged row with what was found in it."""
    for row, (label, result) in zip(rows, judged, strict=True):
        if {"passed": True, "failed": False}.get(result.status) is not label:
            print(f"\n{row['id']} should be {label}, is {result.status} by {name}: {result.reason}")
            print("  user:", row["user"], "\n  assistant:", row["assistant"])
            print("  spans:", [(hit.rule, hit.text) for hit in result.spans if hit.rule != "plain-answer"])


if __name__ == "__main__":
    main()
