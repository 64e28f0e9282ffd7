"""`synthesis power` and `synthesis aa` on runs of the real command."""

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scenario_files import synthesis, write
from scored_runs import make_run, scored

from harness import schema
from harness.power import detectable_drop, scenarios_needed

HERE = Path()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def figures(*arguments: object) -> dict[str, Any]:
    done = synthesis(*arguments, "--json", cwd=HERE)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    Draft202012Validator(json.loads(schema.text(str(arguments[0])))).validate(found)
    return found


def quarters(source: random.Random, chances: Sequence[float], seeds: int) -> list[list[float]]:
    """Scores in quarters around each scenario's chance."""
    return [[sum(source.random() < chance for _ in range(4)) / 4 for _ in range(seeds)] for chance in chances]


def chance_run(name: str, seed: int = 1, scenarios: int = 20, seeds: int = 5) -> list[list[float]]:
    chances = [0.6 + 0.4 * (i % 5) / 4 for i in range(scenarios)]
    scores = quarters(random.Random(seed), chances, seeds)
    make_run(Path(name), *(scored(f"s{i}", row) for i, row in enumerate(scores)))
    return scores


def test_power_says_what_two_runs_like_this_can_show() -> None:
    scores = chance_run("r")
    found = figures("power", "r")
    within = float(np.mean([np.var(row, ddof=1) for row in scores]))
    assert found["within"] == pytest.approx(within, abs=1e-6)
    assert (found["scenarios"], found["seeds"]) == (20, 5)
    assert found["mean"] == pytest.approx(np.mean(scores), abs=1e-6)
    drop = detectable_drop(within, 20, 5)
    assert drop is not None
    assert found["detectable_drop"] == pytest.approx(drop, abs=1e-4)
    assert 15 <= scenarios_needed(drop, within, 5) <= 25, "the two formulas turn each other round"
    needed = {(row["drop"], row["seeds"]): row["scenarios"] for row in found["needed"]}
    assert sorted(needed) == [(drop, seeds) for drop in (0.01, 0.02, 0.05) for seeds in (1, 3, 5, 10)]
    assert needed[0.01, 5] > needed[0.02, 5] > needed[0.05, 5] > needed[0.05, 10]


def test_a_mean_that_would_have_to_be_below_nought_is_not_promised() -> None:
    make_run(Path("two"), scored("a", [1.0, 0.0, 0.5]), scored("b", [0.0, 1.0, 1.0]))
    said = synthesis("power", "two", cwd=HERE).stdout
    assert figures("power", "two")["below_line"] >= 1
    assert "too few scenarios to be sure of any mean below a threshold" in said
    assert "is found there" not in said


def test_the_mean_of_power_is_over_all_trials() -> None:
    make_run(Path("r"), scored("a", [1, 1, 1, 0.5]), scored("b", [0]), scored("c", [0.5, 0.75]))
    assert figures("power", "r")["mean"] == pytest.approx(4.75 / 7, abs=1e-6)


def test_power_in_words() -> None:
    chance_run("r")
    done = synthesis("power", "r", cwd=HERE)
    assert "two runs like this show a drop of 0." in done.stdout
    assert "% of a trial's variance is between seeds" in done.stdout
    chance_run("small", scenarios=3)
    assert "too few scenarios to be sure of any drop" in synthesis("power", "small", cwd=HERE).stdout


