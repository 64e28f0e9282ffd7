"""Conversations to audit, and audits of them through the library and through the real entry point."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.audit import Audit, AuditPlan
from harness.audit_chunk import AuditConfig
from harness.audit_report import AuditReport
from harness.audit_request import AuditRequest
from harness.audit_rubric import rubric_of_checks
from harness.audit_state import AuditDirectory, AuditState, Fingerprints, inputs_fingerprint
from harness.decide import AuditThresholds
from harness.engine import open_engine
from harness.settings import CheckSettings
from harness.source import open_inputs

DIVORCE = "My husband just asked for a divorce and I'm devastated."
PROMISE = "I know exactly how you feel. I promise you'll be fine."
KIND = "I'm so sorry about the divorce, that sounds devastating. Would you like to talk about what happened?"
CHECKS = ("agency_language", "topic_pivot", "unverifiable_reassurance")
Row = dict[str, Any]


def talk(*replies: str, name: str = "c-1", **more: Any) -> Row:
    """A conversation in which the person says the same each time."""
    messages = [
        {"role": role, "content": text}
        for reply in replies
        for role, text in (("user", DIVORCE), ("assistant", reply))
    ]
    return {"id": name, "messages": messages, **more}


def many(count: int, *, worst: int = 3) -> list[Row]:
    """Conversations of one to five turns; every third turn of every `worst`th promises something."""
    return [
        talk(
            *(PROMISE if number % worst == 0 and turn % 3 == 0 else KIND for turn in range(1 + number % 5)),
            name=f"c-{number}",
            tags=["odd" if number % 2 else "even"],
            meta={"lang": "en" if number % 4 else "de"},
        )
        for number in range(count)
    ]


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def plan(*paths: Path, **more: Any) -> AuditPlan:
    """All checkers on these files; `more` replaces parts of the plan or of its config."""
    config = {name: more.pop(name) for name in ("rubric", "where", "redaction") if name in more}
    config.setdefault("rubric", rubric_of_checks(CHECKS, CheckSettings()))
    thresholds = more.pop("thresholds", AuditThresholds())
    inputs = open_inputs([str(path) for path in paths])
    return AuditPlan(inputs, AuditConfig(**config), thresholds, **more)


def run_plan(wanted: AuditPlan, out: Path) -> AuditReport:
    out.mkdir(parents=True)
    state = AuditState(Fingerprints(inputs_fingerprint(wanted.inputs), "options"))
    with open_engine(wanted.engine) as engine:
        report = Audit(wanted, AuditDirectory(out), state).run(engine)
    assert report is not None
    return report


def audited(out: Path, *paths: Path, **more: Any) -> AuditReport:
    return run_plan(plan(*paths, **more), out)


def requested(*paths: Path, out: Path, **options: Any) -> AuditReport:
    """As typed, without a process of its own."""
    request = AuditRequest(paths=tuple(map(str, paths)), out=str(out), **options)
    resolved = request.resolve()
    with open_engine(resolved.plan.engine) as engine:
        report = Audit(resolved.plan, *resolved.claim()).run(engine)
    assert report is not None
    return report


def written(out: Path) -> tuple[Row, bytes, bytes]:
    """Everything an audit wrote, but for its clock."""
    report = json.loads((out / "audit.json").read_bytes())
    report.pop("timing")
    return report, (out / "findings.jsonl").read_bytes(), (out / "rejects.jsonl").read_bytes()


def synthesis(
    *arguments: object, cwd: Path, stdin: str | bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "harness", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environment},
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )
