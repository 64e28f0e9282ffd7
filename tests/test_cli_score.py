"""`synthesis score`: the same transcripts under today's rubric, no subject called, the old report kept."""

import json
from pathlib import Path

import pytest
from scenario_files import Definition, report_of, scenario, synthesis, tree, trials, write

from harness.cli import main
from harness.run_report import RunReport


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of two scenarios that reached every point."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "s.json", scenario("a", seeds=2, system="Be kind."), scenario("b", tags=["x"]))
    assert main(["eval", "s.json", "--out", "run", "-q"]) == 0
    return tmp_path / "run"


def cut(report: Path, lines: int) -> None:
    report.write_bytes(b"".join(report.read_bytes().splitlines(keepends=True)[:lines]))


def new_reports(run: Path) -> list[Definition]:
    return [json.loads(path.read_bytes()) for path in sorted(run.glob("report-*.json"))]


def scores(report: Definition) -> list[tuple[str, int, float | None]]:
    return [(name, seed, trial["score"]) for name, seed, trial in trials(report)]


def test_an_unchanged_rubric_gives_the_same_figures_in_a_new_report(run: Path) -> None:
    before = (run / "report.json").read_bytes()
    assert main(["score", "run"]) == 0
    (again,) = new_reports(run)
    RunReport.model_validate(again)
    old = json.loads(before)
    for timed in (old, again):
        timed.pop("timing")
    assert again == old
    assert (run / "report.json").read_bytes() == before
    assert main(["score", "run"]) == 0
    assert len(new_reports(run)) == 1, "the same scoring has the same name"


def test_a_report_that_was_formatted_since_reads_the_same(run: Path) -> None:
    assert main(["score", "run"]) == 0
    first = new_reports(run)
    (run / "report.json").write_text(json.dumps(report_of(run), indent=4))
    assert main(["score", "run"]) == 0
    assert [report["scenarios"] for report in new_reports(run)] == [first[0]["scenarios"]]


def test_today_s_rubric_of_the_scenario_file_is_used(run: Path) -> None:
    write(run.parent / "s.json", scenario("a", rubric=[{"contains": "goodbye"}]), scenario("b"))
    assert main(["score", "run"]) == 0
    (again,) = new_reports(run)
    assert scores(again) == [("a", 1, 0), ("a", 2, 0), ("b", 1, 1)]
    assert again["scenarios"][0]["rubric"] == [{"contains": "goodbye"}]


def test_no_subject_is_called_and_no_transcript_touched(run: Path) -> None:
    subject = {"type": "command", "command": ["touch", str(run.parent / "called")]}
    write(run.parent / "s.json", scenario("a", subject=subject), scenario("b", subject=subject))
    before = {path: path.read_bytes() for path in (run / "transcripts").iterdir()}
    assert main(["score", "run"]) == 0
    assert not (run.parent / "called").exists()
    assert {path: path.read_bytes() for path in (run / "transcripts").iterdir()} == before


