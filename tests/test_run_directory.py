"""The folder of a run may come from a stranger: what is written there stays there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scenario_files import scenario, write

from harness.cli import main
from harness.errors import SynthesisError
from harness.run_directory import RunDirectory

REFUSED = "a link lies where the run writes"


@pytest.fixture(name="run")
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(Path("s.json"), scenario(fixtures={"a.txt": "a"}))
    assert main(["eval", "s.json", "--out", "run", "-q"]) == 0
    return Path("run")


@pytest.fixture(name="victim", params=["there", "not there yet"])
def _victim(request: pytest.FixtureRequest, run: Path, tmp_path: Path) -> Iterator[Path]:
    """Someone's file outside, which has to stay as it is, or not there."""
    path = tmp_path / "victim.json"
    before = (run / "report.json").read_bytes() if request.param == "there" else None
    if before is not None:
        path.write_bytes(before)
    yield path
    assert (path.read_bytes() if path.exists() else None) == before


def test_scoring_again_writes_through_no_link(
    run: Path, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "run"]) == 0
    (report,) = run.glob("report-*.json")
    report.unlink()
    report.symlink_to(Path("..") / victim.name)
    assert main(["score", "run"]) == 1
    assert f"{report}: {REFUSED}" in capsys.readouterr().err
    assert report.is_symlink()


@pytest.mark.parametrize("resumed", [["s.json"], []])
def test_going_on_writes_through_no_link(
    run: Path, victim: Path, resumed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "report.json").unlink()
    (run / "report.json").symlink_to(Path("..") / victim.name)
    assert main(["eval", *resumed, "--resume", "run"]) == 1
    assert f"run/report.json: {REFUSED}" in capsys.readouterr().err
    assert (run / "report.json").is_symlink()


@pytest.mark.parametrize(
    "name",
    [
        "report.json", "report-0123.json", "transcripts", "transcripts/talk-1.jsonl", "judgments",
        "judgments/0123.json", "workspaces", "workspaces/talk",
    ],
)  # fmt: skip
def test_a_link_is_found_wherever_a_run_writes(run: Path, victim: Path, name: str) -> None:
    place, link = RunDirectory(run), run / name
    place.refuse_links()
    link.parent.mkdir(exist_ok=True)
    if link.exists():
        link.rename("moved")
    link.symlink_to(victim)
    assert place.first_link() == link
    with pytest.raises(SynthesisError, match=f"{link}: {REFUSED}"):
        place.refuse_links()


def test_links_where_no_run_writes_and_to_the_run_itself_are_left_alone(run: Path, tmp_path: Path) -> None:
    (run / "notes.txt").symlink_to("s.json")
    (tmp_path / "latest").symlink_to("run")
    assert main(["eval", "s.json", "--resume", "latest", "-q"]) == 0
    assert main(["score", "latest"]) == 0
