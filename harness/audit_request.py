"""What was asked of `synthesis audit`, checked and joined with the project's settings."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path

import orjson

from harness import plugins
from harness.arguments import share, whole_number
from harness.audit import AuditPlan
from harness.audit_chunk import AuditConfig
from harness.audit_conclude import Sampling, make_audit_stamp
from harness.audit_rubric import AuditRubric, rubric_from, rubric_of_checks
from harness.audit_state import (
    AuditDirectory,
    AuditState,
    Fingerprints,
    claim_audit,
    inputs_fingerprint,
    read_state,
)
from harness.choose import parse_where
from harness.decide import AuditThresholds
from harness.engine import LOCAL
from harness.errors import SynthesisError
from harness.importer import ImportOptions
from harness.importers.table import SYNONYMS
from harness.problems import shown
from harness.redact import Redaction, read_terms
from harness.settings import Settings, find_settings
from harness.source import open_inputs

MOST_SAMPLED = 100_000
_NAMES = {"source": "--from"}
"""Options that are called something else in code."""


@dataclass(frozen=True)
class AuditRequest:
    """Options as they were typed; None where nothing was."""

    paths: tuple[str, ...] = ()
    source: str | None = None
    columns: str | None = None
    rubric: str | None = None
    checks: str | None = None
    where: tuple[str, ...] = ()
    sample: str | None = None
    seed: str | None = None
    redact: bool = False
    redact_list: str | None = None
    max_fail_rate: tuple[str, ...] = ()
    min_mean: str | None = None
    min_worst: str | None = None
    max_rejects: str | None = None
    max_errors: str | None = None
    engine: str | None = None
    out: str | None = None
    resume: str | None = None

    def resolve(self) -> "ResolvedAudit":
        """Everything checked, nothing written yet."""
        if self.out is not None and self.resume is not None:
            raise SynthesisError("--out and --resume both name a folder", fix="give one of them")
        settings = find_settings(Path.cwd())
        rubric = self._rubric(settings)
        config = AuditConfig(rubric, parse_where(self.where), self._redaction())
        thresholds = self._thresholds([column.name for column in rubric.columns])
        sampling = self._sampling()
        options = ImportOptions(columns=parse_columns(self.columns) if self.columns else {})
        quoting = config.redaction is None
        inputs = open_inputs(self.paths, self.source or "auto", options, quoting=quoting)
        engine = LOCAL if self.engine is None else self.engine
        plan = AuditPlan(inputs, config, thresholds, sampling, engine)
        return ResolvedAudit(self, plan, Fingerprints(inputs_fingerprint(inputs), self._fingerprint(plan)))

    def again(self, folder: Path) -> str:
        """What to type to go on with the audit in this folder: everything as it was typed."""
        options = [
            part
            for each in fields(self)
            if each.name not in ("paths", "out", "resume")
            for part in _typed(
                _NAMES.get(each.name, f"--{each.name.replace('_', '-')}"), getattr(self, each.name)
            )
        ]
        return shlex.join(["synthesis", "audit", *self.paths, *options, "--resume", str(folder)])

    def _rubric(self, settings: Settings) -> AuditRubric:
        if self.rubric is not None and self.checks is not None:
            fix = "give --rubric for criteria with weights, --checks for checkers alone"
            raise SynthesisError("--rubric and --checks both say what counts", fix=fix)
        if self.rubric is not None:
            return rubric_from(self.rubric, settings)
        names = plugins.own("checkers") if self.checks is None else self.checks.split(",")
        return rubric_of_checks([name.strip() for name in names], settings.check)

    def _redaction(self) -> Redaction | None:
        if self.redact_list is not None:
            return Redaction(read_terms(Path(self.redact_list)))
        return Redaction() if self.redact else None

    def _sampling(self) -> Sampling | None:
        if self.sample is None:
            if self.seed is not None:
                raise SynthesisError("--seed without --sample", fix="add --sample N")
            return None
        size = whole_number(self.sample, "--sample", least=1)
        if size > MOST_SAMPLED:
            fix = "take fewer, or leave --sample out and audit everything"
            raise SynthesisError(f'"{size}" is more than {MOST_SAMPLED}', where="--sample", fix=fix)
        return Sampling(size, 1 if self.seed is None else whole_number(self.seed, "--seed"))

    def _thresholds(self, checks: list[str]) -> AuditThresholds:
        general: float | None = None
        rates: dict[str, float] = {}
        for text in self.max_fail_rate:
            name, equals, value = text.rpartition("=")
            if not equals:
                general = share(text, "--max-fail-rate", 0.05)
            elif name in checks:
                rates[name] = share(value, "--max-fail-rate", 0.05)
            else:
                what = f'"{shown(name)}" is not among the checks'
                fix = f"use one of: {', '.join(checks)}" if checks else "the rubric has no checker"
                raise SynthesisError(what, where="--max-fail-rate", fix=fix)
        return AuditThresholds(
            fail_rate=general,
            fail_rates=rates,
            min_mean=None if self.min_mean is None else share(self.min_mean, "--min-mean"),
            min_worst=None if self.min_worst is None else share(self.min_worst, "--min-worst"),
            max_rejects=whole_number(self.max_rejects or "0", "--max-rejects"),
            max_errors=whole_number(self.max_errors or "0", "--max-errors"),
        )

    def _fingerprint(self, plan: AuditPlan) -> str:
        """Of everything that shapes what is written; thresholds and engines do not."""
        rubric, sampling = plan.config.rubric, plan.sampling
        shaping = {
            "stamp": make_audit_stamp(rubric, None).model_dump(mode="json"),
            "criteria": [criterion.definition() for criterion in rubric.criteria],
            "where": [str(condition) for condition in plan.config.where],
            "sample": None if sampling is None else [sampling.size, sampling.seed],
            "redaction": None if plan.config.redaction is None else plan.config.redaction.terms,
            "columns": self.columns,
            "part_size": plan.part_size,
        }
        return sha256(orjson.dumps(shaping, option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True)
class ResolvedAudit:
    """A request that can be run."""

    request: AuditRequest
    plan: AuditPlan
    fingerprints: Fingerprints

    @property
    def resumable(self) -> bool:
        """Whether it could go on after an interruption: not what comes from standard input."""
        return self.fingerprints.inputs is not None

    def claim(self) -> tuple[AuditDirectory, AuditState]:
        """Take the folder: the first thing that is written."""
        if self.request.resume is None:
            return claim_audit(self.request.out), AuditState(self.fingerprints)
        if not self.resumable:
            fix = "save it in a file and audit that"
            raise SynthesisError("standard input cannot be read again", where="--resume", fix=fix)
        place = AuditDirectory(Path(self.request.resume))
        return place, read_state(place, self.fingerprints)


def parse_columns(text: str) -> dict[str, str]:
    """`user=question,assistant=answer`."""
    found: dict[str, str] = {}
    for pair in text.split(","):
        name, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not name or not column or name in found:
            fix = "write for example --columns user=question,assistant=answer"
            raise SynthesisError(f'"{shown(pair)}" names no column', where="--columns", fix=fix)
        if name not in SYNONYMS:
            fix = f"use one of: {', '.join(SYNONYMS)}"
            raise SynthesisError(f'no part of a table is called "{shown(name)}"', where="--columns", fix=fix)
        found[name] = column
    return found


def _typed(option: str, value: str | bool | tuple[str, ...] | None) -> Iterator[str]:
    if value is True:
        yield option
    elif isinstance(value, str):
        yield from (option, value)
    elif isinstance(value, tuple):
        for item in value:
            yield from (option, item)
