"""Every fixture says the same in another format, is known for what it is, and for nothing else."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from imported import FIXTURES, TURNS, found, passed_over, readings, rejects, turns

from harness import plugins
from harness.detect import choose
from harness.errors import SynthesisError
from harness.importer import ImportOptions
from harness.look import cut_records
from harness.source import open_inputs

IDS = [fixture.name for fixture in FIXTURES]
STREAMS = [fixture for fixture in FIXTURES if fixture.suffix not in (".eval", ".parquet")]
WHY = {
    "anthropic_messages.jsonl": 'anthropic_messages: rows have "system" beside "messages"',
    "cases.jsonl": 'cases: rows have "id", "user" and "assistant"',
    "inspect_log.eval": "inspect_log: a log of inspect-ai with samples",
    "inspect_log.json": "inspect_log: a log of inspect-ai with samples",
    "langfuse.json": 'langfuse: rows have "input", "output" and "sessionId"',
    "langsmith.jsonl": 'langsmith: rows have "run_type", "inputs" and "outputs"',
    "openai_chat.jsonl": 'openai_chat: rows have "messages" with "role" and "content"',
    "openai_responses.jsonl": 'openai_responses: rows have "output" with items of the Responses API',
    "otel_genai.json": 'otel_genai: OTLP JSON with "resourceSpans"',
    "parquet.parquet": 'parquet: Parquet; rows have "messages" with "role" and "content"',
    "sharegpt.json": 'sharegpt: rows have "conversations" with "from" and "value"',
    "synthesis.jsonl": 'synthesis: events of a transcript, with "seq", "type" and "turn"',
    "table.csv": "table: rows have the columns prompt, response",
    "table.tsv": "table: rows have the columns conversation_id, role, content",
}
PASSED_OVER = {
    "langfuse.json": ["an observation that is no generation"],
    "langsmith.jsonl": ["a child of a run", "a run that ended in an error"],
    "openai_chat.jsonl": ["a reply that was not preferred", "a request without a reply"],
    "otel_genai.json": ["a span around calls of a model", "a span of something else"],
}


@pytest.mark.parametrize("fixture", FIXTURES, ids=IDS)
def test_a_fixture_is_detected_and_says_what_all_say(fixture: Path) -> None:
    (only,) = open_inputs([str(fixture)])
    assert only.why == WHY[fixture.name]
    assert only.importer == fixture.stem
    assert only.size == fixture.stat().st_size
    everything = readings(fixture)
    assert turns(everything) == TURNS
    assert rejects(everything) == []
    assert passed_over(everything) == PASSED_OVER.get(fixture.name, [])


@pytest.mark.parametrize("fixture", FIXTURES, ids=IDS)
def test_named_by_the_user_it_is_read_the_same(fixture: Path) -> None:
    assert readings(fixture, wanted=fixture.stem) == readings(fixture)


@pytest.mark.parametrize("fixture", FIXTURES, ids=IDS)
def test_no_other_importer_is_as_certain(fixture: Path) -> None:
    """Others may know such records too, but never with the same certainty."""
    (only,) = open_inputs([str(fixture)])
    if only.shape == "archive":
        numbered = list(enumerate(plugins.module("importers", fixture.stem).unpack(fixture), 1))
    else:
        numbered = list(cut_records([fixture.read_bytes()], only.seen.form))
    own = plugins.module("importers", fixture.stem).CERTAINTY
    for name in plugins.own("importers"):
        if name != fixture.stem and choose(numbered, only.shape, ImportOptions(), (name,)):
            assert own > plugins.module("importers", name).CERTAINTY, f"{name} wants {fixture.name}"


@pytest.mark.parametrize("fixture", STREAMS, ids=[fixture.name for fixture in STREAMS])
@pytest.mark.parametrize("packed", ["gzip", "zstd", "gzip in two members", "zstd in two frames"])
def test_compressed_it_is_the_same_whatever_it_is_called(fixture: Path, packed: str, tmp_path: Path) -> None:
    content = fixture.read_bytes()
    half = len(content) // 2
    squeeze = gzip.compress if packed.startswith("gzip") else zstandard.ZstdCompressor().compress
    parts = [content[:half], content[half:]] if "two" in packed else [content]
    file = tmp_path / "log.txt"
    file.write_bytes(b"".join(map(squeeze, parts)))
    (only,) = open_inputs([str(file)])
    assert only.compression == packed[:4]
    assert only.why == WHY[fixture.name]
    assert turns(readings(file)) == TURNS


READ = """
import sys
sys.path.insert(0, {tests!r})
from harness.importer import Found
from harness.source import open_inputs, read_chunk
(only,) = open_inputs(["-"])
print(only.path, only.why, only.size, sep="|")
for chunk in only.chunks():
    for reading in read_chunk(chunk):
        if isinstance(reading, Found):
            print(len(reading.conversation.turns()), reading.file, reading.line)
