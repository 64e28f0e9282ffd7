"""`synthesis agree`: what it prints, for people and for programs, and how it ends."""

import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from judged_runs import label, scenario_report, trial, verdict, write_labels, write_run
from rich.console import Console
from scenario_files import scenario, synthesis, tree, write

from harness import schema
from harness.agree import agree
from harness.agreement_report import AgreementReport
from harness.cli import main
from harness.renderers.agreement_summary import render

PYTHON = """
from harness.criterion import Verdict

def warm(run, seed):
    return Verdict(status="passed" if seed % 2 else "failed", reason=f"seed {seed} by a function")

scenarios = [dict(
    name="talk", prompt="hi", seeds=4, subject=dict(type="scripted", replies=["hello"]),
    rubric=[dict(name="kind", score=warm, weight=3), dict(contains="hello")],
)]
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real run whose criterion `kind` passes under the seeds 1 and 3 of four."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(PYTHON)
    assert main(["eval", "s.py", "--out", "run", "-q"]) == 0
    write_labels(
        tmp_path / "labels.jsonl", [label(1, True), label(2, False), label(3, False), label(4, False)]
    )
    return tmp_path / "run"


def printed(*arguments: object, cwd: Path) -> str:
    result = synthesis("agree", *arguments, cwd=cwd)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def row(output: str, *cells: str) -> list[str]:
    """The cells of the only line that has all of these."""
    (line,) = [line for line in output.splitlines() if all(cell in line for cell in cells)]
    return line.split()


def test_a_run_with_labels(run: Path) -> None:
    out = printed("run", "--labels", "labels.jsonl", cwd=run.parent)
    assert out.startswith("agreement on 4 trials of 1 scenario, 4 human labels\n")
    # 1010 against 1000: agreed 3/4, by chance 1/2*1/4 + 1/2*3/4 = 1/2; alpha 1 - (2/8) * 56 / (2*3*5)
    assert row(out, "kind", "pass/fail") == [
        "kind", "human", "pass/fail", "4", "0.75", "0.50", "0.53", "0.50", "0.25",
    ]  # fmt: skip
    assert "note: fewer than 20 trials" in out
    assert (
        "kind and human differ on 1 of 4 trials\n"
        "  talk seed 3: passed against failed\n"
        "    kind: seed 3 by a function\n"
    ) in out
    assert "report: run/report.json\n" in out
    assert "contains" not in out, "it has no labels and is no judge"


def test_nothing_is_written(run: Path) -> None:
    before = tree(run.parent)
    printed("run", "--labels", "labels.jsonl", cwd=run.parent)
    assert tree(run.parent) == before


def test_json_is_the_whole_of_it_and_nothing_else(run: Path) -> None:
    out = printed("run", "--labels", "labels.jsonl", "--json", cwd=run.parent)
    report = AgreementReport.model_validate_json(out)
    assert (report.kind, report.schema_version) == ("agreement", "1")
    assert report.pairs[0].kappa == 0.5
    assert report.stamp.report == "run/report.json"
    assert report.stamp.labels == "labels.jsonl"
    validator = Draft202012Validator(json.loads(schema.text("agreement")))
    assert list(validator.iter_errors(json.loads(out))) == []
    assert list(validator.iter_errors({**json.loads(out), "extra": 1}))
    assert printed("run", "--labels", "labels.jsonl", "--json", cwd=run.parent) == out


def test_the_schema_is_closed_all_through() -> None:
    whole = json.loads(schema.text("agreement"))
    assert all(part["additionalProperties"] is False for part in (whole, *whole["$defs"].values()))


def test_a_report_file_is_taken_as_well_as_a_folder_and_read_the_same_when_formatted(run: Path) -> None:
    first = json.loads(printed("run", "--labels", "labels.jsonl", "--json", cwd=run.parent))
    other = run / "report-abc.json"
    other.write_text(json.dumps(json.loads((run / "report.json").read_bytes()), indent=4))
    second = json.loads(printed("run/report-abc.json", "--labels", "labels.jsonl", "--json", cwd=run.parent))
    assert second.pop("stamp")["report"] == "run/report-abc.json"
    first.pop("stamp")
    assert second == first


def judged(folder: Path, trials: int = 30) -> Path:
    """A run with two judges, the first asked twice each time, and one other criterion."""
    rows = [
        trial(
            seed,
            verdict(
                "kind", seed % 2 == 0, reason=f"why {seed}", evidence={"scores": [seed % 5, seed % 5 + 0.5]}
            ),
            verdict("warm", seed % 3 == 0),
            verdict("agency_language", True, "agency_language"),
        )
        for seed in range(1, trials + 1)
    ]
    return write_run(folder / "judged", scenario_report("talk", *rows))


def test_without_labels_the_judge_is_compared_with_the_rest_and_with_itself(tmp_path: Path) -> None:
    judged(tmp_path)
    out = printed("judged", cwd=tmp_path)
    assert out.startswith("agreement on 30 trials of 1 scenario\n")
    assert row(out, "kind (judge)", "warm (judge)", "pass/fail")[5:7] == ["30", "0.50"]
    assert row(out, "warm (judge)", "agency_language", "pass/fail")[-2:] == ["0.33", "1.00"]
    assert "kind (judge) with itself: alpha 0.94, the same score every time on 0% of 30 trials" in out
    assert "note: agency_language always says passed: kappa is 0 whatever the other says" in out
    assert "fewer than" not in out
    assert "alpha with people" not in out


def test_differences_are_capped_in_the_terminal_and_complete_in_json(tmp_path: Path) -> None:
    judged(tmp_path)
    out = printed("judged", cwd=tmp_path)
    assert (
        "kind (judge) and agency_language differ on 15 of 30 trials\n  talk seed 1: failed against passed"
        in out
    )
    assert "    kind (judge): why 1\n" in out
    assert "why 9\n  " in out
    assert "  … and 10 more, see --json\n" in out
    assert (
        "seed 11: "
        not in out.partition("kind (judge) and agency_language differ")[2].partition("warm (judge) and")[0]
    )
    pairs = json.loads(printed("judged", "--json", cwd=tmp_path))["pairs"]
    assert [len(pair["differences"]) for pair in pairs] == [15, 15, 20]


def test_beside_people_differences_of_criteria_are_only_counted(tmp_path: Path) -> None:
    judged(tmp_path)
    write_labels(tmp_path / "l.jsonl", [label(seed, True) for seed in range(1, 31)])
    out = printed("judged", "--labels", "l.jsonl", cwd=tmp_path)
    assert "kind (judge) and human differ on 15 of 30 trials\n  talk seed 1: " in out
    assert "kind (judge) and agency_language differ on 15 of 30 trials\n  … see --json\n" in out
    assert "alpha with people: 0.8 or more is firm" in out


def test_of_points_the_largest_differences_come_first(tmp_path: Path) -> None:
    rows = [trial(seed, verdict("kind", float(seed), max_score=10.0)) for seed in range(1, 8)]
    write_run(tmp_path / "run", scenario_report("talk", *rows))
    write_labels(tmp_path / "l.jsonl", [label(seed, 1) for seed in range(1, 8)])
    out = printed("run", "--labels", "l.jsonl", cwd=tmp_path)
    assert "differ in points on 6 of 7 trials\n  talk seed 7: 7 points against 1 point\n" in out
    assert "talk seed 2:" not in out
    assert "  … and 1 more, see --json" in out


def test_verdicts_stay_in_the_order_of_the_run(tmp_path: Path) -> None:
    rows = [
        trial(seed, verdict("kind", 5.0 - seed, max_score=10.0), verdict("c", True, "contains"))
        for seed in (1, 2, 3)
    ]
    write_run(tmp_path / "run", scenario_report("talk", *rows[::-1]))
    out = printed("run", cwd=tmp_path)
    assert [line.split(":")[0] for line in out.splitlines() if " against " in line] == [
        "  talk seed 3",
        "  talk seed 2",
        "  talk seed 1",
    ]


def test_criteria_of_one_name_and_several_people_can_be_told_apart(tmp_path: Path) -> None:
    rows = [trial(seed, verdict("kind", seed < 3), verdict("kind", seed < 4)) for seed in range(1, 6)]
    write_run(tmp_path / "run", scenario_report("talk", *rows))
    labels = [
        label(seed, seed < 3 + (rater == "ben"), rater) for seed in range(1, 6) for rater in ("anna", "ben")
    ]
    write_labels(tmp_path / "l.jsonl", labels)
    out = printed("run", "--labels", "l.jsonl", cwd=tmp_path)
    assert "kind (judge) and kind #2 (judge) differ on 1 of 5 trials" in out
    among = "among kind #2 (judge), anna (human), ben (human) (15 ratings of 5 trials)"
    assert f"kind: alpha 0.75 on pass/fail {among}" in out  # 8 of 15 are true: 1 - 2 / (2*8*7/14)


@pytest.mark.parametrize(("wrong", "color"), [(0, "32"), (4, "33"), (8, "31")])
def test_the_colour_of_a_row_says_how_far_people_agree_with_it(
    tmp_path: Path, wrong: int, color: str
) -> None:
    judged(tmp_path)
    write_labels(tmp_path / "l.jsonl", [label(n, (n % 2 == 0) is (n > wrong)) for n in range(1, 31)])
    text = io.StringIO()
    shown = Console(file=text, force_terminal=True, color_system="standard", width=120)
    render(agree(tmp_path / "judged", tmp_path / "l.jsonl"), shown)
    (line,) = [line for line in text.getvalue().splitlines() if "human" in line and "pass/fail" in line]
    assert f"\x1b[{color}mkind (judge)" in line
    (other,) = [
        line
        for line in text.getvalue().splitlines()
        if "warm (judge)" in line and "kind (judge)" in line and "pass/fail" in line
    ]
    assert "\x1b[3" not in other


def test_many_pairs_are_capped_too(tmp_path: Path) -> None:
    others = [verdict(f"c{number}", False, "contains") for number in range(60)]
    write_run(tmp_path / "run", scenario_report("talk", trial(1, verdict("kind", True), *others)))
    out = printed("run", cwd=tmp_path)
    assert "… and 10 more, see --json" in out
    assert "… and 50 differences of 50 more pairs, see --json" in out


def test_labels_without_a_verdict_are_told(tmp_path: Path) -> None:
    rows = [trial(1, verdict("kind", True)), *(trial(seed, error="timeout") for seed in range(2, 10))]
    write_run(tmp_path / "run", scenario_report("talk", *rows))
    write_labels(tmp_path / "l.jsonl", [label(seed, True) for seed in range(1, 10)])
    out = printed("run", "--labels", "l.jsonl", cwd=tmp_path)
    assert "8 labels without a verdict to compare, in no figure above:\n" in out
    assert "  line 2: talk seed 2, kind: the trial ended in an error: timeout\n" in out
    assert "  … and 3 more, see --json" in out


def test_text_of_a_report_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[31mred\nnext [bold]line[/bold] :smile: \u202e"
    rows = [trial(1, verdict(evil, True, reason=evil), verdict("c", False, "contains")), trial(2, error=evil)]
    write_run(tmp_path / "run", scenario_report(evil, *rows))
    labels = [label(seed, False, evil, scenario=evil, criterion=evil) for seed in (1, 2)]
    labels += [label(1, False, "b", scenario=evil, criterion=evil)]
    write_labels(tmp_path / "l.jsonl", labels)
    out = printed("run", "--labels", "l.jsonl", cwd=tmp_path)
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\nnext" not in out
    assert "[bold]line[/bold] :smile:" in out


def test_bad_labels_are_refused_together_and_nothing_is_printed(run: Path) -> None:
    write_labels(run.parent / "bad.jsonl", [label(1, True, scenario="tlk"), "{", label(2, 4)])
    result = synthesis("agree", "run", "--labels", "bad.jsonl", cwd=run.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert (
        'synthesis: bad.jsonl:1: no scenario "tlk" in the report\n  fix: did you mean "talk"?'
        in result.stderr
    )
    assert "synthesis: bad.jsonl:2: not a JSON object" in result.stderr
    assert 'bad.jsonl:3: "label" is points, but true or false in line 1' in result.stderr
    assert "3 problems" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing",), "missing: there is no report here"),
        (("run/transcripts",), "run/transcripts: there is no report here"),
        (("s.py",), "s.py: not a run report"),
        (
            ("run",),
            "run/report.json: no trial has two verdicts to compare: the run was scored without a judge",
        ),
        (("run", "--labels", "missing.jsonl"), "missing.jsonl: cannot be read: No such file or directory"),
        (("run", "--labels", "run"), "run: cannot be read: Is a directory"),
        (("run", "--labels", "empty.jsonl"), "empty.jsonl: there are no labels in it"),
        ((), "fix: see synthesis agree --help"),
        (("run", "--label", "x"), "fix: see synthesis agree --help"),
    ],
    ids=str,
)
def test_bad_input_ends_with_1(run: Path, arguments: tuple[str, ...], said: str) -> None:
    (run.parent / "empty.jsonl").touch()
    result = synthesis("agree", *arguments, cwd=run.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"max_score":3.0', '"max_score":0'),
        ('"max_score":3.0', '"max_score":NaN'),
        ('"score":3.0', '"score":Infinity'),
    ],
)
def test_a_report_with_points_that_are_none_is_refused(run: Path, old: str, new: str) -> None:
    text = (run / "report.json").read_text()
    assert old in text
    (run / "report.json").write_text(text.replace(old, new))
    result = synthesis("agree", "run", "--labels", "labels.jsonl", cwd=run.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert "run/report.json: not a run report" in result.stderr


@pytest.mark.parametrize("spoilt", ['{"kind": "check"}', "[", "{}", ""])
def test_a_spoilt_report_is_refused(run: Path, spoilt: str) -> None:
    (run / "report.json").write_text(spoilt)
    result = synthesis("agree", "run", "--labels", "labels.jsonl", cwd=run.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert "run/report.json: not a run report" in result.stderr


def test_a_checker_that_was_really_run_is_compared_with_people(tmp_path: Path) -> None:
    replies = {"1": ["You'll be fine."], "2": ["That sounds heavy."]}
    talk = scenario("talk", prompt="I lost my job.", seeds=2, rubric=[{"unverifiable_reassurance": True}])
    write(tmp_path / "s.json", {**talk, "subject": {"type": "scripted", "replies": replies}})
    assert synthesis("eval", "s.json", "--out", "run", "-q", cwd=tmp_path).returncode == 0
    labels = [label(seed, seed == 2, criterion="unverifiable_reassurance") for seed in (1, 2)]
    write_labels(tmp_path / "l.jsonl", labels)
    (pair,) = json.loads(printed("run", "--labels", "l.jsonl", "--json", cwd=tmp_path))["pairs"]
    assert (pair["first"]["kind"], pair["trials"], pair["kappa"], pair["alpha"]) == ("criterion", 2, 1.0, 1.0)


def test_a_judge_that_was_really_asked_is_compared_with_itself_and_with_people(tmp_path: Path) -> None:
    model = {"model": {"replies": [["4", "5"], ["1", "2"]]}}
    judge = {"name": "kind", "judge": "Is it kind?", "max_score": 5, "pass_at": 3, "judge_model": model}
    write(tmp_path / "s.json", scenario(seeds=2, rubric=[{**judge, "judge_repeats": 2}]))
    assert synthesis("eval", "s.json", "--out", "run", "-q", cwd=tmp_path).returncode == 0
    write_labels(tmp_path / "l.jsonl", [label(1, 3), label(2, 1.5)])
    report = json.loads(printed("run", "--labels", "l.jsonl", "--json", cwd=tmp_path))
    points, verdicts = report["pairs"]
    assert (points["metric"], points["agreement"]) == ("interval", 0.5)
    assert (verdicts["metric"], verdicts["agreement"], verdicts["first_rate"]) == ("nominal", 1.0, 0.5)
    (repeats,) = report["repeats"]
    # 4, 5 and 1, 2: observed 2 + 2, by chance 2 * 4 * 10 / 3
    assert (repeats["trials"], repeats["scores"], repeats["alpha"]) == (2, 4, 0.85)
