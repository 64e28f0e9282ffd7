"""What the numbers of a comparison look like: replies side by side, and the diff of system prompts."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from pydantic import Field

from harness.compare_report import Drop, EvidenceChange, PromptChange, SaidTurn
from harness.compared_run import ComparedRun
from harness.errors import SynthesisError
from harness.pairing import Paired
from harness.recorded_run import ReportPart, read_scenarios
from harness.rescore import Recorded
from harness.transcript import Transcript, read_transcript

SHOWN_DROPS = 5


class _Hit(ReportPart):
    """One place where a rule matched."""

    rule: str
    text: str


class _Criterion(ReportPart):
    """One criterion on one trial, with its evidence."""

    name: str
    score: float | None
    max_score: float
    reason: str
    hits: tuple[_Hit, ...]


class _NamedTrial(ReportPart):
    """Where its transcript lies."""

    transcript: str


class _NamedScenario(ReportPart):
    """One scenario and its transcripts."""

    name: str
    trials: tuple[_NamedTrial, ...]


class _Trial(_NamedTrial):
    """One trial."""

    seed: int
    score: float | None = Field(allow_inf_nan=False)
    criteria: tuple[_Criterion, ...]


class _Scenario(ReportPart):
    """One scenario."""

    name: str
    trials: tuple[_Trial, ...]


def worst_drops(
    base: ComparedRun, head: ComparedRun, paired: Mapping[str, Paired], shown: int = SHOWN_DROPS
) -> Iterator[Drop]:
    """Of the scenarios that lost most, the trial that lost most."""
    lost = sorted((one.difference, name) for name, one in paired.items() if one.difference < 0)[:shown]
    names = [name for _, name in lost]
    if not names:
        return
    seeds = {name: _worst_seeds(base.scenarios[name].scores, head.scenarios[name].scores) for name in names}
    before = _trials(base, {name: found[0] for name, found in seeds.items()})
    after = _trials(head, {name: found[1] for name, found in seeds.items()})
    for name in names:
        yield _drop(name, (base, before[name]), (head, after[name]))


def _trials(run: ComparedRun, seeds: Mapping[str, int]) -> dict[str, _Trial]:
    """One trial of each scenario that is wanted; the rest of a large report is not kept."""
    return {
        part.name: next(trial for trial in part.trials if trial.seed == seeds[part.name])
        for part in read_scenarios(run.report, _Scenario)
        if part.name in seeds
    }


def _worst_seeds(base: Mapping[int, float], head: Mapping[int, float]) -> tuple[int, int]:
    """The seed that lost most; without one in common, the best trial before and the worst one now."""
    both = [(head[seed] - base[seed], seed) for seed in base if seed in head]
    if both:
        seed = min(both)[1]
        return seed, seed
    return min(base, key=lambda seed: (-base[seed], seed)), min(head, key=lambda seed: (head[seed], seed))


def _drop(name: str, base: tuple[ComparedRun, _Trial], head: tuple[ComparedRun, _Trial]) -> Drop:
    before, after = base[1], head[1]
    return Drop(
        scenario=name,
        base_seed=before.seed,
        head_seed=after.seed,
        base_score=before.score or 0.0,
        head_score=after.score or 0.0,
        evidence=tuple(_evidence(before.criteria, after.criteria)),
        turns=tuple(_turns(_transcript(*base), _transcript(*head))),
    )


def _evidence(base: Sequence[_Criterion], head: Sequence[_Criterion]) -> Iterator[EvidenceChange]:
    """The rubrics are the same, so criteria stand in the same places."""
    for before, after in zip(base, head, strict=False):
        if before.score != after.score:
            yield EvidenceChange(
                criterion=after.name,
                base_points=before.score,
                head_points=after.score,
                worth=after.max_score,
                base_reason=before.reason,
                head_reason=after.reason,
                base_hits=_hits(before),
                head_hits=_hits(after),
            )


def _hits(criterion: _Criterion) -> tuple[str, ...]:
    return tuple(f'"{hit.text}" ({hit.rule})' for hit in criterion.hits)


def _transcript(run: ComparedRun, trial: _NamedTrial) -> Transcript | None:
    """Null where it is not there: a report alone can be compared, it only shows less."""
    folder = run.place.path
    path = folder / trial.transcript
    if not path.resolve().is_relative_to(folder.resolve()):
        where = f"{run.report}: {trial.transcript}"
        raise SynthesisError("the transcript lies outside the run", where=where, fix="restore the report")
    return read_transcript(path) if path.is_file() else None


def _turns(base: Transcript | None, head: Transcript | None) -> Iterator[SaidTurn]:
    before = base.turns if base else ()
    after = head.turns if head else ()
    for old, new in zip_longest(before, after):
        asked = new or old
        yield SaidTurn(
            user=asked.user if asked else "",
            base=old.assistant if old else None,
            head=new.assistant if new else None,
        )


def prompt_changes(base: ComparedRun, head: ComparedRun) -> list[PromptChange]:
    """The diff of each pair of system prompts, once, with the scenarios that have it."""
    changed: dict[tuple[str | None, str | None], list[str]] = {}
    for name, before in base.scenarios.items():
        after = head.scenarios.get(name)
        if after is not None and before.system_sha256 != after.system_sha256:
            changed.setdefault((before.system_sha256, after.system_sha256), []).append(name)
    firsts = [names[0] for names in changed.values()]
    before_texts, after_texts = _prompts(base, firsts), _prompts(head, firsts)
    return [
        PromptChange(scenarios=tuple(names), diff=_diff(before_texts[names[0]], after_texts[names[0]]))
        for names in changed.values()
    ]


def _prompts(run: ComparedRun, names: Sequence[str]) -> dict[str, str | None]:
    """By scenario, empty where it had none; null where no transcript tells."""
    if not names:
        return {}
    found: dict[str, str | None] = dict.fromkeys(names)
    for part in read_scenarios(run.report, _NamedScenario):
        if part.name in found:
            transcripts = (_transcript(run, trial) for trial in part.trials)
            first = next((transcript for transcript in transcripts if transcript is not None), None)
            found[part.name] = None if first is None else _prompt(first)
    return found


def _prompt(transcript: Transcript) -> str:
    """As the subject got it: an agent adds its own."""
    start = transcript.start
    return Recorded(recorded=start["subject"]).system_prompt(start["system"]) or ""


def _diff(base: str | None, head: str | None) -> str | None:
    if base is None or head is None:
        return None
    lines = difflib.unified_diff(base.splitlines(), head.splitlines(), "base", "head", lineterm="")
    return "\n".join(lines)
