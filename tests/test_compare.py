"""`synthesis compare`: pairing, figures, what is refused, limits and exit codes, on real runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scenario_files import synthesis, tree
from scipy import stats
from scored_runs import POINTS, RUBRIC, make_run, scored

from harness import schema
from harness.cli import main
from harness.compare import compare
from harness.compare_report import CompareReport, CriterionChange, ScenarioChange
from harness.compared_run import find_run, read_compared
from harness.decide import ComparisonLimits


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compared(base: str = "base", head: str = "head", **limits: Any) -> CompareReport:
    runs = [read_compared(name, find_run(name)) for name in (base, head)]
    report = compare(runs[0], runs[1], ComparisonLimits(**limits))
    Draft202012Validator(json.loads(schema.text("compare"))).validate(json.loads(report.model_dump_json()))
    return report


def of(report: CompareReport, name: str) -> ScenarioChange:
    (found,) = [scenario for scenario in report.scenarios if scenario.name == name]
    return found


def criterion(report: CompareReport, name: str) -> CriterionChange:
    (found,) = [one for one in report.criteria if one.name == name]
    return found


def test_scenarios_are_paired_by_seed_where_both_have_it() -> None:
    make_run(Path("base"), scored("a", {1: 1, 2: 0.5, 3: 0}), scored("b", {1: 0.5, 2: 0.5}), scored("c", [1]))
    make_run(
        Path("head"), scored("a", {2: 1, 3: 0.25, 9: 0}), scored("b", {7: 0.25, 8: 0.5}), scored("c", [1])
    )
    report = compared()
    a, b = of(report, "a"), of(report, "b")
    assert (a.change, a.paired_by, a.pairs, a.base, a.head, a.difference) == (
        "better", "seed", 2, 0.25, 0.625, 0.375,
    )  # fmt: skip
    assert (b.change, b.paired_by, b.pairs, b.base, b.head, b.difference) == (
        "worse", "scenario", 0, 0.5, 0.375, -0.125,
    )  # fmt: skip
    assert report.mean.difference == pytest.approx(0.25 / 3, abs=1e-6), "every scenario counts once"
    assert report.summary.pairs == 3
    assert "1 scenario without a seed in common, compared by their means" in report.notes


def test_new_and_missing_scenarios_are_named_and_in_no_figure() -> None:
    make_run(Path("base"), scored("both", [1]), scored("gone", [0]))
    make_run(Path("head"), scored("both", [1]), scored("fresh", [0.5]))
    report = compared()
    assert [(row.name, row.change, row.base, row.head) for row in report.scenarios] == [
        ("both", "same", 1, 1), ("gone", "missing", 0, None), ("fresh", "new", None, 0.5),
    ]  # fmt: skip
    assert (report.mean.difference, report.summary.scenarios) == (0, 1)
    counts = report.summary.model_dump(include={"same", "new", "missing", "worse"})
    assert counts == {"same": 1, "new": 1, "missing": 1, "worse": 0}


def test_a_scenario_without_a_score_is_neither_new_nor_missing() -> None:
    broken = {"prompt": ["hi", "and?"]}
    make_run(Path("base"), scored("ok", [1]), scored("a", [1]), scored("b", [1], **broken))
    make_run(Path("head"), scored("ok", [1]), scored("a", [1], **broken), scored("b", [0.5]))
    report = compared()
    assert [(row.name, row.change, row.base, row.head) for row in report.scenarios] == [
        ("ok", "same", 1, 1), ("a", "not scored", 1, None), ("b", "not scored", None, 0.5),
    ]  # fmt: skip
    assert (report.summary.not_scored, report.summary.new, report.summary.missing) == (2, 0, 0)
    done = synthesis("compare", "base", "head", cwd=Path())
    assert "1 same, 2 not scored" in done.stdout


def test_the_mean_its_interval_and_its_p_value() -> None:
    before = [1, 0.75, 0.5, 1, 0.75, 1, 1, 0.5, 0.75, 1, 0.25, 1]
    after = [0.5, 0.75, 0.25, 0.75, 0.5, 1, 0.75, 0.5, 0.25, 0.75, 0.25, 0.5]
    make_run(Path("base"), *(scored(f"s{i}", [score]) for i, score in enumerate(before)))
    make_run(Path("head"), *(scored(f"s{i}", [score]) for i, score in enumerate(after)))
    mean = compared().mean
    differences = [new - old for old, new in zip(before, after, strict=True)]
    assert mean.difference == pytest.approx(sum(differences) / 12, abs=1e-6)
    exact = stats.permutation_test(
        (differences,), lambda d, axis: d.mean(axis=axis), permutation_type="samples",
        n_resamples=2**13, vectorized=True,
    )  # fmt: skip
    assert mean.p == pytest.approx(exact.pvalue, abs=1e-6)
    assert mean.draws is None
    low, high = stats.t.interval(0.95, 11, mean.difference, stats.sem(differences))
    assert (mean.low, mean.high) == pytest.approx((low, high), abs=0.02)
    assert mean.high < 0
    assert (mean.base, mean.head) == pytest.approx((sum(before) / 12, sum(after) / 12), abs=1e-6)


def test_a_criterion_is_compared_over_the_scenarios_that_have_it() -> None:
    make_run(Path("base"), *(scored(f"s{i}", [1, 1]) for i in range(8)))
    make_run(Path("head"), *(scored(f"s{i}", [0.75, 0.75]) for i in range(8)))
    report = compared()
    last = criterion(report, "part 4")
    assert last.mean is not None
    assert (last.change, last.scenarios, last.worse, last.better) == ("worse", 8, 8, 0)
    assert last.mean.difference == -1
    assert last.mean.p == pytest.approx(2 / 2**8, abs=1e-6)
    assert last.corrected_p == pytest.approx(POINTS * 2 / 2**8, abs=1e-5), "four criteria were tested"
    assert criterion(report, "part 1").change == "same"
    assert report.summary.tests == POINTS


def test_a_scenario_that_fell_is_named_although_the_mean_held() -> None:
    make_run(Path("base"), scored("fell", [1, 1, 1]), scored("rose", [0, 0, 0]), scored("half", [1, 1, 1]))
    make_run(Path("head"), scored("fell", [0, 0, 1]), scored("rose", [1, 1, 0]), scored("half", [1, 1, 0]))
    report = compared()
    assert [row.name for row in report.scenarios if row.fell] == ["fell"]
    assert "always passed, now 1 of 3: fell" in synthesis("compare", "base", "head", cwd=Path()).stdout


def test_trials_without_a_score_are_in_no_pair_and_said() -> None:
    make_run(Path("base"), scored("a", [1, 1]), scored("b", [1]))
    make_run(Path("head"), scored("a", [1, 1]), scored("b", [1], prompt=["hi", "and?"]))
    report = compared()
    assert of(report, "b").change == "not scored"
    assert "head is without the scores of 1 trial with an error" in report.notes
    assert report.head.accepted


def test_an_incomplete_run_cannot_hold_a_limit() -> None:
    make_run(Path("base"), scored("a", [1]), scored("b", [1]))
    make_run(Path("head"), scored("a", [1]), scored("b", [1], prompt=["hi", "and?"]))
    assert main(["eval", "head.json", "--out", "cut", "-q"]) == 1
    assert main(["compare", "base", "cut"]) == 0, "without a limit it only tells"
    done = synthesis("compare", "base", "cut", "--fail-on-regression", cwd=Path())
    assert done.returncode == 1
    assert "INCOMPLETE: cut" in done.stdout


def regressing(drop: float, scenarios: int = 12) -> None:
    make_run(Path("base"), *(scored(f"s{i}", [1, 1]) for i in range(scenarios)))
    make_run(Path("head"), *(scored(f"s{i}", [1 - drop, 1 - drop * (i % 2)]) for i in range(scenarios)))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--fail-on-regression"], 2),
        (["--max-drop", "0.02"], 2),
        (["--max-drop", "0.19"], 0),
        (["--max-scenario-drop", "0.3"], 0),
        (["--max-scenario-drop", "0.25"], 0),
        (["--max-scenario-drop", "0.24"], 2),
    ],
)
def test_limits_and_exit_codes(options: list[str], code: int) -> None:
    regressing(0.25)
    done = synthesis("compare", "base", "head", *options, cwd=Path())
    assert done.returncode == code, done.stdout
    assert ("FAILED" in done.stdout) == (code == 2)


def test_nothing_changed_holds_every_limit() -> None:
    make_run(Path("base"), *(scored(f"s{i}", [1, 0.5]) for i in range(6)))
    done = synthesis(
        "compare", "base", "base", "--fail-on-regression", "--max-drop", "0", "--max-scenario-drop", "0",
        cwd=Path(),
    )  # fmt: skip
    assert done.returncode == 0
    assert "no scenario differs" in done.stdout


def test_a_criterion_alone_is_a_regression_when_it_stands_up_to_correction() -> None:
    """What one criterion lost another won, so the mean holds."""
    rubric = [{"name": "kept", "contains": "<1>"}, {"name": "swapped", "contains": "<2>"}]
    both = [{"type": "scripted", "replies": [text]} for text in ("<1>", "<2>")]
    for run, subject in zip(("base", "head"), both, strict=True):
        scenarios = [scored(f"s{i}", [1], rubric=rubric, subject=subject) for i in range(10)]
        make_run(Path(run), *scenarios)
    report = compared(fail_on_regression=True)
    assert report.mean.difference == 0
    assert report.exit_code == 2
    assert report.limits[0].blame == ("kept",)


def test_the_mean_alone_is_a_regression_when_no_criterion_stands_out() -> None:
    """Every scenario loses another part, so that each part is lost too seldom to be sure of."""
    make_run(Path("base"), *(scored(f"s{i}", [1, 1]) for i in range(12)))
    lost = [
        {"1": ["<1><2><3><4>".replace(f"<{i % 4 + 1}>", "")], "2": ["<1><2><3><4>"[: 12 - 3 * (i % 2)]]}
        for i in range(12)
    ]
    subjects = [{"type": "scripted", "replies": replies} for replies in lost]
    make_run(Path("head"), *(scored(f"s{i}", [1, 1], subject=subject) for i, subject in enumerate(subjects)))
    report = compared(fail_on_regression=True)
    assert report.mean.high < 0
    assert report.limits[0].blame == ()
    assert report.exit_code == 2


def test_a_criterion_is_a_share_of_its_points_whatever_it_weighs() -> None:
    rubric = [{"name": "heavy", "contains": "<1>", "max_score": 4}, {"name": "light", "contains": "s"}]
    make_run(Path("base"), scored("a", [1], rubric=rubric))
    make_run(Path("head"), scored("a", [0], rubric=rubric))
    heavy = criterion(compared(), "heavy").mean
    assert heavy is not None
    assert (heavy.base, heavy.head, heavy.difference) == (1, 0, -1)


def test_the_worst_drop_is_shown_side_by_side() -> None:
    make_run(Path("base"), scored("a", [1, 1]), scored("b", [0.5]))
    make_run(Path("head"), scored("a", [0.75, 0.25]), scored("b", [0.25]))
    report = compared()
    worst, other = report.drops
    assert (worst.scenario, worst.base_seed, worst.head_seed) == ("a", 2, 2)
    assert [found.criterion for found in worst.evidence] == ["part 2", "part 3", "part 4"]
    assert worst.evidence[0].base_reason == "the result contains '<2>'"
    assert worst.evidence[0].head_reason == "the result does not contain '<2>'"
    (turn,) = worst.turns
    assert (turn.user, turn.base, turn.head) == ("hi", "said <1><2><3><4>", "said <1>")
    assert other.scenario == "b"


def test_without_transcripts_the_figures_stay() -> None:
    make_run(Path("base"), scored("a", [1], system="Be kind."))
    make_run(Path("head"), scored("a", [0.5], system="Be brief."))
    Path("alone.json").write_bytes(Path("base/report.json").read_bytes())
    report = compared("alone.json")
    assert report.mean.difference == -0.5
    assert [(turn.base, turn.head) for turn in report.drops[0].turns] == [(None, "said <1><2>")]
    assert [prompt.diff for prompt in report.prompts] == [None]


def test_the_diff_of_a_changed_system_prompt_is_there_once() -> None:
    old, new = "Be kind.\nAsk first.\nBe brief.", "Be kind.\nBe very brief."
    make_run(Path("base"), *(scored(name, [1], system=old) for name in "abc"), scored("d", [1]))
    make_run(Path("head"), *(scored(name, [1], system=new) for name in "ab"), scored("c", [1], system=old))
    (prompt,) = compared().prompts
    assert prompt.scenarios == ("a", "b")
    assert prompt.diff is not None
    assert prompt.diff.splitlines()[3:] == [" Be kind.", "-Ask first.", "-Be brief.", "+Be very brief."]


def test_the_same_input_gives_the_same_bytes() -> None:
    regressing(0.25, scenarios=30)
    runs = [
        synthesis("compare", "base", "head", "--json", cwd=Path(), env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert json.loads(runs[0])["mean"]["draws"] == 9999


def test_out_is_what_json_prints_and_replaces_no_input() -> None:
    regressing(0.25, scenarios=2)
    done = synthesis("compare", "base", "head", "--json", "--out", "out/c.json", cwd=Path())
    assert json.loads(Path("out/c.json").read_bytes()) == json.loads(done.stdout)
    done = synthesis("compare", "base", "head", "--out", "base/report.json", cwd=Path())
    assert (done.returncode, done.stdout) == (1, "")
    assert "the report would replace an input" in done.stderr


def test_hostile_text_stays_text() -> None:
    nasty = "a\x1b[31m[bold]x"
    make_run(Path("base"), scored(nasty, [1], system="\x1b]0;t\x07 one"))
    make_run(Path("head"), scored(nasty, [0], system="\x1b]0;t\x07 two"))
    done = synthesis("compare", "base", "head", cwd=Path())
    assert "\x1b" not in done.stdout
    assert "[bold]x" in done.stdout


def rubric_change() -> None:
    make_run(Path("base"), scored("a", [1]), scored("b", [1]))
    make_run(Path("head"), scored("a", [1], rubric=[{"contains": "<1>"}]), scored("b", [1]))


def test_other_rubrics_are_not_compared_and_the_way_out_is_said() -> None:
    rubric_change()
    before = tree(Path())
    done = synthesis("compare", "base", "head", cwd=Path())
    assert (done.returncode, done.stdout) == (1, "")
    assert "base and head: the two runs were not scored alike: the rubric of a\n" in done.stderr
    assert "synthesis score base" in done.stderr
    assert tree(Path()) == before


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("tool_version",), "0.0.9", "the version of synthesis, and with it its checkers (0.1.0 and 0.0.9)"),
        (("similarity_threshold",), 0.5, "the similarity threshold (0.45 and 0.5)"),
        (("lexicons", "agency_language/en", "sha256"), "f" * 64, "and 1 ffffffff)"),
        (("judges",), {"judge": "2"}, "the judge judge (1 and 2)"),
    ],
)
def test_other_checkers_words_and_judges_are_not_compared(path: Any, value: object, said: str) -> None:
    make_run(Path("base"), scored("a", [1], rubric=[{"agency_language": True}]))
    report = json.loads(Path("base/report.json").read_bytes())
    report["stamp"]["judges"] = {"judge": "1"}
    Path("old.json").write_text(json.dumps(report))
    spot = report["stamp"]
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    Path("new.json").write_text(json.dumps(report))
    done = synthesis("compare", "old.json", "new.json", cwd=Path())
    assert done.returncode == 1
    assert said in done.stderr
    assert synthesis("compare", "old.json", "old.json", cwd=Path()).returncode == 0


def test_rescore_brings_the_old_run_up_to_date_offline() -> None:
    make_run(Path("base"), scored("a", [1, 0.5]), scored("b", [1]))
    make_run(Path("head"), scored("a", [1, 0.25]), scored("b", [1]))
    for run in ("base", "head"):
        file = Path(f"{run}.json")
        content = json.loads(file.read_text())
        content["scenarios"][0]["rubric"] = [{"name": "half", "contains": "<2>"}]
        file.write_text(json.dumps(content))
    assert main(["score", "head"]) == 0
    (new,) = Path("head").glob("report-*.json")
    done = synthesis("compare", "base", new, cwd=Path())
    assert (done.returncode, done.stdout) == (1, "")
    done = synthesis("compare", "base", new, "--rescore", "--json", cwd=Path())
    assert done.returncode == 0, done.stderr
    assert "base was scored again: base/report-" in done.stderr
    found = json.loads(done.stdout)
    assert [row["difference"] for row in found["scenarios"]] == [-0.5, 0]


@pytest.mark.parametrize("older", ["base", "head"])
def test_what_was_scored_again_is_found_beside_the_report(older: str) -> None:
    rubric_change()
    new = json.loads(Path("base.json").read_text())
    new["scenarios"][0]["rubric"] = [{"contains": "<1>"}] if older == "base" else RUBRIC
    Path(f"{older}.json").write_text(json.dumps(new))
    Path(older, "report-damaged.json").write_text("{")
    done = synthesis("score", older, cwd=Path())
    (report,) = Path(older).glob("report-????????????.json")
    assert f"next: synthesis compare {report} RUN" in done.stdout
    done = synthesis("compare", "base", "head", cwd=Path())
    assert done.returncode == 0, done.stderr
    assert f"{older} is taken as it was scored again: {report}" in done.stderr
    done = synthesis("compare", "base/report.json", "head/report.json", cwd=Path())
    assert (done.returncode, done.stdout) == (1, "")


def test_rescore_scores_both_where_both_are_old() -> None:
    rubric_change()
    for run in ("base", "head"):
        content = json.loads(Path(f"{run}.json").read_text())
        content["scenarios"][0]["rubric"] = [{"name": "half", "contains": "<2>"}]
        Path(f"{run}.json").write_text(json.dumps(content))
    assert synthesis("compare", "base", "head", "--rescore", cwd=Path()).returncode == 0


def test_rescore_without_transcripts_says_what_is_missing() -> None:
    rubric_change()
    Path("lone").mkdir()
    Path("base/report.json").rename("lone/report.json")
    done = synthesis("compare", "lone", "head", "--rescore", cwd=Path())
    assert done.returncode == 1
    assert "lone: no transcripts to score again" in done.stderr


def cut_in_half(report: Path) -> None:
    content = report.read_bytes()
    report.write_bytes(content[: len(content) // 2])


def set_in(report: Path, value: object, *path: Any) -> None:
    content = spot = json.loads(report.read_bytes())
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    report.write_text(json.dumps(content))


SCORE = ("scenarios", 0, "trials", 0, "score")
POINTS_OF_ONE = ("scenarios", 0, "trials", 0, "criteria", 0, "score")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda report: report.write_bytes(b""), "base/report.json: empty"),
        (lambda report: report.write_bytes(b"\xff\xfe\x00"), "not a run report: damaged"),
        (cut_in_half, "not a run report: damaged"),
        (lambda report: report.write_text("[]"), "not a run report of this version"),
        (lambda report: report.write_text('{"kind": "check"}'), "not a run report of this version: kind"),
        (lambda report: set_in(report, "2", "schema_version"), "of this version: schema_version"),
        (lambda report: set_in(report, None, "stamp"), "of this version: stamp"),
        (lambda report: set_in(report, 1.5, *SCORE), "not a run report: Input should be less than or equal"),
        (lambda report: set_in(report, "x", *SCORE), "not a run report"),
        (lambda report: set_in(report, None, *SCORE), "nothing in this run has a score"),
        (lambda report: set_in(report, -5, *POINTS_OF_ONE), "not a run report: Input should be greater"),
        (lambda report: set_in(report, 7, *POINTS_OF_ONE), "7 points of 1"),
        (lambda report: set_in(report, [], "scenarios"), "nothing in this run has a score"),
        (lambda report: report.unlink(), "base: there is no report here"),
    ],
)
def test_a_spoilt_report_is_refused(spoil: Any, said: str) -> None:
    make_run(Path("base"), scored("a", [1]))
    make_run(Path("head"), scored("a", [1]))
    spoil(Path("base/report.json"))
    done = synthesis("compare", "base", "head", cwd=Path())
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scenario_that_is_there_twice_is_refused() -> None:
    make_run(Path("base"), scored("a", [1]))
    content = json.loads(Path("base/report.json").read_bytes())
    content["scenarios"] *= 2
    Path("base/report.json").write_text(json.dumps(content))
    done = synthesis("compare", "base", "base", cwd=Path())
    assert done.returncode == 1
    assert 'the scenario "a" is there twice' in done.stderr


def test_a_seed_that_is_there_twice_is_refused() -> None:
    make_run(Path("base"), scored("a", [1, 0.5]))
    set_in(Path("base/report.json"), 1, "scenarios", 0, "trials", 1, "seed")
    done = synthesis("compare", "base", "base", cwd=Path())
    assert done.returncode == 1
    assert 'base/report.json: not a run report: the seed 1 of "a" is there twice' in done.stderr


def test_runs_of_other_scenarios_are_refused() -> None:
    make_run(Path("base"), scored("a", [1]))
    make_run(Path("head"), scored("b", [1]))
    done = synthesis("compare", "base", "head", cwd=Path())
    assert done.returncode == 1
    assert "base and head: the two runs have no scored scenario in common" in done.stderr


def test_names_that_lead_nowhere_and_limits_that_are_none() -> None:
    make_run(Path("base"), scored("a", [1]))
    done = synthesis("compare", "base", "nowhere", cwd=Path())
    assert done.returncode == 1
    assert "nowhere: no such run, report or baseline\n  fix: name the folder of a run" in done.stderr
    done = synthesis("compare", "base", "base", "--max-drop", "x", cwd=Path())
    assert done.returncode == 1
    assert (
        '--max-drop: "x" is not a number from 0 to 1\n  fix: write for example --max-drop 0.05' in done.stderr
    )


def test_a_transcript_outside_the_run_is_not_read() -> None:
    make_run(Path("base"), scored("a", [1]))
    make_run(Path("head"), scored("a", [0]))
    set_in(
        Path("base/report.json"), "../head/transcripts/a-1.jsonl", "scenarios", 0, "trials", 0, "transcript"
    )
    done = synthesis("compare", "base", "head", cwd=Path())
    assert done.returncode == 1
    assert "the transcript lies outside the run" in done.stderr


def test_what_went_away_is_named_beside_the_limits() -> None:
    make_run(Path("base"), scored("both", [1]), scored("gone", [1]), scored("broken", [1]))
    make_run(Path("head"), scored("both", [1]), scored("broken", [1], prompt=["hi", "and?"]))
    done = synthesis("compare", "base", "head", "--max-drop", "0", cwd=Path())
    assert done.returncode == 0, done.stderr
    said = "2 scenarios of the base have no score in the head and were not held to the limits: gone, broken"
    assert said in done.stdout
    assert "not held" not in synthesis("compare", "base", "head", cwd=Path()).stdout
    assert "not held" not in synthesis("compare", "head", "base", "--max-drop", "0", cwd=Path()).stdout


@pytest.mark.parametrize(("scenarios", "code"), [(5, 0), (6, 2)])
def test_a_limit_that_so_few_scenarios_cannot_fail_says_so(scenarios: int, code: int) -> None:
    for run, score in (("base", 1), ("head", 0)):
        make_run(Path(run), *(scored(f"s{i}", [score]) for i in range(scenarios)))
    done = synthesis("compare", "base", "head", "--fail-on-regression", cwd=Path(), env={"COLUMNS": "300"})
    assert done.returncode == code
    said = "none shown, but 5 scenarios are too few to show even the loss of every point; use --max-drop or"
    assert (said in done.stdout) == (code == 0)


def test_a_limit_that_enough_scenarios_hold_says_no_more() -> None:
    make_run(Path("base"), *(scored(f"s{i}", [1]) for i in range(6)))
    done = synthesis("compare", "base", "base", "--fail-on-regression", cwd=Path())
    assert "fail on regression: none shown\n" in done.stdout
