"""`--stop decided`: the same decision as the full run, no sooner and no later than it can be known."""

import random
from dataclasses import replace

import numpy as np
import pytest
from scored_rows import Outcome, Suite

from harness.decide import Decision, Thresholds, decide_run
from harness.errors import Exit
from harness.looks import Look, at_look, plan_looks
from harness.plan import Trial
from harness.stopping import StopRule, in_rounds
from harness.summarize import ScenarioScores, summarize

GRID: tuple[Outcome, ...] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, None)


def random_suite(source: random.Random) -> Suite:
    def outcome() -> Outcome:
        return source.choice(GRID) if source.random() < 0.7 else source.random()

    return Suite([[outcome() for _ in range(source.randint(1, 5))] for _ in range(source.randint(1, 5))])


def random_thresholds(source: random.Random) -> Thresholds:
    def line() -> float | None:
        return source.choice((None, 0.0, 0.25, 0.5, 0.75, 1.0, source.random()))

    found = Thresholds(min_mean=line(), min_worst=line(), min_scenario_mean=line())
    return found if found.asked else Thresholds(min_mean=0.5)


def full_decision(suite: Suite, wanted: Thresholds) -> Decision:
    rows = suite.all_rows()
    return decide_run(summarize(rows, None), rows, wanted)


def stopped(suite: Suite, wanted: Thresholds) -> tuple[Decision, int]:
    """The decision of a run under the rule, and how many trials it ran."""
    rule = StopRule(suite.plan, wanted, suite.rows)
    ran, decided = 0, False
    for trial in in_rounds(suite.plan, suite.plan.trials()):
        ran += 1
        if rule.decided_by(trial, suite.run(trial)):
            decided = True
            break
    rows = suite.rows()
    summary = summarize(rows, "decided" if decided else None)
    return decide_run(summary, rows, rule.thresholds, rule.settled), ran


def test_the_decision_is_that_of_the_full_run_on_many_thousand_suites() -> None:
    source = random.Random(11)
    saved = 0
    for _ in range(8000):
        suite, wanted = random_suite(source), random_thresholds(source)
        full = full_decision(suite, wanted)
        early, ran = stopped(suite, wanted)
        assert early.exit == full.exit, (suite.outcomes, wanted)
        for before, after in zip(early.thresholds, full.thresholds, strict=True):
            assert before.not_decided or before.held == after.held
        saved += suite.plan.size - ran
    assert saved > 8000, "more than one trial a suite"


def completed(suite: Suite, ran: set[tuple[str, int]], rest: Outcome) -> Suite:
    return Suite(
        [
            [
                outcome if (scenario.slug, seed) in ran else rest
                for seed, outcome in zip(seeds, row, strict=True)
            ]
            for (scenario, seeds), row in zip(suite.plan.rows, suite.outcomes, strict=True)
        ]
    )


def test_it_does_not_go_on_when_nothing_could_change_the_outcome() -> None:
    """While the rule waits, two ways to go on end differently."""
    source = random.Random(12)
    waited = 0
    for _ in range(1500):
        suite, wanted = random_suite(source), random_thresholds(source)
        rule = StopRule(suite.plan, wanted, suite.rows)
        ran: set[tuple[str, int]] = set()
        for trial in in_rounds(suite.plan, suite.plan.trials()):
            if rule.decided_by(trial, suite.run(trial)):
                break
            ran.add((trial.scenario.slug, trial.seed))
            if len(ran) < suite.plan.size:
                rests: tuple[Outcome, ...] = (0.0, 1.0, None)
                exits = {full_decision(completed(suite, ran, rest), wanted).exit for rest in rests}
                assert len(exits) > 1, (suite.outcomes, ran, wanted)
                waited += 1
    assert waited > 1500


@pytest.mark.parametrize("rest", [0.0, 1.0, None])
def test_a_mean_at_the_line_to_the_last_place_is_not_decided_too_soon(rest: Outcome) -> None:
    for line in (0.333333, 0.3333335, 0.3333327, 0.3333321):
        suite = Suite([[1.0, 0.0, 0.0, rest]])
        wanted = Thresholds(min_mean=line, min_scenario_mean=line)
        assert stopped(suite, wanted)[0].exit == full_decision(suite, wanted).exit


def test_a_scenario_that_is_through_is_judged_as_the_report_will() -> None:
    """One millionth short is short, and known as soon as the scenario has no trial left."""
    suite = Suite([[0.499999], [1.0, 1.0, 1.0]])
    decision, ran = stopped(suite, Thresholds(min_scenario_mean=0.5))
    assert (decision.exit, ran) == (Exit.THRESHOLD, 1)


def test_a_scenario_that_never_applied_keeps_nothing_open() -> None:
    decision, ran = stopped(Suite([[None], [1.0] * 8]), Thresholds(min_scenario_mean=0.2))
    assert (decision.exit, ran) == (Exit.HOLDS, 3)


def test_a_look_sees_its_own_seeds_only() -> None:
    """What ran ahead did so by the clock, and a decision must not depend on that."""
    suite = Suite([[1.0, 0.5, 0.0], [0.75, 0.25, 0.0]])
    seen = at_look(suite.all_rows(), Look(2, 0.95))
    assert [row.scores for row in seen] == [[1.0, 0.5], [0.75, 0.25]]
    assert [row.planned for row in seen] == [(1, 2, 3)] * 2


def test_an_error_of_a_started_trial_counts_and_decides() -> None:
    suite = Suite([[1.0, "error", 1.0, 1.0]])
    decision, ran = stopped(suite, Thresholds(min_mean=0.1))
    assert (decision.exit, ran) == (Exit.HOLDS, 1), "decided before the error could come"
    decision, ran = stopped(suite, Thresholds(min_mean=0.9))
    assert (decision.exit, ran) == (Exit.FATAL, 2)
    decision, ran = stopped(suite, Thresholds(min_mean=0.9, max_errors=1))
    assert (decision.exit, ran) == (Exit.HOLDS, 4)


