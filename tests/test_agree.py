"""Who is compared with whom, over which trials, and what cannot be compared."""

import json
from pathlib import Path
from typing import Any

import pytest
from judged_runs import Given, label, run_report, scenario_report, trial, verdict, write_labels, write_run

from harness.agree import agree
from harness.agreement_report import AgreementReport, Difference, Opinion, PairAgreement, Rater
from harness.errors import Problems, SynthesisError
from harness.run_report import ScenarioReport

JUDGE = Rater(kind="judge", name="kind")
HUMAN = Rater(kind="human", name="human")
FEW = "fewer than 20 trials: a few more can move these figures a lot"
NOTHING = "chance agreement is 1, kappa and alpha say nothing"
ZERO = "kappa is 0 whatever the other says"


def talk(*verdicts: Given, **more: Any) -> ScenarioReport:
    """The scenario `talk`, judged by `kind` with these verdicts under the seeds 1, 2, 3 …"""
    return scenario_report(
        "talk", *(trial(seed, verdict("kind", given, **more)) for seed, given in enumerate(verdicts, 1))
    )


def compared(folder: Path, scenarios: list[ScenarioReport], labels: list[object] | None) -> AgreementReport:
    run = write_run(folder / "run", *scenarios)
    return agree(run, None if labels is None else write_labels(folder / "labels.jsonl", labels))


def pair_of(report: AgreementReport, first: Rater, second: Rater) -> PairAgreement:
    (found,) = [pair for pair in report.pairs if (pair.first, pair.second) == (first, second)]
    return found


def refusal(folder: Path, scenarios: list[ScenarioReport], labels: list[object] | None) -> list[str]:
    with pytest.raises(SynthesisError) as caught:
        compared(folder, scenarios, labels)
    error = caught.value
    problems = error.problems if isinstance(error, Problems) else (error,)
    return [str(problem).replace(str(folder / "labels.jsonl"), "labels.jsonl") for problem in problems]


def test_a_judge_against_a_person(tmp_path: Path) -> None:
    # judge 1110, person 1100: agreed 3/4; by chance 3/4*1/2 + 1/4*1/2 = 0.5, kappa 0.5.
    # alpha: of 8 ratings 5 are true; observed 2/8, by chance 2*5*3/(8*7) = 30/56; 1 - 0.25*56/30 = 0.5333.
    report = compared(
        tmp_path,
        [talk(True, True, True, False)],
        [label(1, True), label(2, True), label(3, False), label(4, False)],
    )
    assert report.pairs == (
        PairAgreement(
            criterion="kind",
            first=JUDGE,
            second=HUMAN,
            metric="nominal",
            trials=4,
            agreement=0.75,
            kappa=0.5,
            alpha=0.5333,
            first_rate=0.75,
            second_rate=0.5,
            notes=(FEW,),
            differences=(
                Difference(
                    scenario="talk",
                    seed=3,
                    first=Opinion(passed=True, points=1.0, reason="kind says True"),
                    second=Opinion(passed=False, points=None, reason=None),
                ),
            ),
        ),
    )
    assert (report.panels, report.repeats, report.unjudged) == ((), (), ())
    assert report.summary.model_dump() == {"scenarios": 1, "trials": 4, "labels": 4, "unjudged": 0}


def test_points_are_compared_as_a_share_of_what_can_be_reached(tmp_path: Path) -> None:
    # kappa as for the points 1, 2, 3, 5 against 1, 3, 3, 3: 1 - (5 / 4) / (48 / 16)
    rows = [(1, 1), (2, 3), (3, 3), (5, 3)]
    first = scenario_report(
        "talk", *(trial(seed, verdict("kind", float(rows[seed][0]), max_score=8.0)) for seed in (0, 1))
    )
    heavier = scenario_report(
        "heavier", *(trial(seed, verdict("kind", rows[seed][0] * 2.0, max_score=16.0)) for seed in (2, 3))
    )
    labels: list[object] = [label(seed, rows[seed][1]) for seed in (0, 1)]
    labels += [label(seed, rows[seed][1] * 2, scenario="heavier") for seed in (2, 3)]
    pair = compared(tmp_path, [first, heavier], labels).pairs[0]
    assert (pair.metric, pair.trials, pair.agreement, pair.kappa) == ("interval", 4, 0.5, 0.5833)
    # observed 2 * 5; the eight points have mean 2.625 and squares 67 - 55.125, by chance 2*8*11.875/7
    assert pair.alpha == 0.6316
    assert (pair.first_rate, pair.second_rate) == (0.3438, 0.3125)  # 11/4 and 10/4 of 8
    assert [(found.scenario, found.seed) for found in pair.differences] == [("talk", 1), ("heavier", 3)]
    assert pair.differences[1].first.points == 10.0
    assert pair.differences[1].second.points == 6.0