"""


@pytest.mark.parametrize("fixture", STREAMS, ids=[fixture.name for fixture in STREAMS])
def test_it_can_come_through_a_pipe(fixture: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ.format(tests=str(Path(__file__).parent))],
        input=gzip.compress(fixture.read_bytes()),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        check=True,
    )
    first, *rest = done.stdout.decode().splitlines()
    assert first == f"standard input|{WHY[fixture.name]}|None"
    assert sum(int(line.split()[0]) for line in rest) == 3


@pytest.mark.parametrize("name", ["inspect_log.eval", "parquet.parquet"])
def test_an_archive_has_to_be_a_file_of_its_own(name: str, tmp_path: Path) -> None:
    (fixture,) = [each for each in FIXTURES if each.name == name]
    file = tmp_path / "packed"
    file.write_bytes(gzip.compress(fixture.read_bytes()))
    with pytest.raises(SynthesisError, match="an archive cannot be read from a stream"):
        open_inputs([str(file)])


def test_ids_tags_and_fields_are_there_to_choose_by() -> None:
    by_name = {fixture.name: found(readings(fixture)) for fixture in FIXTURES}
    first = {name: items[0].conversation for name, items in by_name.items()}
    assert first["cases.jsonl"].id == "CARE-001"
    assert first["cases.jsonl"].tags == ("job-loss",)
    assert first["cases.jsonl"].fields == {"checks": ["agency_language"]}
    assert first["openai_chat.jsonl"].id.endswith("openai_chat.jsonl:1")
    assert first["openai_chat.jsonl"].fields == {"metadata": {"source": "help desk"}}
    assert first["openai_responses.jsonl"].fields["metadata"] == {"topic": "work"}
    assert first["langsmith.jsonl"].fields["metadata"] == {"topic": "work"}
    assert first["langsmith.jsonl"].tags == ("prod",)
    assert first["langfuse.json"].fields["userId"] == "u1"
    assert first["langfuse.json"].tags == ("job-loss",)
    assert first["otel_genai.json"].id == "051581bf3cb55c12"
    assert first["otel_genai.json"].fields["gen_ai"]["usage"] == {"input_tokens": 12}
    assert first["otel_genai.json"].fields["resource"] == {"service": {"name": "help-desk"}}
    assert first["inspect_log.eval"].fields["task"] == first["inspect_log.json"].fields["task"] == "care"
    assert first["inspect_log.eval"].fields["metadata"] == {"topic": "work"}
    assert first["table.csv"].tags == ("job-loss", "brief")
    assert first["table.csv"].fields == {"topic": "work"}
    assert first["synthesis.jsonl"].fields["end"] == {"reason": "completed", "terminated": True}
    assert [item.line for item in by_name["table.tsv"]] == [2, 5]
    assert [item.line for item in by_name["synthesis.jsonl"]] == [1, 7]


@pytest.mark.parametrize(
    "name", ["openai_chat.jsonl", "openai_responses.jsonl", "anthropic_messages.jsonl", "langsmith.jsonl",
             "langfuse.json", "otel_genai.json"]
)  # fmt: skip
def test_what_a_log_repeats_is_context_and_tools_are_no_people(name: str) -> None:
    (fixture,) = [each for each in FIXTURES if each.name == name]
    *_, last = found(readings(fixture))
    talk = [(each.role, each.context) for each in last.conversation.messages if each.role != "system"]
    assert talk == [("user", False), ("assistant", True), ("user", False), ("assistant", False)]
    everything = [each for item in found(readings(fixture)) for each in item.conversation.messages]
    assert not [each for each in everything if each.role == "user" and each.text == "nothing found"]
