"""Baselines of runs with a judge: compared where the judge is the same, scored again from what it said."""

import shutil
from pathlib import Path

from faulty_server import FaultyServer, ok
from judges import judged
from scenario_files import synthesis, write


def test_a_judged_baseline_is_compared_and_scored_again_without_asking(tmp_path: Path) -> None:
    with FaultyServer([ok("4"), ok("1"), ok("3")]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url))
        assert synthesis("eval", "s.json", "--out", "old", cwd=tmp_path).returncode == 0
        assert synthesis("baseline", "save", "old", "--as", "main", cwd=tmp_path).returncode == 0
        shutil.rmtree(tmp_path / "old")
        done = synthesis("eval", "s.json", "--out", "new", "--baseline", "main", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 2
        assert "1 worse" in done.stdout
        asks_otherwise = judged("a", server.base_url, judge="Score brevity.")
        write(tmp_path / "s.json", asks_otherwise)
        done = synthesis("eval", "s.json", "--baseline", "main", cwd=tmp_path)
        assert done.returncode == 1
        assert "main and this run: the two runs were not scored alike: the rubric of a" in done.stderr
        assert len(server.requests) == 2, "nobody is asked before that is known"
        write(tmp_path / "s.json", judged("a", server.base_url))
    assert synthesis("score", "baselines/main", cwd=tmp_path).returncode == 0, "from what was kept"


def test_rescore_does_not_pay_a_judge(tmp_path: Path) -> None:
    """What a judge never said of the old transcripts is missing, and the comparison says so."""
    with FaultyServer([ok("4"), ok("1"), ok("3")]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url))
        assert synthesis("eval", "s.json", "--out", "old", cwd=tmp_path).returncode == 0
        write(tmp_path / "s.json", judged("a", server.base_url, judge="Score brevity."))
        assert synthesis("eval", "s.json", "--out", "new", cwd=tmp_path).returncode == 0
        done = synthesis("compare", "old", "new", "--rescore", cwd=tmp_path)
        assert len(server.requests) == 2
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing in this run has a score" in done.stderr
    assert "Traceback" not in done.stderr