@pytest.mark.parametrize("command", ["power", "aa"])
def test_a_single_seed_says_nothing_about_chance(command: str) -> None:
    make_run(Path("r"), scored("a", [1]), scored("b", [0.5]))
    done = synthesis(command, "r", cwd=HERE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no scenario has two scored trials: chance cannot be measured\n  fix: run with more" in done.stderr


def test_aa_near_the_line_and_far_from_it() -> None:
    scores = chance_run("r")
    mean = float(np.mean(scores))
    near = figures("aa", "r", "--min-mean", f"{mean:.4f}")
    (line,) = near["lines"]
    assert 0.4 < line["disagree"] < 0.55, "at the line two identical runs disagree every other time"
    far = figures("aa", "r", "--min-mean", f"{mean - 0.1:.4f}")
    assert far["lines"][0]["disagree"] < 0.01
    assert far["lines"][0]["reached"] > 0.99
    assert near["false_alarms"] < 0.05


def test_the_spread_of_identical_runs_is_what_the_trials_say() -> None:
    scores = chance_run("r", scenarios=30, seeds=6)
    found = figures("aa", "r")
    by_formula = math.sqrt(sum(np.var(row, ddof=1) / 6 for row in scores)) / 30
    assert found["mean_deviation"] == pytest.approx(by_formula, rel=0.05)
    assert found["usual_difference"] == pytest.approx(1.96 * math.sqrt(2) * by_formula, rel=0.12)


def test_the_spread_of_runs_that_were_really_made_again() -> None:
    """True repetitions vary as one of them foretells."""
    means = [
        np.mean(quarters(random.Random(seed), [0.6 + 0.4 * (i % 5) / 4 for i in range(20)], 5))
        for seed in range(200)
    ]
    chance_run("r")
    foretold = figures("aa", "r")["mean_deviation"]
    assert foretold == pytest.approx(float(np.std(means, ddof=1)), rel=0.3)


def test_several_runs_are_pooled_and_their_own_verdicts_shown() -> None:
    for seed in (1, 2, 3):
        chance_run(f"r{seed}", seed)
    found = figures("aa", "r1", "r2", "r3", "--min-mean", "0.8", "--min-worst", "0.1")
    by_mean, by_worst = found["lines"]
    held = sum(mean >= 0.8 for mean in found["means"])
    assert (by_mean["observed_runs"], by_mean["observed_reached"]) == (3, held)
    assert len(found["means"]) == 3
    assert by_worst["name"] == "--min-worst"


def test_what_differs_between_runs_counts_as_chance_too() -> None:
    make_run(Path("r1"), scored("a", [1, 1]), scored("b", [1, 1]))
    make_run(Path("r2"), scored("a", [0.5, 0.5]), scored("b", [1, 1]))
    assert figures("aa", "r1")["flaky"] == []
    found = figures("aa", "r1", "r2")
    assert found["flaky"] == ["a"]
    assert found["mean_deviation"] > 0


def test_the_thresholds_of_the_run_itself_are_asked_about() -> None:
    chance_run("r")
    assert synthesis("eval", "r.json", "--out", "held", "--min-mean", "0.5", "-q", cwd=HERE).returncode == 0
    found = figures("aa", "held")
    assert [(line["name"], line["required"]) for line in found["lines"]] == [("--min-mean", 0.5)]
    assert figures("aa", "held") == found, "the same every time"


def test_flaky_scenarios_and_rough_figures_are_named() -> None:
    make_run(Path("r"), scored("sometimes", [1, 0.5]), scored("always", [1, 1]))
    done = synthesis("aa", "r", cwd=HERE)
    assert "flaky, passing under some seeds only: sometimes\n" in done.stdout
    assert "note: rough: 2 of 2 scenarios have fewer than 5 trials" in done.stdout


def test_runs_that_are_not_of_the_same_thing_are_refused() -> None:
    make_run(Path("a"), scored("x", [1, 0]))
    make_run(Path("b"), scored("y", [1, 0]))
    make_run(Path("c"), scored("x", [1, 0], rubric=[{"contains": "<1>"}]))
    done = synthesis("aa", "a", "b", cwd=HERE)
    assert done.returncode == 1
    assert "the runs have no scored scenario in common" in done.stderr
    done = synthesis("aa", "a", "c", cwd=HERE)
    assert done.returncode == 1
    assert "a and c: the two runs were not scored alike: the rubric of x" in done.stderr


def test_aa_notes_runs_that_are_not_of_the_same_thing() -> None:
    other = {"type": "scripted", "replies": ["said <1><2>"]}
    make_run(Path("a"), scored("x", [1, 0.5], system="Be kind."), scored("y", [1, 0.5]))
    make_run(Path("b"), scored("x", [1, 0.5], system="Be brief."), scored("y", [1, 0.5], subject=other))
    notes = figures("aa", "a", "b")["notes"]
    assert "b is no repetition of a: another system prompt in 1 scenario" in notes
    said = "b is no repetition of a: another subject, or one with other parameters, in 1 scenario"
    assert said in notes
    assert not [note for note in figures("aa", "a", "a")["notes"] if "repetition" in note]


def test_aa_says_what_helps_where_runs_were_not_scored_alike() -> None:
    rubric = [{"name": "half", "contains": "<2>"}]
    make_run(Path("a"), scored("x", [1, 0.5, 0]))
    make_run(Path("b"), scored("x", [1, 0.5, 0], rubric=rubric))
    done = synthesis("aa", "a", "b", cwd=HERE)
    assert done.returncode == 1
    assert "synthesis score a " in done.stderr
    assert "--rescore" not in done.stderr
    write(Path("a.json"), scored("x", [1, 0.5, 0], rubric=rubric))
    assert synthesis("score", "a", cwd=HERE).returncode == 0
    assert "a is taken as it was scored again: a/report-" in figures("aa", "a", "b")["notes"][0]