def test_points_that_miss_by_the_last_bit_are_the_same(tmp_path: Path) -> None:
    pair = compared(tmp_path, [talk(0.1 + 0.2, 0.0)], [label(1, 0.3), label(2, 0)]).pairs[0]
    assert (pair.metric, pair.agreement) == ("interval", 1.0)


@pytest.mark.parametrize("said", [0, 1])
def test_a_whole_number_is_points_and_no_verdict(tmp_path: Path, said: int) -> None:
    pair = compared(tmp_path, [talk(True, False)], [label(1, said), label(2, 0)]).pairs[0]
    assert pair.metric == "interval"
    assert pair.agreement == (1.0 if said else 0.5)


@pytest.mark.parametrize(
    ("rubric", "passed"),
    [
        ((), [False, False, False]),
        (({"judge": "x", "pass_at": 3},), [False, True, True]),
        (({"judge": "x"},), [False, False, False]),
        (({"judge": "x", "pass_at": "3"},), [False, False, False]),
    ],
)
def test_points_of_people_are_held_to_the_mark_of_the_judge(
    tmp_path: Path, rubric: tuple[dict[str, Any], ...], passed: list[bool]
) -> None:
    rows = [trial(seed, verdict("kind", 5.0, max_score=5.0)) for seed in (1, 2, 3)]
    labels: list[object] = [label(1, 2.9), label(2, 3), label(3, 4)]
    points, verdicts = compared(tmp_path, [scenario_report("talk", *rows, rubric=rubric)], labels).pairs
    assert (points.metric, verdicts.metric) == ("interval", "nominal")
    assert [found.second.passed for found in points.differences] == passed
    assert verdicts.second_rate == round(sum(passed) / 3, 4)
    assert len(verdicts.differences) == passed.count(False)


def test_the_mark_of_a_judge_holds_for_what_shares_its_name(tmp_path: Path) -> None:
    row = trial(1, verdict("kind", 1.0, max_score=5.0), verdict("kind", 1.0, "score", max_score=5.0))
    report = compared(tmp_path, [scenario_report("talk", row)], [label(1, 5)])
    kinds = [(pair.first.kind, pair.metric) for pair in report.pairs if pair.second == HUMAN]
    assert sorted(kinds) == [
        ("criterion", "interval"),
        ("criterion", "nominal"),
        ("judge", "interval"),
        ("judge", "nominal"),
    ]


def test_only_of_a_judge_is_it_known_how_points_become_a_verdict(tmp_path: Path) -> None:
    row = trial(1, verdict("kind", 1.0, "score", max_score=5.0))
    (pair,) = compared(tmp_path, [scenario_report("talk", row)], [label(1, 2)]).pairs
    assert pair.metric == "interval"
    assert pair.differences[0].second.passed is None


@pytest.mark.parametrize(
    ("judge", "person", "note", "kappa"),
    [
        ([True] * 3, [True] * 3, f"both always say passed: {NOTHING}", None),
        ([False] * 3, [False] * 3, f"both always say failed: {NOTHING}", None),
        ([0.5] * 3, [0.5] * 3, f"both always say the same points: {NOTHING}", None),
        ([True] * 3, [True, True, False], f"kind always says passed: {ZERO}", 0.0),
        ([True, True, False], [False] * 3, f"human always says failed: {ZERO}", 0.0),
    ],
)
def test_figures_that_say_nothing_say_why(
    tmp_path: Path, judge: list[Given], person: list[Given], note: str, kappa: float | None
) -> None:
    labels: list[object] = [label(seed, given) for seed, given in enumerate(person, 1)]
    pair = compared(tmp_path, [talk(*judge)], labels).pairs[0]
    assert pair.notes == (note, FEW)
    assert pair.kappa == kappa
    assert (pair.alpha is None) is (kappa is None)


def test_twenty_trials_are_enough_to_go_without_a_warning(tmp_path: Path) -> None:
    labels: list[object] = [label(seed, seed % 3 == 0) for seed in range(1, 21)]
    (pair,) = compared(tmp_path, [talk(*([True, False] * 10))], labels).pairs
    assert (pair.trials, pair.notes) == (20, ())


def test_several_people_are_compared_with_the_judge_and_among_themselves(tmp_path: Path) -> None:
    judge, anna, ben = [True, True, False, False], [True, False, False, False], [True, True, False]
    labels: list[object] = [label(seed, given, "ben") for seed, given in enumerate(ben, 1)]
    labels += [label(seed, given, "anna") for seed, given in enumerate(anna, 1)]
    report = compared(tmp_path, [talk(*judge)], labels)
    people = [Rater(kind="human", name=name) for name in ("anna", "ben")]
    assert [(pair.first, pair.second, pair.trials) for pair in report.pairs] == [
        (JUDGE, people[0], 4),
        (JUDGE, people[1], 3),
        (people[0], people[1], 3),
    ]
    everyone, humans = report.panels
    assert (everyone.raters, everyone.trials, everyone.ratings) == ((JUDGE, *people), 4, 11)
    assert (humans.raters, humans.trials, humans.ratings) == (tuple(people), 3, 6)
    # 5 of 11 are true, by chance 2*5*6/10 = 6; observed: only seed 2, two true and one false, 4/2 = 2
    assert everyone.alpha == 0.6667
    # 3 of 6 are true, by chance 2*3*3/5 = 3.6; observed 2 on seed 2
    assert humans.alpha == 0.4444


def test_people_who_labelled_different_trials_meet_only_in_the_panel_with_the_judge(tmp_path: Path) -> None:
    report = compared(tmp_path, [talk(True, False)], [label(1, True, "anna"), label(2, False, "ben")])
    assert [pair.second.name for pair in report.pairs] == ["anna", "ben"]
    assert [(len(panel.raters), panel.alpha) for panel in report.panels] == [(3, 1.0)]


def test_without_labels_a_judge_is_compared_with_every_other_criterion(tmp_path: Path) -> None:
    rows = [
        trial(
            seed,
            verdict("plain", seed < 3, "contains"),
            verdict("kind", seed < 2),
            verdict("agency_language", seed < 4, "agency_language"),
            verdict("warm", seed < 5),
        )
        for seed in range(1, 6)
    ]
    report = compared(tmp_path, [scenario_report("talk", *rows)], None)
    assert [(pair.first.name, pair.second.name, len(pair.differences)) for pair in report.pairs] == [
        ("kind", "warm", 3),
        ("kind", "plain", 1),
        ("kind", "agency_language", 2),
        ("warm", "plain", 2),
        ("warm", "agency_language", 1),
    ]
    assert [pair.criterion for pair in report.pairs] == ["kind"] * 3 + ["warm"] * 2
    difference = report.pairs[1].differences[0]
    assert (difference.first.reason, difference.second.reason) == ("kind says False", "plain says True")
    assert report.stamp.labels is None


def test_people_come_before_other_criteria_and_a_checker_can_be_labelled_too(tmp_path: Path) -> None:
    rows = [
        trial(seed, verdict("kind", seed == 1), verdict("agency", seed == 2, "agency_language"))
        for seed in (1, 2)
    ]
    labels: list[object] = [label(1, True), label(2, True, criterion="agency")]
    report = compared(tmp_path, [scenario_report("talk", *rows)], labels)
    assert [(pair.first.kind, pair.first.name, pair.second.name) for pair in report.pairs] == [
        ("judge", "kind", "human"),
        ("judge", "kind", "agency"),
        ("criterion", "agency", "human"),
    ]


def test_what_is_about_one_criterion_stands_together(tmp_path: Path) -> None:
    rows = [
        trial(seed, verdict("kind", True), verdict("warm", True), verdict("c", True, "contains"))
        for seed in (1, 2)
    ]
    labels: list[object] = [label(1, True, "anna"), label(1, True, "ben"), label(2, True, "carl")]
    labels += [label(1, True, "anna", criterion="warm")]
    report = compared(tmp_path, [scenario_report("talk", *rows)], labels)
    assert [(pair.criterion, pair.first.name, pair.second.name) for pair in report.pairs] == [
        ("kind", "kind", "anna"),
        ("kind", "kind", "ben"),
        ("kind", "kind", "carl"),
        ("kind", "anna", "ben"),
        ("kind", "kind", "warm"),
        ("kind", "kind", "c"),
        ("warm", "warm", "anna"),
        ("warm", "warm", "c"),
    ]


