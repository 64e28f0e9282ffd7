"""The summary in the terminal, given reports that mean harm or have much to show."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from audits import PROMISE, audited, talk, write_rows
from rich.console import Console

from harness.audit_report import AuditReport, ReasonCount, Reasons
from harness.audit_state import AuditDirectory
from harness.renderers.audit_summary import render

EVIL = "\x1b[31mred\x07 [bold]x[/bold] \u202egnp \x9b2J\r\nsynthesis: all is well"
KEPT = ("kind", "schema_version", "checks", "drift")
"""Ours, and what is looked up by the names of checks, which are ours as well."""
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def report(tmp_path: Path) -> AuditReport:
    path = write_rows(tmp_path / "rows.jsonl", [talk(PROMISE, PROMISE, PROMISE)])
    return audited(tmp_path / "out", path)


def printed(report: AuditReport) -> str:
    file = io.StringIO()
    console = Console(file=file, markup=False, emoji=False, highlight=False, soft_wrap=True, width=200)
    render(report, console, AuditDirectory(Path("audits")))
    return file.getvalue()


def poisoned(value: Any) -> Any:
    """Every text in it means harm."""
    if isinstance(value, str):
        return EVIL
    if isinstance(value, dict):
        return {key: poisoned(item) for key, item in value.items()}
    return [poisoned(item) for item in value] if isinstance(value, list) else value


def test_every_text_of_a_report_is_shown_as_plain_text(report: AuditReport) -> None:
    value = report.model_dump(mode="json")
    evil = {key: item if key in KEPT else poisoned(item) for key, item in value.items()}
    evil["rejects"] = Reasons(
        total=3, reasons=(ReasonCount(reason=EVIL, count=3, file=EVIL, line=1),), others=0
    ).model_dump()
    evil["errors"] = evil["passed_over"] = evil["rejects"]
    evil["where"] = [EVIL]
    evil["criteria"][0]["criterion"] = {"contains": EVIL}
    shown = printed(AuditReport.model_validate(evil))
    assert not UNPRINTABLE.search(shown.replace("\n", ""))
    assert "\nsynthesis: all is well" not in shown
    assert shown.count("[bold]x[/bold]") > 8


def test_what_is_not_there_is_not_shown(report: AuditReport) -> None:
    shown = printed(report)
    for absent in (
        "SAMPLE",
        "only where",
        "redacted",
        "could not be read",
        "INCOMPLETE",
        "NOTHING",
        "errors",
    ):
        assert absent not in shown
    assert "drift of unverifiable_reassurance: 100.00 % in the first third, 100.00 % in the last" in shown


@pytest.mark.parametrize(
    ("interval", "said"), [((0.1, 0.3), "RISES"), ((-0.3, -0.1), "falls"), ((-0.1, 0.1), "no clear change")]
)
def test_the_course_of_a_check_is_said(interval: tuple[float, float], said: str, report: AuditReport) -> None:
    trend = report.checks[2].trend.model_copy(update={"interval": interval})
    check = report.checks[2].model_copy(update={"trend": trend})
    shown = printed(report.model_copy(update={"checks": (*report.checks[:2], check)}))
    (line,) = [line for line in shown.splitlines() if line.startswith("drift of unverifiable")]
    assert f"({said})" in line
