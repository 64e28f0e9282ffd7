"""Scored scenarios as the figures see them, without running anything."""

from collections.abc import Sequence
from pathlib import Path

from harness.plan import Plan, Trial
from harness.rescore import Recorded
from harness.scenario import Scenario, ScenarioDefinition
from harness.score import ScoredTrial
from harness.summarize import ScenarioScores

Outcome = float | str | None
"""A score, null for a trial that nothing applied to, or "error"."""


def scenario_called(name: str) -> Scenario:
    definition = ScenarioDefinition.model_construct(name=name, tags=(), prompt=(), rubric=())
    return Scenario(definition, "s.json", Path(), None, {}, Recorded(recorded={}), ())


def trial_of(seed: int, outcome: Outcome) -> ScoredTrial:
    if isinstance(outcome, str):
        return ScoredTrial(seed, "error", None, b"")
    return ScoredTrial(seed, "not_applicable" if outcome is None else "scored", outcome, b"")


class Suite:
    """Outcomes of a whole run, of which only some trials may have been run yet."""

    def __init__(self, outcomes: Sequence[Sequence[Outcome]]) -> None:
        self.outcomes = [list(row) for row in outcomes]
        rows = ((scenario_called(f"s{i}"), tuple(range(1, len(row) + 1))) for i, row in enumerate(outcomes))
        self.plan = Plan(tuple(rows))
        self.ran: dict[str, dict[int, ScoredTrial]] = {}

    def run(self, trial: Trial) -> ScoredTrial:
        number = [scenario.slug for scenario in self.plan.scenarios].index(trial.scenario.slug)
        scored = trial_of(trial.seed, self.outcomes[number][trial.seed - 1])
        self.ran.setdefault(trial.scenario.slug, {})[trial.seed] = scored
        return scored

    def rows(self) -> list[ScenarioScores]:
        return [
            ScenarioScores(scenario, seeds, tuple(found[seed] for seed in seeds if seed in found))
            for scenario, seeds in self.plan.rows
            for found in (self.ran.get(scenario.slug, {}),)
        ]

    def all_rows(self) -> list[ScenarioScores]:
        return [
            ScenarioScores(scenario, seeds, tuple(map(trial_of, seeds, row)))
            for (scenario, seeds), row in zip(self.plan.rows, self.outcomes, strict=True)
        ]