def test_only_trials_that_have_both_verdicts_count(tmp_path: Path) -> None:
    rows = [
        trial(1, verdict("kind", True), verdict("c", True, "contains")),
        trial(2, verdict("kind", "error"), verdict("c", True, "contains")),
        trial(3, verdict("kind", True), verdict("c", "not_applicable", "contains")),
        trial(4, verdict("kind", True)),
        trial(5, error="timeout"),
    ]
    (pair,) = compared(tmp_path, [scenario_report("talk", *rows)], None).pairs
    assert pair.trials == 1


def test_the_same_name_in_several_scenarios_is_one_rater(tmp_path: Path) -> None:
    scenarios = [
        scenario_report(name, trial(1, verdict("kind", given))) for name, given in (("a", True), ("b", False))
    ]
    (pair,) = compared(tmp_path, scenarios, [label(1, True, scenario=name) for name in "ab"]).pairs
    assert (pair.trials, pair.agreement) == (2, 0.5)


def test_two_criteria_of_one_name_are_two_raters_and_a_label_is_for_both(tmp_path: Path) -> None:
    row = trial(1, verdict("kind", True), verdict("kind", False), verdict("kind", True, "contains"))
    report = compared(tmp_path, [scenario_report("talk", row)], [label(1, True)])
    second, other = JUDGE.model_copy(update={"number": 2}), Rater(kind="criterion", name="kind")
    assert {(pair.first, pair.second): pair.agreement for pair in report.pairs} == {
        (JUDGE, HUMAN): 1.0,
        (second, HUMAN): 0.0,
        (other, HUMAN): 1.0,
        (JUDGE, second): 0.0,
        (JUDGE, other): 1.0,
        (second, other): 0.0,
    }


def asked(*scores: object) -> dict[str, Any]:
    return {"evidence": {"scores": list(scores)}}


def test_a_judge_that_was_asked_more_than_once_is_compared_with_itself(tmp_path: Path) -> None:
    rows = [
        trial(1, verdict("kind", 0.5, **asked(3, 3, 4))),
        trial(2, verdict("kind", 0.5, **asked(1, 1, 1))),
        trial(3, verdict("kind", 0.5, **asked(2, None, 2))),
        trial(4, verdict("kind", 0.5, **asked(5))),
        trial(5, verdict("kind", 0.5)),
    ]
    (found,) = compared(tmp_path, [scenario_report("talk", *rows)], None).repeats
    assert (found.judge, found.trials, found.scores, found.agreement) == (JUDGE, 3, 8, 0.6667)
    # observed 2*2/2 = 2 (3, 3 and 4: two pairs, both ways, one apart); the eight scores 3 3 4 1 1 1 2 2 have
    # mean 2.125 and squares 45 - 8*2.125**2 = 8.875, so by chance 2*8*8.875/7 = 20.2857; 1 - 2/20.2857.
    assert found.alpha == 0.9014
    assert found.notes == (FEW,)


def test_repeated_scores_of_other_weights_are_shares_of_their_own(tmp_path: Path) -> None:
    rows = [
        trial(1, verdict("kind", 1.0, max_score=2.0, **asked(1, 2))),
        trial(2, verdict("kind", 5.0, max_score=10.0, **asked(5, 10))),
    ]
    (found,) = compared(tmp_path, [scenario_report("talk", *rows)], None).repeats
    assert found.alpha == -0.5  # 0.5 and 1 both times: observed 2 * 0.5, by chance 2 * 4 * 0.25 / 3


def test_scores_that_never_vary_say_so(tmp_path: Path) -> None:
    (found,) = compared(tmp_path, [talk(0.5, 0.5, **asked(2, 2))], None).repeats
    assert (found.agreement, found.alpha) == (1.0, None)
    assert found.notes[0] == "every score is the same: alpha says nothing"


@pytest.mark.parametrize("scores", ["33", [3, "3"], [True, False], [3], {"a": 1}, None, [3, [3]]])
def test_other_evidence_of_that_name_is_no_repetition(tmp_path: Path, scores: object) -> None:
    row = trial(1, verdict("kind", True, evidence={"scores": scores}), verdict("c", True, "contains"))
    assert compared(tmp_path, [scenario_report("talk", row)], None).repeats == ()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_scores_that_are_no_numbers_are_no_repetition(tmp_path: Path, number: str) -> None:
    row = trial(1, verdict("kind", True, **asked(12345, 3)), verdict("c", True, "contains"))
    report = write_run(tmp_path / "run", scenario_report("talk", row)) / "report.json"
    assert agree(report).repeats[0].scores == 2
    report.write_text(report.read_text().replace("12345", number))
    assert agree(report).repeats == ()