def test_a_stopped_run_is_complete_and_one_that_ran_to_its_end_is_not_called_stopped() -> None:
    suite = Suite([[1.0, 1.0, 1.0, 1.0]])
    stopped(suite, Thresholds(min_mean=0.5))
    found = summarize(suite.rows(), "decided")
    assert (found.complete, found.stopped, found.not_run) == (True, "decided", 2)
    whole = summarize(suite.all_rows(), "decided")
    assert (whole.complete, whole.stopped) == (True, None)


def test_what_the_run_did_not_come_to_is_neither_held_nor_failed() -> None:
    suite = Suite([[1.0, 0.2, 1.0], [1.0, 1.0, 1.0]])
    decision, _ = stopped(suite, Thresholds(min_mean=0.5, min_worst=0.5))
    by_mean, by_worst = decision.thresholds
    assert (by_mean.held, by_mean.not_decided) == (False, True)
    assert (by_worst.held, by_worst.failed) == (False, True)


def test_trials_go_in_rounds() -> None:
    suite = Suite([[1.0] * 3, [1.0], [1.0] * 2])
    order = [(trial.scenario.name, trial.seed) for trial in in_rounds(suite.plan, suite.plan.trials())]
    assert order == [("s0", 1), ("s1", 1), ("s2", 1), ("s0", 2), ("s2", 2), ("s0", 3)]
    some = [Trial(scenario, seeds[-1]) for scenario, seeds in suite.plan.rows]
    assert [(t.scenario.name, t.seed) for t in in_rounds(suite.plan, some)] == [
        ("s1", 1),
        ("s2", 2),
        ("s0", 3),
    ]


def test_looks_share_the_error_rate() -> None:
    for seeds in (1, 2, 3, 5, 8, 100):
        looks = plan_looks(seeds, 0.95)
        assert sum(1 - look.level for look in looks) == pytest.approx(0.05)
        assert [look.seeds for look in looks] == sorted({look.seeds for look in looks})
        assert looks[-1].seeds == seeds
        assert len(looks) == min(seeds, 5)
    assert plan_looks(1, 0.9)[0].level == 0.9


def drawn_suites(source: np.random.Generator, shape: tuple[int, int, int], shift: float) -> list[Suite]:
    """Pass or fail; the true mean is 0.8 + shift."""
    suites, scenarios, seeds = shape
    chance = np.clip(source.beta(6, 1.5, (suites, scenarios)) + shift, 0, 1)
    passed = source.random((suites, scenarios, seeds)) < chance[:, :, None]
    return [Suite(one) for one in passed.astype(float).tolist()]


def test_looking_early_keeps_the_error_rate() -> None:
    """At the line itself, and the nearest to it that the promise is about, deciding is wrong."""
    wanted = Thresholds(min_mean=0.8, confidence=0.95)
    suites = drawn_suites(np.random.default_rng(13), (700, 12, 6), 0.0)
    exits = [stopped(suite, wanted)[0].exit for suite in suites]
    assert exits.count(Exit.HOLDS) / len(exits) <= 0.025 + 0.012
    assert exits.count(Exit.THRESHOLD) / len(exits) <= 0.025 + 0.012
    assert exits.count(Exit.INCONCLUSIVE) / len(exits) >= 0.93


def test_looking_early_at_the_full_level_would_not() -> None:
    """Why the looks share: five looks at 95 % are wrong far more often."""
    wanted = Thresholds(min_mean=0.8, confidence=0.95)
    suites = drawn_suites(np.random.default_rng(13), (400, 12, 10), 0.0)
    wrong = 0
    for suite in suites:
        rows = suite.all_rows()
        parts = [[cut(row, seeds) for row in rows] for seeds in (2, 4, 6, 8, 10)]
        exits = {decide_run(summarize(part, None), part, wanted).exit for part in parts}
        wrong += exits != {Exit.INCONCLUSIVE}
    assert wrong / len(suites) > 0.07


def cut(row: ScenarioScores, seeds: int) -> ScenarioScores:
    return replace(row, planned=row.planned[:seeds], trials=row.trials[:seeds])


def test_what_is_clear_is_decided_early_and_rightly() -> None:
    suites = drawn_suites(np.random.default_rng(14), (100, 20, 10), 0.0)
    high = [stopped(suite, Thresholds(min_mean=0.5, confidence=0.95)) for suite in suites]
    low = [stopped(suite, Thresholds(min_mean=0.97, confidence=0.95)) for suite in suites]
    assert {decision.exit for decision, _ in high} == {Exit.HOLDS}
    assert sum(decision.exit == Exit.THRESHOLD for decision, _ in low) >= 99
    assert sum(ran for _, ran in high) < 0.4 * 100 * 200
    level = {
        result.certainty.level for decision, _ in high for result in decision.thresholds if result.certainty
    }
    assert min(level) > 0.95, "an early look has to be surer"


def test_a_worst_trial_decides_at_once_but_holds_only_at_the_end() -> None:
    wanted = Thresholds(min_worst=0.5, min_mean=0.1, confidence=0.95)
    low = Suite([[1.0] * 6, [0.0] * 6, *[[1.0] * 6] * 10])
    decision, ran = stopped(low, wanted)
    assert (decision.exit, ran) == (Exit.THRESHOLD, 2)
    high = Suite([[0.9 + 0.01 * (i % 7)] * 6 for i in range(12)])
    decision, ran = stopped(high, wanted)
    assert (decision.exit, ran) == (Exit.HOLDS, 72)
