"""`synthesis eval` through its real entry point: exit codes, what is written, what reaches the terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from scenario_files import (
    Definition,
    command,
    environment,
    report_of,
    scenario,
    synthesis,
    tree,
    trials,
    write,
)

from harness.cli import main
from harness.evaluation_request import EvaluationRequest
from harness.run_report import RunReport
from harness.transcript import read_transcript

Run = subprocess.CompletedProcess[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a scenario that reaches every point and one that reaches half."""
    monkeypatch.chdir(tmp_path)
    half = [{"contains": "hello"}, {"contains": "missing"}]
    write(tmp_path / "s.json", scenario("good", tags=["fine"], seeds=2), scenario("half", rubric=half))
    return tmp_path


def refused(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must end with 1, print nothing on stdout and write nothing."""
    before = tree(Path())
    assert main(["eval", *arguments]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("synthesis: ")
    assert tree(Path()) == before
    return err


# Refused before anything is written


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "0"], '--seeds: "0": not between 1 and 100000 seeds'),
        (["--seeds", "-1"], '--seeds: "-1": not a number of seeds'),
        (["--seeds", "3,3"], '--seeds: "3,3": a seed is listed twice'),
        (["--seeds", "2x"], '--seeds: "2x": not a number of seeds'),
        (["--jobs", "0"], '--jobs: "0" is not a whole number of at least 1'),
        (["--jobs", "10001"], '--jobs: "10001" is more than 10000'),
        (["--jobs", "x"], '--jobs: "x" is not a whole number'),
        (["--min-mean", "85"], '--min-mean: "85" is not a number from 0 to 1'),
        (["--min-mean", "nan"], '--min-mean: "nan" is not a number from 0 to 1'),
        (["--min-worst", "-0.1"], '--min-worst: "-0.1" is not'),
        (["--min-scenario-mean", "inf"], '--min-scenario-mean: "inf" is not'),
        (["--max-errors", "-1"], '--max-errors: "-1" is not a whole number'),
        (["--timeout", "0"], '--timeout: "0" is not a number of seconds above 0'),
        (["--timeout", "nan"], '--timeout: "nan" is not'),
        (["--timeout", "inf"], '--timeout: "inf" is not'),
        (["--keep-workspaces", "some"], '--keep-workspaces: "some" is not known'),
        (["--scenario", "nothing*"], "no scenario is left by --scenario and --tag"),
        (["--tag", "nothing"], "no scenario is left by --scenario and --tag"),
        (["--out", "a", "--resume", "b"], "--out and --resume both name a folder"),
        (["--resume", "missing"], "missing: there is no run here"),
        (["--resume", "."], ".: there is no run here"),
        (["--out", "s.json"], "s.json: this is a file"),
        (["--out", "."], ".: the folder is not empty"),
        (["--out", "s.json/inner"], "s.json/inner: cannot be written"),
        (["missing.json"], "missing.json: no such file or folder"),
        (["--nonsense"], "No such option"),
        (["--nonsense"], "fix: see synthesis eval --help"),
        (["--seeds"], "requires an argument"),
        (["--seeds", "\x1b[31m"], '--seeds: "\\x1b[31m": not'),
    ],
)
def test_bad_arguments_exit_1_and_write_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    err = refused(capfd, "s.json", *arguments)
    assert said in err
    assert "\n  fix: " in err
    assert "\x1b" not in err


def test_a_folder_without_scenarios_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert "empty: no scenarios" in refused(capfd, "empty")


def test_a_json_file_that_is_no_scenario_file_is_refused(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "package.json").write_text("{}")
    assert "package.json: not a scenario file" in refused(capfd, ".")


def test_words_that_are_missing_are_noticed_before_the_run(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(folder / "s.json", scenario(rubric=[{"topic_pivot": True}]))
    (folder / "synthesis.toml").write_text('[check]\nlanguage = "tlh"\n')
    assert 'no lexicon for language "tlh"' in refused(capfd, "s.json")


def test_a_run_is_not_written_over(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "s.json", "--out", "run", "-q"]) == 0
    capfd.readouterr()
    assert (
        "run: a run lies here already\n  fix: choose another --out, or go on with it: --resume run"
        in refused(capfd, "s.json", "--out", "run")
    )


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (["--min-mean", "0.83", "--min-worst", "0.5", "--min-scenario-mean", "0.5"], 0),
        (["--min-mean", "0.84"], 2),
        (["--min-worst", "0.51"], 2),
        (["--min-scenario-mean", "0.51"], 2),
        (["--min-worst", "0.51", "--scenario", "good"], 0),
        (["--min-mean", "1", "--tag", "fine"], 0),
    ],
)
def test_thresholds_decide_the_exit_code(folder: Path, arguments: list[str], code: int) -> None:
    assert main(["eval", "s.json", "--out", "run", "-q", *arguments]) == code
    assert report_of(folder / "run")["exit_code"] == code


def test_a_failed_threshold_says_which_by_how_much_and_who_did_it(folder: Path) -> None:
    result = synthesis(
        "eval", "s.json", "--out", "run", "--min-worst", "0.75", "--min-mean", "0.5", cwd=folder
    )
    assert result.returncode == 2
    assert "min worst 0.75 FAILED: 0.5, short by 0.25; below it: half" in result.stdout
    assert "min mean 0.5 holds: 0.8333" in result.stdout


def test_the_summary_shows_each_scenario_what_cost_points_and_where_things_are(folder: Path) -> None:
    result = synthesis("eval", "s.json", "--out", "run", cwd=folder)
    assert result.returncode == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["scenario", "trials", "mean", "worst", "stdev", "errors"] in rows
    assert ["good", "2/2", "1.00", "1.00", "0.00", "0"] in rows
    assert ["half", "1/1", "0.50", "0.50", "–", "0"] in rows
    assert "  half seed 1: 0.50" in result.stdout
    assert "contains: missing (−1 of 1): the result does not contain 'missing'" in result.stdout
    assert "report: run/report.json" in result.stdout
    assert "next: synthesis score run" in result.stdout
    assert tree(folder / "run" / "transcripts") == ["good-1.jsonl", "good-2.jsonl", "half-1.jsonl"]


def test_errors_exit_1_unless_that_many_were_allowed(folder: Path) -> None:
    write(folder / "s.json", scenario("good"), scenario("short", prompt=["one", "two"]))
    result = synthesis("eval", "s.json", "--out", "run", cwd=folder)
    assert result.returncode == 1
    assert "INCOMPLETE: 1 trial ended in an error" in result.stdout
    assert "error in short-1: script: " in result.stderr
    assert report_of(folder / "run")["summary"]["complete"] is False
    assert main(["eval", "s.json", "--out", "two", "-q", "--max-errors", "1"]) == 0
    assert main(["eval", "s.json", "--out", "three", "-q", "--max-errors", "1", "--min-worst", "1"]) == 0


def test_errors_that_were_accepted_are_no_reason_to_go_on(folder: Path) -> None:
    write(folder / "s.json", scenario("good"), scenario("short", prompt=["one", "two"]))
    result = synthesis("eval", "s.json", "--out", "run", "--max-errors", "1", cwd=folder)
    assert result.returncode == 0
    assert "1 error, accepted" in result.stdout
    assert "INCOMPLETE" not in result.stdout
    assert "--resume" not in result.stdout
    write(folder / "s.json", scenario("good"))
    assert "1 of 1 trial scored" in synthesis("eval", "s.json", "--out", "one", cwd=folder).stdout


def test_nothing_scored_exits_1_and_says_so(folder: Path) -> None:
    write(
        folder / "s.json",
        scenario("talk", "Paris.", prompt="Capital of France?", rubric=[{"topic_pivot": True}]),
    )
    result = synthesis("eval", "s.json", "--out", "run", cwd=folder)
    assert result.returncode == 1
    assert "NOTHING SCORED" in result.stdout


# What is printed


def test_list_prints_the_plan_and_runs_nothing(folder: Path) -> None:
    (folder / "t.py").write_text(f"scenarios = [{scenario('from python', seeds=[3, 9])!r}]")
    before = tree(folder)
    result = synthesis("eval", ".", "--list", cwd=folder)
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "good  seeds 1,2  s.json",
        "half  seeds 1  s.json",
        "from python  seeds 3,9  t.py",
        "3 scenarios, 5 trials; nothing was run",
    ]
    assert "t.py is code: it runs with your rights" in result.stderr
    assert tree(folder) == before
    seeded = synthesis("eval", "s.json", "--list", "--seeds", "7,8", cwd=folder)
    assert "7,8" in seeded.stdout
    assert "--seeds wins over the seeds that 1 scenario asks for itself" in seeded.stderr
    one = synthesis("eval", "s.json", "--list", "--scenario", "half", cwd=folder)
    assert one.stdout.endswith("\n1 scenario, 1 trial; nothing was run\n")


def test_json_prints_the_report_and_nothing_else_on_stdout(folder: Path) -> None:
    result = synthesis("eval", "s.json", "--out", "run", "--json", "--min-mean", "1", cwd=folder)
    assert result.returncode == 2
    assert result.stdout == (folder / "run" / "report.json").read_text("utf-8")
    RunReport.model_validate_json(result.stdout)


def test_quiet_says_only_what_went_wrong(folder: Path) -> None:
    fine = synthesis("eval", "s.json", "--out", "1", "-q", cwd=folder)
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "", "")
    bad = synthesis("eval", "s.json", "--out", "2", "-q", "--min-mean", "1", cwd=folder)
    assert bad.returncode == 2
    assert "min mean 1 FAILED" in bad.stdout


def test_seeds_from_the_command_line_win_and_say_so(folder: Path) -> None:
    result = synthesis("eval", "s.json", "--out", "run", "--seeds", "3,", cwd=folder)
    assert "--seeds wins over the seeds that 1 scenario asks for itself" in result.stderr
    assert [(name, seed) for name, seed, _ in trials(report_of(folder / "run"))] == [("good", 3), ("half", 3)]


def test_a_timeout_from_the_command_line_wins_and_says_so(folder: Path) -> None:
    code = slow(folder, 1.0, 1).read_text().replace('"prompt"', '"timeout": 30, "prompt"')
    (folder / "slow.py").write_text(code)
    won = synthesis("eval", "slow.py", "--out", "1", "--timeout", "0.1", cwd=folder)
    assert "--timeout wins over the timeout that 1 scenario asks for itself" in won.stderr
    assert "slow-1: timeout: not finished after 0.1 s" in won.stderr
    (folder / "synthesis.toml").write_text("[eval]\ntimeout = 0.1\n")
    own = synthesis("eval", "slow.py", "--out", "2", cwd=folder)
    assert own.returncode == 0, own.stderr
    assert "wins" not in own.stderr


def test_no_more_jobs_than_trials(folder: Path) -> None:
    resolved = EvaluationRequest(paths=("s.json",), jobs="10000").resolve(lambda _: None)
    assert resolved.models.at_once == 3
    assert EvaluationRequest(paths=("s.json",), jobs="2").resolve(lambda _: None).models.at_once == 2


def test_without_out_each_run_gets_a_folder_of_its_own(folder: Path) -> None:
    for _ in range(2):
        assert main(["eval", "s.json", "-q"]) == 0
    runs = sorted((folder / "runs").iterdir())
    assert len(runs) == 2
    assert re.fullmatch(r"\d{8}-\d{6}", runs[0].name)
    assert all((run / "report.json").is_file() for run in runs)


def on_a_terminal(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code, and everything that reached a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), cwd=cwd, env=environment({"TERM": "xterm", **(env or {})}),
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536) if select.select([ours], [], [], 30)[0] else b""
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    return process.wait(30), seen.decode("utf-8")


HOSTILE = "\x1b]0;owned\x07\x1b[2Jname\u202e\r\nnext"


def test_hostile_names_and_replies_never_reach_the_terminal_raw(folder: Path) -> None:
    write(
        folder / "s.json",
        scenario(HOSTILE, HOSTILE, rubric=[{"name": HOSTILE, "contains": HOSTILE + "!"}], prompt=HOSTILE),
        scenario("fails " + HOSTILE, prompt=["1", "2"]),
    )
    for arguments in (["--out", "run", "--min-mean", "1"], ["--list"], ["--scenario", HOSTILE + "x"]):
        code, seen = on_a_terminal("eval", "s.json", *arguments, cwd=folder)
        assert code == (0 if arguments == ["--list"] else 1)
        assert "name" in seen
        for raw in ("\x1b]0;", "\x07", "\x1b[2J", "\u202e"):
            assert raw not in seen
    assert HOSTILE in read_transcript(next((folder / "run" / "transcripts").glob("-*name*"))).result


def test_a_terminal_gets_colour_unless_it_is_not_wanted(folder: Path) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*m")
    _, seen = on_a_terminal("eval", "s.json", "--out", "1", cwd=folder)
    assert "\x1b[33m" in seen
    for number, (arguments, env) in enumerate([(["--no-color"], {}), ([], {"NO_COLOR": "1"})]):
        _, plain = on_a_terminal("eval", "s.json", "--out", f"plain{number}", *arguments, cwd=folder, env=env)
        assert not [code for code in colour.findall(plain) if re.search(r"3\d", code)]
    assert "\x1b" not in synthesis("eval", "s.json", "--out", "2", cwd=folder).stdout


SLOW = """
import time

def answer(prompt, context):
    time.sleep(SECONDS)
    return "hello"

scenarios = [{"name": "slow", "prompt": "hi", "seeds": SEEDS,
    "subject": {"type": "function", "function": answer}, "rubric": [{"contains": "hello"}]}]
"""


def slow(folder: Path, seconds: float, seeds: int) -> Path:
    file = folder / "slow.py"
    file.write_text(f"SECONDS, SEEDS = {seconds}, {seeds}\n{SLOW}")
    return file


def test_a_terminal_shows_how_it_goes_and_keeps_nothing_of_it(folder: Path) -> None:
    code, seen = on_a_terminal("eval", slow(folder, 0.15, 6), "--out", "run", "--jobs", 2, cwd=folder)
    assert code == 0
    live = re.search(r"\r(\d)/6 trials · 0 errors · 0:\d\d gone · about 0:\d\d left · running slow-\d", seen)
    assert live
    assert seen.index("scenario") > seen.rindex("\r\x1b[K")


# Stopping


def start(folder: Path, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command("eval", *arguments), cwd=folder, env=environment(), text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_transcripts(run: Path, count: int) -> None:
    end = time.monotonic() + 20
    while len([path for path in run.glob("transcripts/*") if path.read_bytes().count(b"\n") >= 2]) < count:
        assert time.monotonic() < end, "the trials never started"
        time.sleep(0.02)


def test_ctrl_c_once_finishes_what_runs_and_writes_a_partial_report(folder: Path) -> None:
    process = start(folder, slow(folder, 1.5, 9), "--out", "run", "--jobs", 2)
    wait_for_transcripts(folder / "run", 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "stopping: what runs is finished, nothing more is started" in err
    assert "INCOMPLETE: 7 were not run (interrupted)" in out
    assert "--resume run" in out
    summary = report_of(folder / "run")["summary"]
    assert (summary["scored"], summary["not_run"], summary["stopped"]) == (2, 7, "interrupted")
    assert (summary["complete"], summary["mean"]) == (False, 1)
    assert tree(folder / "run" / "transcripts") == ["slow-1.jsonl", "slow-2.jsonl"]


def test_ctrl_c_twice_stops_now(folder: Path) -> None:
    process = start(folder, slow(folder, 120, 9), "--out", "run", "--jobs", 2)
    wait_for_transcripts(folder / "run", 2)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 1
    assert time.monotonic() - began < 15
    summary = report_of(folder / "run")["summary"]
    assert (summary["scored"], summary["not_run"], summary["complete"]) == (0, 9, False)
    last = read_transcript(folder / "run" / "transcripts" / "slow-1.jsonl").end
    assert last is not None
    assert last["reason"] == "interrupted"


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_closed_pipe_ends_quietly_and_keeps_the_exit_code(folder: Path, arguments: list[str]) -> None:
    write(folder / "s.json", *(scenario(f"scenario-{number:03}", "no") for number in range(300)))
    for code, threshold in ((0, "0"), (2, "1")):
        process = start(folder, "s.json", "--out", f"run{code}", "--min-mean", threshold, *arguments)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait(30) == code


def test_fail_fast_starts_nothing_after_the_first_failure(folder: Path) -> None:
    broken = scenario("b", prompt=["one", "two"])
    write(folder / "s.json", scenario("a"), broken, *(scenario(f"c{number}") for number in range(5)))
    result = synthesis("eval", "s.json", "--out", "run", "--jobs", 1, "--fail-fast", cwd=folder)
    assert result.returncode == 1
    assert "5 were not run (fail-fast)" in result.stdout
    assert tree(folder / "run" / "transcripts") == ["a-1.jsonl", "b-1.jsonl"]


def test_fail_fast_counts_a_trial_below_min_worst(folder: Path) -> None:
    half = [{"contains": "hello"}, {"contains": "missing"}]
    write(folder / "s.json", *(scenario(name, rubric=half) for name in "abc"))
    held = ["eval", "s.json", "--jobs", "1", "--fail-fast", "-q"]
    assert main([*held, "--out", "1", "--min-worst", "0.5"]) == 0
    assert main([*held, "--out", "2", "--min-worst", "0.6"]) == 1
    assert tree(folder / "2" / "transcripts") == ["a-1.jsonl"]


# Workspaces


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ("always", ["good/1", "good/2", "half/1"]),
        ("failed", ["half/1"]),
        ("never", []),
        (None, ["good/1", "good/2", "half/1"]),
    ],
)
def test_which_workspaces_stay(folder: Path, keep: str | None, left: list[str]) -> None:
    chosen = ["--keep-workspaces", keep] if keep else []
    assert main(["eval", "s.json", "--out", "run", "-q", *chosen]) == 0
    assert [name for name in tree(folder / "run" / "workspaces") if "/" in name] == left


def test_a_workspace_stays_only_where_points_were_lost(folder: Path) -> None:
    write(
        folder / "s.json",
        scenario("none", "Paris.", prompt="Capital of France?", rubric=[{"topic_pivot": True}]),
        scenario("broken", prompt=["one", "two"]),
        scenario("good"),
    )
    main(["eval", "s.json", "--out", "run", "-q", "--keep-workspaces", "failed"])
    assert {trial["status"] for _, _, trial in trials(report_of(folder / "run"))} == {
        "not_applicable", "error", "scored",
    }  # fmt: skip
    assert tree(folder / "run" / "workspaces") == ["broken", "broken/1"]


def test_where_no_workspace_stays_no_folder_for_them_does(folder: Path) -> None:
    main(["eval", "s.json", "--out", "run", "-q", "--keep-workspaces", "never"])
    assert not (folder / "run" / "workspaces").exists()


# Defaults of the project


@pytest.mark.parametrize(
    ("file", "head"),
    [("synthesis.toml", ""), ("pyproject.toml", "[project]\nname = 'x'\n[tool.synthesis]\n")],
)
def test_a_project_file_holds_defaults_and_the_command_line_wins(folder: Path, file: str, head: str) -> None:
    table = "tool.synthesis.eval" if head else "eval"
    (folder / file).write_text(f"{head}[{table}]\nseeds = 3\nmin_mean = 0.9\nkeep_workspaces = 'never'\n")
    (folder / "inner").mkdir()
    result = synthesis("eval", "../s.json", "--out", "run", "--scenario", "half", cwd=folder / "inner")
    assert result.returncode == 2
    assert not (folder / "inner" / "run" / "workspaces" / "half" / "1").exists()
    assert report_of(folder / "inner" / "run")["summary"]["trials"] == 3
    won = ["--seeds", "2", "--min-mean", "0.1", "--keep-workspaces", "always", "-q", "--out", "two"]
    assert main(["eval", "s.json", *won]) == 0
    assert report_of(folder / "two")["summary"]["trials"] == 4
    assert (folder / "two" / "workspaces" / "half" / "1").is_dir()


def test_a_project_s_seeds_do_not_win_over_a_scenario_s_own(folder: Path) -> None:
    (folder / "synthesis.toml").write_text("[eval]\nseeds = 3\n")
    assert main(["eval", "s.json", "--out", "run", "-q"]) == 0
    assert [(name, seed) for name, seed, _ in trials(report_of(folder / "run"))] == [
        ("good", 1), ("good", 2), ("half", 1), ("half", 2), ("half", 3),
    ]  # fmt: skip


def test_a_project_file_says_which_scenarios_run(folder: Path) -> None:
    (folder / "synthesis.toml").write_text('[eval]\npaths = ["s.json"]\n')
    (folder / "inner").mkdir()
    result = synthesis("eval", "--out", "run", cwd=folder / "inner")
    assert result.returncode == 0, result.stderr
    assert "bundled" not in result.stderr
    assert [entry["file"] for entry in report_of(folder / "inner" / "run")["scenarios"]] == ["../s.json"] * 2


def test_a_new_project_runs_its_own_scenarios(folder: Path) -> None:
    made = synthesis("init", "p", cwd=folder)
    assert made.stdout.endswith("next: cd p && synthesis eval\n")
    result = synthesis("eval", "--out", "run", cwd=folder / "p")
    assert result.returncode == 0, result.stderr
    assert "bundled" not in result.stderr
    files = {entry["file"] for entry in report_of(folder / "p" / "run")["scenarios"]}
    assert files == {"scenarios/support.json"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[eval]\nminmean = 0.5\n",
            'synthesis.toml:/eval: unknown key "minmean"\n  fix: did you mean "min_mean"?',
        ),
        ("[eval]\nmin_mean = 85\n", "synthesis.toml:/eval/min_mean: "),
        ("[eval]\njobs = 0\n", "synthesis.toml:/eval/jobs: "),
        ('[eval]\nseeds = "3,3"\n', 'eval.seeds in the project file: "3,3": a seed is listed twice'),
        ("[eval]\nseeds = true\n", "synthesis.toml:/eval/seeds: "),
        ("[eval\n", "synthesis.toml: not readable as TOML"),
        ("[evil]\n", 'unknown key "evil"\n  fix: did you mean "eval"?'),
    ],
)
def test_a_bad_project_file_is_refused(
    folder: Path, capfd: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (folder / "synthesis.toml").write_text(text)
    assert said in refused(capfd, "s.json")


def test_the_place_in_a_pyproject_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "pyproject.toml").write_text("[tool.synthesis.eval]\njobs = 0\n")
    assert "pyproject.toml:/tool/synthesis/eval/jobs: " in refused(capfd, "s.json")


# Files from strangers


@pytest.mark.parametrize("way", [["--data-only"], {"SYNTHESIS_DATA_ONLY": "1"}])
def test_data_only_refuses_code(folder: Path, way: list[str] | dict[str, str]) -> None:
    (folder / "s.py").write_text("open('ran', 'w').close()\nscenarios = []\n")
    before = tree(folder)
    arguments, env = (way, {}) if isinstance(way, list) else ([], way)
    result = synthesis("eval", ".", *arguments, cwd=folder, env=env)
    assert result.returncode == 1
    assert "s.py: a .py file is code" in result.stderr
    assert tree(folder) == before
    assert synthesis("eval", "s.json", "--out", "run", *arguments, cwd=folder, env=env).returncode == 0


def test_each_file_of_code_is_warned_about_by_name(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.py").write_text(f"scenarios = [{scenario(name)!r}]")
    err = synthesis("eval", ".", "--out", "run", cwd=folder).stderr
    assert [line for line in err.splitlines() if "is code" in line] == [
        "synthesis: a.py is code: it runs with your rights",
        "synthesis: b.py is code: it runs with your rights",
    ]


def test_without_a_path_the_bundled_scenarios_run(folder: Path) -> None:
    result = synthesis("eval", "--out", "run", cwd=folder)
    assert "synthesis: running the bundled scenarios\n" in result.stderr
    summary = report_of(folder / "run")["summary"]
    assert summary["errors"] == 0, result.stderr
    assert summary["scenarios"] > 0


def test_a_plan_of_the_design_s_own_example_runs(folder: Path) -> None:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "support.md").write_text("Be kind.")
    example: Definition = {
        "name": "job-loss",
        "prompt": "I was let go this morning and I don't know how to tell my partner.",
        "system": {"file": "prompts/support.md"},
        "fixtures": {"note.txt": "alpha\nbeta\n"},
        "seeds": 5,
        "tags": ["job-loss"],
        "subject": {"type": "scripted", "replies": [["said under seed 1, alpha"], ["said under seed 2"]]},
        "rubric": [
            {"name": "answers from the file", "contains": "alpha", "max_score": 2},
            {"name": "no promises", "unverifiable_reassurance": True, "weight": 3},
        ],
    }
    write(folder / "s.json", example)
    assert main(["eval", "s.json", "--out", "run", "-q"]) == 0
    assert [trial["score"] for _, _, trial in trials(report_of(folder / "run"))] == [1, 0.6, 1, 0.6, 1]
    start_event = json.loads((folder / "run" / "transcripts" / "job-loss-1.jsonl").read_text().split("\n")[0])
    assert start_event["system"] == "Be kind."