def test_scores_of_a_criterion_that_is_no_judge_are_no_repetition(tmp_path: Path) -> None:
    row = trial(1, verdict("kind", True), verdict("c", True, "contains", **asked(1, 2)))
    assert compared(tmp_path, [scenario_report("talk", row)], None).repeats == ()


def test_a_label_without_a_verdict_beside_it_is_counted_and_listed(tmp_path: Path) -> None:
    rows = [
        trial(1, verdict("kind", True)),
        trial(2, verdict("kind", "error", reason="the judge was not reached")),
        trial(3, verdict("kind", "not_applicable", reason="nothing was said")),
        trial(4, error="timeout"),
    ]
    labels: list[object] = [label(seed, True, rater) for seed in (5, 4, 3, 2, 1) for rater in ("anna", "ben")]
    report = compared(tmp_path, [scenario_report("talk", *rows, not_run=1)], labels)
    assert (report.summary.labels, report.summary.unjudged) == (10, 8)
    assert [(found.line, found.seed, found.rater, found.why) for found in report.unjudged][::2] == [
        (1, 5, "anna", "the trial was not run"),
        (3, 4, "anna", "the trial ended in an error: timeout"),
        (5, 3, "anna", "did not apply: nothing was said"),
        (7, 2, "anna", "could not be judged: the judge was not reached"),
    ]
    assert [pair.trials for pair in report.pairs] == [1, 1, 1], "people alone are not counted there either"
    assert [panel.trials for panel in report.panels] == [1, 1]


def test_labels_without_a_verdict_are_listed_by_their_lines_and_counted_once(tmp_path: Path) -> None:
    broken = trial(2, verdict("kind", "error"), verdict("kind", "error", "contains"))
    scenarios = [
        scenario_report(name, trial(1, verdict("kind", True), verdict("kind", True, "contains")), broken)
        for name in ("talk", "other")
    ]
    labels: list[object] = [label(2, True, scenario="other"), label(2, True), label(1, True)]
    report = compared(tmp_path, scenarios, labels)
    assert [found.line for found in report.unjudged] == [1, 1, 2, 2]
    assert report.summary.unjudged == 2


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    labels: list[object] = ["\ufeff" + json.dumps(label(1, True))]
    assert compared(tmp_path, [talk(True)], labels).summary.labels == 1


def test_a_verdict_is_no_number_of_points_that_could_be_too_many(tmp_path: Path) -> None:
    assert compared(tmp_path, [talk(True, max_score=0.5)], [label(1, True)]).pairs[0].agreement == 1.0


def test_points_for_several_criteria_of_one_name_fit_all_of_them(tmp_path: Path) -> None:
    row = trial(1, verdict("kind", 4.0, max_score=4.0), verdict("kind", True, "contains", max_score=2.0))
    (found,) = refusal(tmp_path, [scenario_report("talk", row)], [label(1, 3)])
    assert '3 points for "kind", which gives at most 2' in found


def test_a_scenario_that_never_finished_takes_any_criterion(tmp_path: Path) -> None:
    scenarios = [talk(True), scenario_report("dead", trial(1, error="timeout"))]
    labels: list[object] = [label(1, True), label(1, 3, scenario="dead", criterion="whatever")]
    report = compared(tmp_path, scenarios, labels)
    assert [(found.scenario, found.criterion) for found in report.unjudged] == [("dead", "whatever")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "labels.jsonl:2: not a JSON object: unexpected end of data"),
        ("[]", "labels.jsonl:2: this has to be an object, not []"),
        (label(2, "yes"), 'labels.jsonl:2:/label: "label" is true, false or a number of points, not yes'),
        (label(2, None), 'labels.jsonl:2:/label: "label" is true, false or a number of points, not None'),
        (label(2, -1, criterion="c"), "labels.jsonl:2:/label: "),
        (
            {**label(2, True), "seed": "2"},
            'labels.jsonl:2:/seed: "seed": input should be a valid integer, not "2"',
        ),
        ({**label(2, True), "seed": True}, "labels.jsonl:2:/seed: "),
        ({**label(2, True), "seed": 2.0}, "labels.jsonl:2:/seed: "),
        (label(-2, True), "labels.jsonl:2:/seed: "),
        (label(2, True, ""), 'labels.jsonl:2:/rater: "rater" is empty'),
        ({**label(2, True), "sede": 2}, 'labels.jsonl:2: unknown key "sede"\n  fix: did you mean "seed"?'),
        ({"scenario": "talk", "seed": 2, "label": True}, 'labels.jsonl:2: "criterion" is missing'),
        (
            label(2, True, scenario="tlak"),
            'labels.jsonl:2: no scenario "tlak" in the report\n  fix: did you mean "talk"?',
        ),
        (
            label(2, True, scenario="zzz"),
            'labels.jsonl:2: no scenario "zzz" in the report\n  fix: use one of: talk',
        ),
        (
            label(2, True, criterion="knid"),
            'labels.jsonl:2: "talk" has no criterion "knid"\n  fix: did you mean "kind"?',
        ),
        (label(9, True), 'labels.jsonl:2: "talk" was not run with seed 9\n  fix: use one of its seeds: 1, 2'),
        (
            label(1, False),
            'labels.jsonl:2: "human" labelled this trial and criterion in line 1 already\n  fix: remove one',
        ),
        (
            label(2, 1),
            'labels.jsonl:2: "label" is points, but true or false in line 1\n  fix: label a criterion either',
        ),
        (
            label(2, 2.5, criterion="c"),
            'labels.jsonl:2: 2.5 points for "c", which gives at most 2\n  fix: give a number from 0 to 2',
        ),
    ],
    ids=str,
)
def test_a_label_that_cannot_be_meant_is_refused(tmp_path: Path, line: object, said: str) -> None:
    rows = [
        trial(seed, verdict("kind", True), verdict("c", True, "contains", max_score=2.0)) for seed in (1, 2)
    ]
    (problem,) = refusal(tmp_path, [scenario_report("talk", *rows)], [label(1, True), line])
    assert problem.startswith(said)


