"""Whether two runs were scored alike; only then do their scores compare."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import orjson

from harness.compared_run import ComparedRun, read_compared
from harness.conclude import make_stamp
from harness.errors import SynthesisError
from harness.problems import shown
from harness.records import LexiconStamp
from harness.run_directory import REPORT
from harness.run_report import RunStamp
from harness.scenario import Scenario
from harness.secrets import Redactor
from harness.settings import CheckSettings

_SHOWN = 5
_PLAIN = {
    "tool_version": "the version of synthesis, and with it its checkers",
    "language": "the language",
    "similarity": "the similarity measure",
    "similarity_threshold": "the similarity threshold",
}


@dataclass(frozen=True)
class HowScored:
    """What gave the scores of a run: versions and hashes, and each scenario's rubric."""

    stamp: RunStamp
    rubrics: Mapping[str, Sequence[dict[str, Any]]]


def how_scored(run: ComparedRun) -> HowScored:
    """As its report says."""
    return HowScored(run.stamp, {name: found.rubric for name, found in run.scenarios.items()})


def how_scored_now(scenarios: Sequence[Scenario], settings: CheckSettings, redactor: Redactor) -> HowScored:
    """As a report of these scenarios would say, before there is one."""
    rubrics = {
        scenario.name: orjson.loads(
            redactor.line(orjson.dumps([criterion.definition() for criterion in scenario.criteria]))
        )
        for scenario in scenarios
    }
    return HowScored(make_stamp(scenarios, settings), rubrics)


def differences(base: HowScored, head: HowScored) -> list[str]:
    """What scores the two differently, each in words; empty where their scores compare."""
    return [*_stamps(base.stamp, head.stamp), *_rubrics(base, head)]


def scored_again(run: ComparedRun) -> Iterator[ComparedRun]:
    """The other reports of a run that was named by its folder, as `synthesis score` wrote them."""
    if run.report.name != REPORT or Path(run.side.name).is_file():
        return
    for report in sorted(run.report.parent.glob("report-*.json")):
        with suppress(SynthesisError):
            yield read_compared(run.side.name, report)


def scored_like(run: ComparedRun, other: HowScored) -> ComparedRun:
    """The run by a report of it that compares; as it is where there is none."""
    found = (one for one in (run, *scored_again(run)) if not differences(how_scored(one), other))
    return next(found, run)


def alike(base: ComparedRun, head: ComparedRun) -> tuple[ComparedRun, ComparedRun]:
    """Both by reports that compare, the head by its own if it can be; as they are where none do."""
    if not differences(how_scored(base), how_scored(head)):
        return base, head
    pairs = product((head, *scored_again(head)), (base, *scored_again(base)))
    found = ((one, other) for other, one in pairs if not differences(how_scored(one), how_scored(other)))
    return next(found, (base, head))


def refuse_different(base: ComparedRun, head: HowScored, name: str, *, offer: str = "") -> None:
    """Raise with everything that differs and with what brings runs up to date; `offer` is a shorter way."""
    found = differences(how_scored(base), head)
    if found:
        again = f"synthesis score {base.place.path}   (with --scenarios FILE where its scenarios have moved)"
        fix = f"{offer}score what is older again, no model is asked: {again}"
        what = "the two runs were not scored alike: " + "; ".join(found)
        raise SynthesisError(what, where=f"{base.side.name} and {name}", fix=fix)


def _stamps(base: RunStamp, head: RunStamp) -> Iterator[str]:
    for field, words in _PLAIN.items():
        if getattr(base, field) != getattr(head, field):
            yield f"{words} ({shown(str(getattr(base, field)))} and {shown(str(getattr(head, field)))})"
    for name in sorted(base.lexicons.keys() & head.lexicons.keys()):
        if base.lexicons[name] != head.lexicons[name]:
            versions = f"{_version(base.lexicons[name])} and {_version(head.lexicons[name])}"
            yield f"the words of {shown(name)} ({shown(versions)})"
    for name in sorted(base.judges.keys() & head.judges.keys()):
        if base.judges[name] != head.judges[name]:
            yield f"the judge {shown(name)} ({shown(base.judges[name])} and {shown(head.judges[name])})"
    if base.turns is not None and head.turns is not None and base.turns != head.turns:
        yield "the weights or numbers of the dimensions of turns"


def _version(stamp: LexiconStamp) -> str:
    """Words may change without a new number."""
    return f"{stamp.version} {stamp.sha256[:8]}"


def _rubrics(base: HowScored, head: HowScored) -> Iterator[str]:
    """Of the scenarios that are in both."""
    changed = [
        shown(name)
        for name, rubric in base.rubrics.items()
        if name in head.rubrics and list(rubric) != list(head.rubrics[name])
    ]
    if changed:
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        yield f"the rubric of {', '.join(changed[:_SHOWN])}{more}"
