"""Which trials a run consists of: scenarios × seeds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from harness.errors import SynthesisError
from harness.problems import shown
from harness.scenario import Scenario

_SHOWN = 8


@dataclass(frozen=True)
class Trial:
    """One scenario under one seed."""

    scenario: Scenario
    seed: int

    @property
    def name(self) -> str:
        """How files and messages call it."""
        return f"{self.scenario.slug}-{self.seed}"


@dataclass(frozen=True)
class Plan:
    """Scenarios with the seeds each will be run under, in order."""

    rows: tuple[tuple[Scenario, tuple[int, ...]], ...]

    @property
    def size(self) -> int:
        """How many trials there are."""
        return sum(len(seeds) for _, seeds in self.rows)

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios alone."""
        return tuple(scenario for scenario, _ in self.rows)

    def trials(self) -> Iterator[Trial]:
        """Scenario by scenario, seed by seed."""
        for scenario, seeds in self.rows:
            for seed in seeds:
                yield Trial(scenario, seed)


def parse_seeds(text: str, where: str = "--seeds") -> tuple[int, ...]:
    """`5` is seeds 1 to 5, `3,7,11` those, `7,` only seed 7."""
    parts = [part.strip(" ") for part in text.removesuffix(",").split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 15 for part in parts):
        raise _bad_seeds(text, "not a number of seeds or a list of them", where)
    numbers = tuple(int(part) for part in parts)
    if "," not in text:
        if not 1 <= numbers[0] <= 100_000:
            raise _bad_seeds(text, "not between 1 and 100000 seeds", where)
        return tuple(range(1, numbers[0] + 1))
    if len(set(numbers)) < len(numbers):
        raise _bad_seeds(text, "a seed is listed twice", where)
    return numbers


def _bad_seeds(text: str, why: str, where: str) -> SynthesisError:
    return SynthesisError(f'"{shown(text)}": {why}', where=where, fix='write for example "5", or "3,7,11"')


@dataclass(frozen=True)
class Seeds:
    """`given` win over what a scenario asks for itself, which wins over `default`."""

    given: tuple[int, ...] | None = None
    default: tuple[int, ...] = (1,)

    def of(self, scenario: Scenario) -> tuple[int, ...]:
        """The seeds a scenario is run under."""
        own = scenario.definition.seeds
        if self.given is not None or own is None:
            return self.given or self.default
        return own if isinstance(own, tuple) else tuple(range(1, own + 1))


OWN_SEEDS = Seeds()


def plan_trials(
    scenarios: Sequence[Scenario],
    seeds: Seeds = OWN_SEEDS,
    names: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> Plan:
    """Scenarios whose name matches any of `names` (globs) and that have any of `tags`."""
    chosen = [
        scenario
        for scenario in scenarios
        if (not names or any(fnmatchcase(scenario.name, glob) for glob in names))
        and (not tags or set(tags).intersection(scenario.definition.tags))
    ]
    if not chosen:
        there = _some(scenario.name for scenario in scenarios)
        known = _some(tag for scenario in scenarios for tag in scenario.definition.tags) or "no tags"
        raise SynthesisError(
            "no scenario is left by --scenario and --tag",
            fix=f"loosen the filter; there are: {there}" + (f"; tags: {known}" if tags else ""),
        )
    return Plan(tuple((scenario, seeds.of(scenario)) for scenario in chosen))


def _some(names: Iterable[str]) -> str:
    found = sorted(set(names))
    return shown(", ".join(found[:_SHOWN])) + (", …" if len(found) > _SHOWN else "")
