"""Every file in `importers/` keeps to the shape the folder promises, whatever it is given."""

import ast
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imported import FIXTURES

from harness import plugins
from harness.conversation import Conversation, Message
from harness.importer import PARTS, ImportOptions, PassedOver, Shape, Unreadable
from harness.importers import table
from harness.look import cut_records
from harness.source import open_inputs

NAMES = plugins.own("importers")
_VOCABULARY = """
messages role content user assistant conversations from value gpt type text inputs outputs run_type input
output id traceId trace_id observations GENERATION data meta resourceSpans scopeSpans spans attributes
key stringValue events name gen_ai.input.messages gen_ai.output.messages gen_ai.prompt.0.content
gen_ai.choice message parts samples eval header task epoch attachments source choices response request
body params result preferred_output system chosen rejected weight tags conversation_id tool_result tool
lc kwargs generations error resourceLogs scopeLogs logRecords eventName arrayValue values intValue
kvlistValue context start seq v turn parent scenario seed attachment://x llm human prompts
"""
WORDS = _VOCABULARY.split()
"""What formats say; nonsense made of it goes further than nonsense made of anything."""
_LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.sampled_from(WORDS)
    | st.text(max_size=3) | st.just('[{"role": 1}]') | st.just("{}")
)  # fmt: skip
NONSENSE = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)


def test_the_folder_holds_what_is_promised() -> None:
    apis = {"anthropic_messages", "openai_chat", "openai_responses"}
    tools = {"inspect_log", "langfuse", "langsmith", "otel_genai"}
    assert {"cases", "parquet", "sharegpt", "synthesis", "table"} | apis | tools <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_it_is_in_one_line_and_stays_short(name: str) -> None:
    module = plugins.module("importers", name)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text("utf-8")
    first = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
    assert first.endswith(".")
    assert len(source.splitlines()) <= 300


@pytest.mark.parametrize("name", NAMES)
def test_an_importer_has_the_shape_of_an_importer(name: str) -> None:
    module = plugins.module("importers", name)
    assert module.SHAPES
    assert set(get_args(Shape)) >= module.SHAPES
    assert 1 <= module.CERTAINTY <= 9
    assert list(inspect.signature(module.recognise).parameters) == ["record"]
    assert list(inspect.signature(module.read).parameters) == ["record", "options"]
    assert module.recognise.__doc__
    assert module.read.__doc__
    if hasattr(module, "belongs"):
        assert list(inspect.signature(module.belongs).parameters) == ["before", "record", "options"]
    archive = "archive" in module.SHAPES
    assert (hasattr(module, "MAGIC"), hasattr(module, "unpack")) == (archive, archive)


@pytest.mark.parametrize("name", NAMES)
def test_every_importer_has_a_fixture(name: str) -> None:
    assert name in {fixture.stem for fixture in FIXTURES}


def test_a_table_knows_a_usual_name_for_every_part() -> None:
    assert sorted(table.SYNONYMS) == sorted(PARTS)


@pytest.mark.parametrize("name", NAMES)
@given(record=NONSENSE, more=NONSENSE)
@settings(max_examples=300, deadline=None)
def test_nonsense_is_unreadable_and_nothing_worse(name: str, record: Any, more: Any) -> None:
    """`recognise` gives words or None; `read` gives conversations that can be written, or says it cannot."""
    module = plugins.module("importers", name)
    why = module.recognise(record)
    assert why is None or (isinstance(why, str) and why)
    given: Any = record
    if hasattr(module, "belongs"):
        assert module.belongs(record, more, ImportOptions()) in (True, False)
        given = [record, more]
    hold_to_the_contract(module, given)


def hold_to_the_contract(module: ModuleType, given: Any) -> None:
    try:
        results = list(module.read(given, ImportOptions()))
    except Unreadable as error:
        results = [error]
    for result in results:
        if isinstance(result, Conversation):
            assert isinstance(result.id, str)
            assert result.messages
            assert all(isinstance(each, Message) and isinstance(each.text, str) for each in result.messages)
            assert all(each.role in ("system", "user", "assistant", "tool") for each in result.messages)
            assert all(isinstance(tag, str) for tag in result.tags)
            orjson.dumps(dict(result.fields))
            result.turns()
        else:
            assert isinstance(result, PassedOver | Unreadable)
            assert str(result)


def records_of(fixture: Path) -> list[Any]:
    module = plugins.module("importers", fixture.stem)
    if fixture.suffix in (".eval", ".parquet"):
        raws = list(module.unpack(fixture))
    else:
        form = open_inputs([str(fixture)])[0].seen.form
        raws = [raw for _, raw in cut_records([fixture.read_bytes()], form)]
    return [orjson.loads(raw) for raw in raws]


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for key, each in inside for way in ((*above, key), *places(each, (*above, key)))]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_a_damaged_record_is_unreadable_and_nothing_worse(fixture: Path, data: st.DataObject) -> None:
    """Any one value inside a good record is replaced, or taken out."""
    module = plugins.module("importers", fixture.stem)
    record = data.draw(st.sampled_from(records_of(fixture)))
    *above, last = data.draw(st.sampled_from(places(record)))
    place = record
    for key in above:
        place = place[key]
    if data.draw(st.booleans()):
        place[last] = data.draw(NONSENSE)
    else:
        del place[last]
    assert module.recognise(record) != ""
    hold_to_the_contract(module, [record] if hasattr(module, "belongs") else record)