def test_everything_wrong_with_a_file_is_told_together_in_the_order_of_the_lines(tmp_path: Path) -> None:
    labels: list[object] = [
        label(1, True, scenario="nowhere"),
        "{",
        "",
        label(7, True),
        label(1, True, scenario="nowhere", rater="b"),
        label(1, "?"),
    ]
    found = refusal(tmp_path, [talk(True)], labels)
    assert [problem.split(": ")[0] for problem in found] == [
        "labels.jsonl:1",
        "labels.jsonl:2",
        "labels.jsonl:4",
        "labels.jsonl:6:/label",
    ]
    assert '"nowhere" in the report (and in 1 more of the lines)' in found[0]


@pytest.mark.parametrize(
    ("scenarios", "labels", "what", "fix"),
    [
        (
            [
                scenario_report(
                    "talk", trial(1, verdict("a", True, "contains"), verdict("b", True, "contains"))
                )
            ],
            None,
            "no trial has two verdicts to compare: the run was scored without a judge",
            "give human labels with --labels, or put a judge into the rubric",
        ),
        (
            [talk(True)],
            None,
            "no trial has two verdicts to compare: the judge stands alone",
            "give human labels with --labels, or let the judge be asked more than once",
        ),
        (
            [scenario_report("talk", trial(1, error="timeout"))],
            [label(1, True)],
            "no label is of a trial that was judged; that of line 1: the trial ended in an error: timeout",
            "label trials that have a verdict",
        ),
        ([talk(True)], ["", " "], "there are no labels in it", 'write lines like {"scenario": …'),
    ],
)
def test_nothing_to_compare_is_an_error_that_says_what_to_do(
    tmp_path: Path, scenarios: list[ScenarioReport], labels: list[object] | None, what: str, fix: str
) -> None:
    (found,) = refusal(tmp_path, scenarios, labels)
    assert f": {what}\n  fix: {fix}" in found


def test_keys_that_are_not_known_yet_are_no_reason_to_refuse_a_report(tmp_path: Path) -> None:
    report = json.loads(run_report(talk(True)).model_dump_json(by_alias=True))
    report["usage"] = 1
    report["scenarios"][0]["sandbox"] = report["scenarios"][0]["trials"][0]["usage"] = {"tokens": 5}
    report["scenarios"][0]["trials"][0]["criteria"][0]["cost"] = 1
    file = tmp_path / "report-0123.json"
    file.write_text(json.dumps(report))
    labels = write_labels(tmp_path / "labels.jsonl", [label(1, True)])
    assert agree(file, labels).pairs[0].trials == 1


def test_the_order_of_the_labels_does_not_matter(tmp_path: Path) -> None:
    labels: list[object] = [label(seed, seed > 1, rater) for seed in (1, 2, 3) for rater in ("b", "a", "c")]
    first = compared(tmp_path, [talk(True, False, True)], labels)
    second = compared(tmp_path, [talk(True, False, True)], labels[::-1])
    assert (first.pairs, first.panels) == (second.pairs, second.panels)
