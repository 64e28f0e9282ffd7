"""How an audit goes, said on standard error."""

import io
import sys
from pathlib import Path

import pytest
from audits import KIND, plan, talk, write_rows

from harness.audit import AuditPlan
from harness.audit_aggregate import Aggregate
from harness.audit_display import LiveAuditDisplay


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def rows(tmp_path: Path) -> AuditPlan:
    """About a megabyte."""
    return plan(write_rows(tmp_path / "rows.jsonl", [talk(KIND + " " * 1_000_000)]))


def sums(turns: int, rejected: int = 0) -> Aggregate:
    found = Aggregate.whole()
    found.counts.update(turns=turns, conversations=turns // 2, rejected=rejected)
    return found


def display(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, quiet: bool = False
) -> tuple[LiveAuditDisplay, Clock]:
    monkeypatch.setattr(sys, "stderr", stream)
    clock = Clock()
    return LiveAuditDisplay(quiet=quiet, clock=clock), clock


def test_without_a_terminal_a_line_now_and_then(rows: AuditPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    shown, clock = display(monkeypatch, said)
    shown.planned(rows, sums(0))
    for seconds, turns in ((4, 400), (10, 1000), (11, 1100), (20, 2000)):
        clock.now = 100.0 + seconds
        shown.audited(125_000, 0, sums(turns))
    shown.close()
    assert said.getvalue().splitlines() == [
        "synthesis: 0.2 of 1.0 MB · 500 conversations · 100 turns/s · 0:10 gone · about 0:30 left",
        "synthesis: 0.5 of 1.0 MB · 1000 conversations · 100 turns/s · 0:20 gone · about 0:20 left",
    ]


def test_what_an_earlier_audit_did_counts_for_no_rate(
    rows: AuditPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    shown, clock = display(monkeypatch, said)
    shown.planned(rows, sums(5000))
    clock.now += 10
    shown.audited(250_000, 500_000, sums(5100, rejected=3))
    (line,) = said.getvalue().splitlines()
    assert line.startswith(
        "synthesis: 0.8 of 1.0 MB · 2550 conversations · 10 turns/s · 3 rejected · 0:10 gone"
    )
    assert line.endswith("about 0:10 left")


def test_drawing_a_sample_has_a_time_of_its_own(rows: AuditPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    shown, clock = display(monkeypatch, said)
    shown.planned(rows, sums(0))
    clock.now += 30
    shown.drawing(1_000_000)
    clock.now += 10
    shown.audited(500_000, 0, sums(100))
    first, second = said.getvalue().splitlines()
    assert first == "synthesis: drawing a sample: 1.0 of 1.0 MB · 0:30 gone"
    assert "10 turns/s · 0:10 gone · about 0:10 left" in second


def test_on_a_terminal_one_line_that_leaves_nothing_behind(
    rows: AuditPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Terminal()
    shown, clock = display(monkeypatch, said)
    shown.planned(rows, sums(0))
    shown.audited(1, 0, sums(1))
    assert said.getvalue() == "", "nothing before a moment has gone"
    clock.now += 1
    shown.audited(1, 0, sums(2))
    shown.note("stopping")
    assert said.getvalue().startswith("\r0.0 of 1.0 MB")
    assert said.getvalue().endswith("\x1b[K\r\x1b[Ksynthesis: stopping\n")
    shown.close()
    assert said.getvalue().endswith("stopping\n")


def test_quiet_says_nothing(rows: AuditPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    shown, clock = display(monkeypatch, said, quiet=True)
    shown.planned(rows, sums(0))
    clock.now += 100
    shown.drawing(1)
    shown.audited(1, 0, sums(2))
    assert said.getvalue() == ""
