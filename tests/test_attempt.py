"""What one request to a model used: one definition, wherever its figures come from."""

from pathlib import Path
from typing import Any, get_type_hints

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError
from recorded import Recording

from harness.attempt import Attempt, TimelessFields
from harness.errors import SubjectError, SynthesisError
from harness.line_protocol import AttemptLine, parse_line
from harness.record import Recorder
from harness.recordings import RecordedTry
from harness.transcript import AttemptEvent, read_transcript

GOOD = Attempt("openai:m", 1, 200, "req_1", 12.5, 30, 4, "stop", None, 1).fields()
TIMELESS = TypeAdapter(TimelessFields)


def as_event(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    event = {"v": 1, "seq": 1, "type": "attempt", "turn": 1, "parent": None, **fields}
    path = folder / "t.jsonl"
    path.write_bytes(orjson.dumps(Recording().events[0]) + b"\n" + orjson.dumps(event) + b"\n")
    return read_transcript(path).events[1]


def as_line(fields: dict[str, Any], _: Path) -> object:
    return parse_line(orjson.dumps({"type": "attempt", **fields}))


def as_recorded(fields: dict[str, Any], _: Path) -> object:
    return RecordedTry.model_validate_json(orjson.dumps({"attempt": fields}))


def as_kept(fields: dict[str, Any], _: Path) -> object:
    return TIMELESS.validate_json(orjson.dumps(fields))


def as_told(fields: dict[str, Any], folder: Path) -> object:
    recorder = Recorder(folder / "t.jsonl")
    recorder.attempt(Attempt(**fields))
    return recorder.close()


WAYS = (as_event, as_line, as_recorded, as_kept, as_told)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("more", [{}, {"input_tokens": 2**53, "output_tokens": 0}, {"input_tokens": None}])
def test_figures_are_read(way: Any, more: dict[str, Any], tmp_path: Path) -> None:
    assert way(GOOD | more, tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("input_tokens", -1), ("input_tokens", True), ("input_tokens", "7"), ("input_tokens", 2**53 + 1),
        ("input_tokens", 1e24), ("output_tokens", -1), ("output_tokens", False), ("output_tokens", 1.5),
        ("attempt", 0), ("attempt", True), ("attempt", 2**60), ("status", -1), ("status", "200"),
        ("latency_ms", -0.1), ("latency_ms", True), ("latency_ms", "1"), ("latency_ms", 1e300),
        ("wait_ms", -1), ("wait_ms", False), ("model", 3),
    ],
)  # fmt: skip
def test_figures_that_are_none_are_refused(way: Any, field: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises((SynthesisError, SubjectError, ValueError), match=field):
        way(GOOD | {field: value}, tmp_path)


@pytest.mark.parametrize("written", [AttemptEvent, AttemptLine])
def test_every_definition_has_the_same_fields_of_the_same_types(written: type) -> None:
    hints = get_type_hints(written, include_extras=True)
    assert {name: hints[name] for name in GOOD} == get_type_hints(Attempt, include_extras=True)


def test_what_is_kept_has_no_clock_values_and_null_where_nothing_is_known() -> None:
    assert TIMELESS.validate_python(GOOD) == Attempt(**GOOD).timeless()
    assert set(GOOD) - set(Attempt(**GOOD).timeless()) == {"latency_ms", "wait_ms"}
    assert TIMELESS.validate_python({"model": "m", "attempt": 1}) == Attempt("m", 1).timeless()
    with pytest.raises(ValidationError, match="model"):
        TIMELESS.validate_python({"attempt": 1})