def test_another_rubric_for_everything(run: Path) -> None:
    rubric = run.parent / "r.json"
    rubric.write_text(json.dumps({"rubric": [{"contains": "hello"}, {"contains": "goodbye", "weight": 3}]}))
    result = synthesis("score", "run", "--rubric", "r.json", "--min-mean", "0.5", cwd=run.parent)
    assert result.returncode == 2
    assert "min mean 0.5 FAILED: 0.25, short by 0.25; below it: a, b" in result.stdout
    (again,) = new_reports(run)
    assert scores(again) == [("a", 1, 0.25), ("a", 2, 0.25), ("b", 1, 0.25)]
    assert main(["score", "run", "--rubric", "r.json", "--min-mean", "0.25"]) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"rubric": [{"contain": "x"}]}', 'r.json:/rubric/0: unknown key "contain"'),
        ('{"rubric": []}', 'r.json:/rubric: "rubric" is empty'),
        ('{"rubric": [{"score": "os.system"}]}', '"score" is a function'),
        ('{"scenarios": []}', "r.json: "),
        ("nonsense", "r.json: not readable as JSON"),
        (None, "r.json: not readable as JSON"),
    ],
)
def test_a_bad_rubric_is_refused_and_nothing_is_written(run: Path, content: str | None, said: str) -> None:
    if content is not None:
        (run.parent / "r.json").write_text(content)
    before = tree(run.parent)
    result = synthesis("score", "run", "--rubric", "r.json", cwd=run.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr
    assert tree(run.parent) == before


def test_a_scenario_that_is_gone_is_scored_by_what_the_report_recorded(run: Path) -> None:
    write(run.parent / "s.json", scenario("b"))
    result = synthesis("score", "run", cwd=run.parent)
    assert result.returncode == 0
    assert "1 scenario scored by the rubric in the report: no longer in s.json: a\n" in result.stderr
    assert scores(new_reports(run)[0]) == [("a", 1, 1), ("a", 2, 1), ("b", 1, 1)]


def test_what_was_scored_by_the_report_is_said_once_a_file(run: Path) -> None:
    (run.parent / "s.json").unlink()
    err = synthesis("score", "run", cwd=run.parent).stderr
    (line,) = [line for line in err.splitlines() if "scored by" in line]
    assert line.startswith("synthesis: 2 scenarios scored by the rubric in the report: s.json is not there")


def test_scenario_files_are_found_from_another_folder_too(run: Path) -> None:
    write(run.parent / "s.json", scenario("a", rubric=[{"contains": "goodbye"}]), scenario("b"))
    (run.parent / "inner").mkdir()
    result = synthesis("score", "../run", cwd=run.parent / "inner")
    assert (result.returncode, result.stderr) == (0, "")
    assert scores(new_reports(run)[0]) == [("a", 1, 0), ("a", 2, 0), ("b", 1, 1)]


def test_a_transcript_that_is_gone_makes_the_report_incomplete(run: Path) -> None:
    (run / "transcripts" / "a-2.jsonl").unlink()
    assert main(["score", "run"]) == 1
    (again,) = new_reports(run)
    assert again["summary"]["not_run"] == 1
    assert again["summary"]["complete"] is False


@pytest.mark.parametrize("name", ["../outside.jsonl", "/etc/passwd"])
def test_a_report_cannot_point_out_of_its_run(run: Path, name: str) -> None:
    (run.parent / "outside.jsonl").write_bytes((run / "transcripts" / "a-1.jsonl").read_bytes())
    report = report_of(run)
    report["scenarios"][0]["trials"][0]["transcript"] = name
    (run / "report.json").write_text(json.dumps(report))
    result = synthesis("score", "run", cwd=run.parent)
    assert result.returncode == 1
    assert "the transcript lies outside the run" in result.stderr


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda run: (run / "report.json").unlink(), "there is no report here"),
        (lambda run: (run / "report.json").write_text("{}"), "not a run report"),
        (lambda run: (run / "report.json").write_text("["), "not a run report"),
        (lambda run: cut(run / "report.json", 2), "not a run report"),
        (lambda run: cut(run / "report.json", 4), "not a run report"),
        (lambda run: (run / "transcripts" / "b-1.jsonl").write_text("x\n"), "b-1.jsonl:1: not JSON"),
    ],
)
def test_a_spoilt_run_is_refused(run: Path, spoil: object, said: str) -> None:
    assert callable(spoil)
    spoil(run)
    result = synthesis("score", "run", cwd=run.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_no_run_there(tmp_path: Path) -> None:
    result = synthesis("score", "missing", cwd=tmp_path)
    assert result.returncode == 1
    assert "missing: there is no report here" in result.stderr


def test_json_is_the_new_report_alone(run: Path) -> None:
    result = synthesis("score", "run", "--json", cwd=run.parent)
    assert json.loads(result.stdout) == new_reports(run)[0]


PYTHON = """
from pathlib import Path
Path("ran").touch()
scenarios = [dict(name="py", prompt="hi", subject=dict(type="scripted", replies=["hello"]), rubric=[%s])]
"""


def python_run(folder: Path, rubric: str) -> None:
    (folder / "p.py").write_text(PYTHON % rubric)
    assert main(["eval", "p.py", "--out", "code", "-q"]) == 0
    (folder / "ran").unlink()


def test_a_report_is_no_reason_to_run_the_python_it_names(run: Path) -> None:
    python_run(run.parent, "dict(contains='hello')")
    result = synthesis("score", "code", cwd=run.parent)
    assert result.returncode == 0
    assert "p.py is code: name it if you trust it: synthesis score code --scenarios p.py" in result.stderr
    assert not (run.parent / "ran").exists()
    (run.parent / "p.py").write_text(PYTHON % "dict(contains='goodbye')")
    result = synthesis("score", "code", "--scenarios", "p.py", "--min-mean", "1", cwd=run.parent)
    assert result.returncode == 2
    assert "p.py is code: it runs with your rights" in result.stderr
    assert (run.parent / "ran").exists()


def test_a_rubric_with_a_function_needs_its_file_named(run: Path) -> None:
    python_run(run.parent, "dict(score=lambda run: 0.5)")
    result = synthesis("score", "code", cwd=run.parent)
    assert result.returncode == 1
    assert (
        "py: the rubric has a function in it\n  fix: name its file if you trust it: "
        "synthesis score code --scenarios p.py" in result.stderr
    )
    assert not (run.parent / "ran").exists()
    assert main(["score", "code", "--scenarios", "p.py"]) == 0
    assert scores(new_reports(run.parent / "code")[0]) == [("py", 1, 0.5)]
    refused = synthesis("score", "code", "--scenarios", "p.py", "--data-only", cwd=run.parent)
    assert refused.returncode == 1
    assert "p.py: a .py file is code" in refused.stderr
