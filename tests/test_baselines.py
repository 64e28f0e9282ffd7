"""`synthesis baseline` and `synthesis eval --baseline`, through the real command."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scenario_files import synthesis, tree, write
from scored_runs import make_run, scored

from harness.cli import main

HERE = Path()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def saved() -> Path:
    """A baseline called main of a run in `old`."""
    make_run(Path("old"), *(scored(f"s{i}", [1, 1]) for i in range(10)))
    assert main(["baseline", "save", "old", "--as", "main"]) == 0
    return Path("baselines/main")


def lower() -> None:
    write(Path("new.json"), *(scored(f"s{i}", [0.5, 0.25 * (i % 3)]) for i in range(10)))


def test_a_baseline_is_a_run_that_can_be_committed_and_scored_again(saved: Path) -> None:
    assert (saved / "report.json").read_bytes() == Path("old/report.json").read_bytes()
    assert not (saved / "workspaces").exists()
    manifest = json.loads((saved / "baseline.json").read_bytes())
    assert (manifest["kind"], manifest["mean"], manifest["scenarios"]) == ("baseline", 1.0, 10)
    assert len(manifest["files"]) == 20
    shutil.rmtree("old")
    assert main(["score", str(saved)]) == 0


def test_what_judges_said_is_kept_too() -> None:
    make_run(Path("old"), scored("a", [1]))
    (Path("old/judgments") / "ab").mkdir(parents=True)
    Path("old/judgments/ab/x.json").write_text("{}")
    assert main(["baseline", "save", "old", "--as", "main"]) == 0
    assert Path("baselines/main/judgments/ab/x.json").read_text() == "{}"


def test_saving_twice_gives_the_same_bytes(saved: Path) -> None:
    assert main(["baseline", "save", "old", "--as", "again"]) == 0
    first, second = (
        json.loads((saved.parent / name / "baseline.json").read_bytes()) for name in ("main", "again")
    )
    assert {**first, "name": ""} == {**second, "name": ""}


def test_hashes_alone_where_transcripts_are_too_much(saved: Path) -> None:
    assert main(["baseline", "save", "old", "--as", "thin", "--no-transcripts"]) == 0
    thin = saved.parent / "thin"
    assert sorted(file.name for file in thin.iterdir()) == ["baseline.json", "report.json"]
    kept = json.loads((saved / "baseline.json").read_bytes())["files"]
    assert json.loads((thin / "baseline.json").read_bytes())["files"] == kept
    assert main(["compare", "thin", "old"]) == 0


def test_list_show_and_remove(saved: Path) -> None:
    assert synthesis("baseline", "list", cwd=HERE).stdout.startswith("main  mean 1.0  10 scenarios, 20 of 20")
    shown = synthesis("baseline", "show", "main", cwd=HERE)
    assert json.loads(shown.stdout)["name"] == "main"
    assert main(["baseline", "remove", "main"]) == 0
    assert not saved.exists()
    assert synthesis("baseline", "list", cwd=HERE).stdout.startswith("no baselines; save one")


def test_a_name_is_not_taken_over_by_oversight(saved: Path) -> None:
    make_run(Path("other"), scored("a", [0.5]))
    before = (saved / "report.json").read_bytes()
    done = synthesis("baseline", "save", "other", "--as", "main", cwd=HERE)
    assert done.returncode == 1
    assert "a baseline of this name is there already" in done.stderr
    assert (saved / "report.json").read_bytes() == before
    assert main(["baseline", "save", "other", "--as", "main", "--replace"]) == 0
    assert json.loads((saved / "baseline.json").read_bytes())["mean"] == 0.5
    assert not list(saved.parent.glob(".saving-*"))


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".hidden", "x" * 81, "a b", "-x\n"])
def test_names_stay_in_their_folder(saved: Path, name: str) -> None:
    before = tree(HERE)
    done = synthesis("baseline", "save", "old", f"--as={name}", cwd=HERE)
    assert done.returncode == 1
    assert "is no name for a baseline" in done.stderr
    done = synthesis("baseline", "remove", "--", name, cwd=HERE)
    assert done.returncode == 1
    assert tree(HERE) == before


def test_only_baselines_are_removed(saved: Path) -> None:
    foreign = saved.parent / "mine"
    foreign.mkdir()
    (foreign / "notes.txt").write_text("keep me")
    assert synthesis("baseline", "remove", "mine", cwd=HERE).returncode == 1
    assert synthesis("baseline", "save", "old", "--as", "mine", "--replace", cwd=HERE).returncode == 1
    assert (foreign / "notes.txt").read_text() == "keep me"
    (saved.parent / "link").symlink_to(saved.absolute())
    done = synthesis("baseline", "remove", "link", cwd=HERE)
    assert done.returncode == 1
    assert "this is no baseline of ours" in done.stderr
    assert (saved / "report.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "nothing"], "there is no such baseline\n  fix: use one of: main"),
        (["save", "old"], "the baseline has no name"),
        (["save"], "save what?"),
        (["remove"], "remove what?"),
        (["keep", "old"], '"keep" is not known'),
        (["save", "nowhere", "--as", "x"], "nowhere: no such run, report or baseline"),
        (["save", "old.json", "--as", "x"], "not a run report"),
    ],
)
def test_what_cannot_be_done_is_said(saved: Path, arguments: list[str], said: str) -> None:
    done = synthesis("baseline", *arguments, cwd=HERE)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert [folder.name for folder in saved.parent.iterdir()] == ["main"]


def test_damage_is_seen(saved: Path) -> None:
    (saved / "transcripts" / "s0-1.jsonl").unlink()
    (saved / "transcripts" / "s1-1.jsonl").write_text("other")
    done = synthesis("baseline", "show", "main", cwd=HERE)
    assert done.returncode == 1
    assert "transcripts/s0-1.jsonl is missing" in done.stderr
    assert "transcripts/s1-1.jsonl was changed" in done.stderr
    (saved / "report.json").write_text(
        (saved / "report.json").read_text().replace('"score":1.0', '"score":0.5', 1)
    )
    done = synthesis("compare", "main", "old", cwd=HERE)
    assert done.returncode == 1
    assert "the report of this baseline was changed after it was saved" in done.stderr


@pytest.mark.parametrize("spoil", [Path.unlink, lambda file: file.write_text(file.read_text() + " ")])
def test_what_was_changed_is_neither_compared_nor_scored_again(
    saved: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(saved / "transcripts" / "s1-1.jsonl")
    make_run(Path("new"), scored("s1", [1, 1], rubric=[{"name": "half", "contains": "<2>"}]))
    for options in ([], ["--rescore"]):
        done = synthesis("compare", "main", "new", *options, cwd=HERE)
        assert (done.returncode, done.stdout) == (1, "")
        assert "baselines/main: not as it was saved: transcripts/s1-1.jsonl " in done.stderr
    assert not list(saved.glob("report-*.json"))


def test_eval_against_a_baseline(saved: Path) -> None:
    lower()
    done = synthesis("eval", "new.json", "--baseline", "main", "--out", "new", cwd=HERE)
    assert done.returncode == 0, done.stderr
    assert "main → new" in done.stdout
    assert "worse beyond chance" in done.stdout
    written = json.loads(Path("new/comparison.json").read_bytes())
    assert (written["kind"], written["base"]["name"]) == ("comparison", "main")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-on-regression"], 2),
        (["--max-drop", "0.9"], 0),
        (["--max-scenario-drop", "0.3"], 2),
        (["--max-drop", "0.9", "--min-mean", "0.9"], 2),
    ],
)
def test_limits_of_the_comparison_count_beside_thresholds(saved: Path, options: list[str], code: int) -> None:
    lower()
    assert synthesis("eval", "new.json", "--baseline", "main", *options, cwd=HERE).returncode == code


def test_quiet_says_only_what_went_wrong(saved: Path) -> None:
    lower()
    done = synthesis("eval", "new.json", "--baseline", "main", "-q", cwd=HERE)
    assert (done.returncode, done.stdout) == (0, "")
    done = synthesis("eval", "new.json", "--baseline", "main", "-q", "--max-drop", "0.1", cwd=HERE)
    assert done.returncode == 2
    assert "max drop 0.1 FAILED" in done.stdout


def test_json_of_eval_stays_the_report_alone(saved: Path) -> None:
    lower()
    done = synthesis("eval", "new.json", "--baseline", "main", "--fail-on-regression", "--json", cwd=HERE)
    assert done.returncode == 2
    assert json.loads(done.stdout)["kind"] == "run"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--baseline", "nothing"], "nothing: no such run, report or baseline"),
        (["--fail-on-regression"], "there is nothing to compare with"),
        (["--baseline", "main", "--max-drop", "2"], '"2" is not a number from 0 to 1'),
        (["--baseline", "other"], "other: the baseline has none of these scenarios"),
    ],
)
def test_what_cannot_be_compared_is_said_before_anything_runs(
    saved: Path, options: list[str], said: str
) -> None:
    make_run(Path("other"), scored("elsewhere", [1]))
    lower()
    before = tree(HERE)
    done = synthesis("eval", "new.json", *options, cwd=HERE)
    assert done.returncode == 1
    assert said in done.stderr
    assert tree(HERE) == before


def test_a_changed_rubric_is_said_before_anything_runs_and_rescore_helps(saved: Path) -> None:
    lower()
    for file in ("new.json", "old.json"):
        content = json.loads(Path(file).read_text())
        content["scenarios"][0]["rubric"] = [{"name": "half", "contains": "<2>"}]
        Path(file).write_text(json.dumps(content))
    before = tree(HERE)
    done = synthesis("eval", "new.json", "--baseline", "main", cwd=HERE)
    assert done.returncode == 1
    assert "main and this run: the two runs were not scored alike: the rubric of s0" in done.stderr
    assert tree(HERE) == before
    done = synthesis("eval", "new.json", "--baseline", "main", "--rescore", "--out", "new", cwd=HERE)
    assert done.returncode == 0, done.stderr
    assert "main was scored again" in done.stderr


def test_what_to_type_to_go_on_names_the_baseline(saved: Path) -> None:
    write(
        Path("new.json"), *(scored(f"s{i}", [1], prompt=["hi", "and?"]) for i in range(2)), scored("s3", [1])
    )
    done = synthesis("eval", "new.json", "--baseline", "main", "--max-drop", "0.1", "--out", "new", cwd=HERE)
    assert done.returncode == 1
    assert "--max-drop 0.1 --resume new" in done.stdout.replace("--rescore", "")
    assert "--baseline main" in done.stdout


@pytest.mark.parametrize(
    "limit", [["--fail-on-regression"], ["--max-drop", "0"], ["--max-scenario-drop", "0"]]
)
def test_a_run_that_is_held_to_its_baseline_does_not_stop_early(saved: Path, limit: list[str]) -> None:
    lower()
    before = tree(HERE)
    early = ["--min-mean", "0.1", "--stop", "decided"]
    done = synthesis("eval", "new.json", "--baseline", "main", *limit, *early, cwd=HERE)
    assert done.returncode == 1
    assert "--stop decided: it stops when thresholds are decided" in done.stderr
    assert tree(HERE) == before
    assert synthesis("eval", "new.json", "--baseline", "main", *early, cwd=HERE).returncode == 0


def test_a_baseline_that_scoring_again_does_not_help_is_said_before_anything_runs(saved: Path) -> None:
    write(Path("new.json"), scored("s0", [1], rubric=[{"name": "half", "contains": "<2>"}]))
    done = synthesis("eval", "new.json", "--baseline", "main", "--rescore", "--out", "new", cwd=HERE)
    assert done.returncode == 1
    assert "main and this run: the two runs were not scored alike: the rubric of s0" in done.stderr
    advice = done.stderr.split("fix: ")[1]
    assert "synthesis score baselines/main" in advice
    assert "--rescore" not in advice
    assert not Path("new").exists()
    assert main(["score", str(saved), "--scenarios", "new.json"]) == 0
    done = synthesis("eval", "new.json", "--baseline", "main", "--out", "new", cwd=HERE)
    assert done.returncode == 0, done.stderr
    assert "main is taken as it was scored again: baselines/main/report-" in done.stderr


def test_a_baseline_without_transcripts_is_not_scored_again_after_a_run_but_refused_before(
    saved: Path,
) -> None:
    assert main(["baseline", "save", "old", "--as", "thin", "--no-transcripts"]) == 0
    write(Path("new.json"), scored("s0", [1], rubric=[{"name": "half", "contains": "<2>"}]))
    before = tree(HERE)
    done = synthesis("eval", "new.json", "--baseline", "thin", "--rescore", cwd=HERE)
    assert done.returncode == 1
    assert "baselines/thin: no transcripts to score again" in done.stderr
    assert tree(HERE) == before


def test_a_comparison_that_fails_leaves_the_table_of_the_run() -> None:
    make_run(Path("old"), scored("a", [1], prompt=["hi", "and?"]), scored("b", [1]))
    write(Path("new.json"), scored("a", [1]))
    done = synthesis("eval", "new.json", "--baseline", "old", "--out", "new", cwd=HERE)
    assert done.returncode == 1
    assert "the two runs have no scored scenario in common" in done.stderr
    assert "report: new/report.json" in done.stdout
