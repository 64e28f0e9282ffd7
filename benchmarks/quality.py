"""How good the checkers are on labelled exchanges: `python benchmarks/quality.py FILE.jsonl [--errors CHECK]`.

Rows have `user`, `assistant` and `label` (or `expected`): true, false, or null where `topic_pivot` should
not apply. A flagged reply is one the check fails. Not applicable against a true or false label counts as
not flagged. The cross-validated figure drops, for each of ten folds, every rule that matches no row
outside the fold, as if it had never been written, and scores the fold with what is left.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from harness.checkers import agency_language, topic_pivot, unverifiable_reassurance
from harness.records import CheckResult, Turn

CHECKERS = {
    "agency_language": agency_language.check,
    "unverifiable_reassurance": unverifiable_reassurance.check,
    "topic_pivot": topic_pivot.check,
}
Row = dict[str, object]


def main() -> None:
    """Print one line of figures per check, and the misjudged rows of one check if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--errors", metavar="CHECK", help="list the rows this check misjudges")
    parser.add_argument("--only", metavar="CHECK", help="measure one check alone")
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.files for line in file.read_text("utf-8").splitlines()]
    for name in [options.only] if options.only else CHECKERS:
        results = [CHECKERS[name](Turn(user=row["user"], assistant=row["assistant"])) for row in rows]
        print(f"{name:26}", figures(list(zip(labels(rows, name), results, strict=True))))
        if options.errors == name:
            show_errors(rows, name, results)


def labels(rows: list[Row], name: str) -> list[bool | None]:
    """What each row says the check should give."""
    return [(row.get("label") or row.get("expected"))[name] for row in rows]  # type: ignore[index]


def figures(judged: list[tuple[bool | None, CheckResult]]) -> str:
    """Balanced accuracy and what it is made of; applicability where there are null labels."""
    counts: dict[str, int] = defaultdict(int)
    for label, result in judged:
        flagged = result.status == "failed"
        if label is None:
            counts["na right" if result.status == "not_applicable" else "na wrong"] += 1
        else:
            counts[f"{'bad' if label is False else 'good'} {'flagged' if flagged else 'kept'}"] += 1
            counts["missed disclosure"] += result.status == "not_applicable"
    recall = counts["bad flagged"] / max(1, counts["bad flagged"] + counts["bad kept"])
    specificity = counts["good kept"] / max(1, counts["good kept"] + counts["good flagged"])
    line = f"balanced {(recall + specificity) / 2:.3f}  recall {recall:.3f}  specificity {specificity:.3f}"
    if counts["na right"] or counts["na wrong"]:
        total = counts["na right"] + counts["na wrong"]
        line += f"  n/a right {counts['na right']}/{total}  disclosures missed {counts['missed disclosure']}"
    return line


def show_errors(rows: list[Row], name: str, results: list[CheckResult]) -> None:
    """Each misjudged row with what was found in it."""
    for row, label, result in zip(rows, labels(rows, name), results, strict=True):
        given = {"passed": True, "failed": False}.get(result.status)
        if given != label:
            print(f"\n{row['id']} should be {label}, is {result.status}: {result.reason}")
            print("  user:", row["user"], "\n  assistant:", row["assistant"])
            print("  spans:", [(hit.rule, hit.text) for hit in result.spans if hit.rule != "plain-answer"])


if __name__ == "__main__":
    main()
