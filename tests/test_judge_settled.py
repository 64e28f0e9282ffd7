"""Who judges is found before anything runs, is written down, and what keeps it from being asked is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from judges import PLACE, read, verdict
from scenario_files import one_problem, scenario, write

from harness import schema
from harness.criteria.judge import Judge
from harness.endpoint import ModelAccess
from harness.errors import SynthesisError
from harness.facts import RecordedAccess, ScenarioFacts
from harness.model import ModelOptions

KEY = {"OPENAI_API_KEY": "k" * 20, "ANTHROPIC_API_KEY": "k" * 20}
HERE = "http://127.0.0.1:9/v1"


def settled(
    judge: Judge, scenario_judge: str | ModelOptions | None = None, *, confined: bool = False, **access: Any
) -> Judge:
    chosen = ModelAccess(**{"environment": KEY, **access})
    return judge.settle(ScenarioFacts(chosen, scenario_judge, confined), PLACE)


def refusal(judge: Judge, scenario_judge: str | ModelOptions | None = None, **more: Any) -> str:
    with pytest.raises(SynthesisError) as found:
        settled(judge, scenario_judge, **more)
    return str(found.value)


@pytest.mark.parametrize(
    ("own", "of_scenario", "of_line", "kept"),
    [
        ("openai:a", "openai:b", "openai:c", "openai:a"),
        (None, "openai:b", "openai:c", "openai:b"),
        (None, None, "anthropic:c", "anthropic:c"),
        ({"model": "openai:a"}, None, None, "openai:a"),
        ({"model": "openai:a", "max_tokens": 9}, None, None, {"model": "openai:a", "max_tokens": 9}),
        (None, ModelOptions(model="openai:b", base_url=HERE), None, {"model": "openai:b", "base_url": HERE}),
        ({"temperature": 0.5}, None, "openai:c", {"model": "openai:c", "temperature": 0.5}),
        (
            {"temperature": None, "model": None},
            ModelOptions(model="openai:b", temperature=1, max_tokens=9),
            "openai:c",
            {"model": "openai:b", "temperature": None, "max_tokens": 9},
        ),
        ("openai:a", ModelOptions(model="openai:b", base_url=HERE, max_tokens=9), None, "openai:a"),
    ],
)  # fmt: skip
def test_the_nearest_judge_is_asked_and_kept_in_the_definition(
    own: Any, of_scenario: str | ModelOptions | None, of_line: str | None, kept: Any
) -> None:
    judge = settled(read(judge_model=own), of_scenario, model=of_line)
    assert judge.definition() == {"judge": judge.judge, "max_score": 5, "judge_model": kept}
    assert judge.model_name == (kept if isinstance(kept, str) else kept["model"])


def test_what_is_recorded_finds_the_same_judge_again() -> None:
    first = settled(read(), model="openai:c", base_url=HERE)
    assert first.definition()["judge_model"] == {"model": "openai:c", "base_url": HERE}
    again = settled(read(**first.definition()))
    assert again.definition() == first.definition()
    assert again.model_name == "openai:c"


def test_settling_leaves_the_criterion_as_it_was() -> None:
    judge = read()
    settled(judge, "openai:b")
    assert judge.definition() == {"judge": judge.judge, "max_score": 5}


def test_nobody_to_ask_is_told_with_the_ways_out() -> None:
    said = refusal(read(name="kind"))
    assert said.startswith('s.json:/rubric: no model judges "kind"\n')
    for way in ('"judge_model"', "--judge-model", "SYNTHESIS_JUDGE_MODEL"):
        assert way in said


def test_a_file_from_a_stranger_does_not_choose_the_server() -> None:
    named = {"model": "openai:a", "base_url": HERE}
    assert "a file names a server" in refusal(read(judge_model=named), confined=True)
    of_scenario = ModelOptions(model="openai:b", base_url=HERE)
    assert "--judge-base-url" in refusal(read(), of_scenario, confined=True, option="--judge-base-url")
    more = ModelOptions(model="openai:b", extra_body={"top_k": 1})
    assert "a file adds to the request" in refusal(read(), more, confined=True)
    line = settled(read(), model="openai:c", base_url=HERE, confined=True)
    assert line.definition()["judge_model"] == {"model": "openai:c", "base_url": HERE}


def test_a_key_that_is_missing_and_a_name_that_is_none_are_told_before_anything_runs() -> None:
    assert "OPENAI_API_KEY is not set" in refusal(read(), "openai:b", environment={})
    assert '"gpt" is not PROVIDER:NAME' in refusal(read(), "gpt")
    assert '"gpt" is not PROVIDER:NAME' in refusal(read(), model="gpt")


def test_where_nothing_will_be_sent_nothing_is_missed_until_somebody_asks() -> None:
    judge = settled(read(), "openai:b", environment={}, offline=True)
    found = verdict(judge)
    assert found.status == "error"
    assert found.reason.startswith("the judge gave no answer: OPENAI_API_KEY is not set")


def deep(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize("levels", [200, 400])
def test_a_judge_that_a_report_could_not_hold_is_refused_before_anything_runs(
    tmp_path: Path, levels: int
) -> None:
    model = {"model": "openai:x", "extra_body": {"a": deep(levels)}}
    rubric = [{"judge": "Score it.", "name": "kind"}]
    file = write(tmp_path / "s.json", scenario(judge_model=model, rubric=rubric))
    assert 'a report cannot hold "kind": ' in one_problem(file, judge=ModelAccess(environment=KEY))


def recorded(**judge: Any) -> ScenarioFacts:
    return ScenarioFacts(RecordedAccess(environment=KEY), **judge)


@pytest.mark.parametrize(
    ("own", "of_scenario", "then", "kept"),
    [
        (None, None, "openai:c", "openai:c"),
        (None, None, {"model": "openai:c", "base_url": HERE}, {"model": "openai:c", "base_url": HERE}),
        (
            {"max_tokens": 9},
            ModelOptions(temperature=0.5),
            {"model": "openai:c", "temperature": 1, "stop": ["x"]},
            {"model": "openai:c", "max_tokens": 9, "temperature": 0.5},
        ),
        ("openai:a", None, "openai:c", "openai:a"),
        (None, ModelOptions(model="openai:b"), "openai:c", "openai:b"),
    ],
)
def test_where_nobody_is_named_whoever_judged_then_judges(
    own: Any, of_scenario: ModelOptions | None, then: Any, kept: Any
) -> None:
    waiting = read(judge_model=own).settle(recorded(judge_model=of_scenario), PLACE)
    found = waiting.settle_as(
        {"judge": "x", "judge_model": then}, ScenarioFacts(ModelAccess(environment=KEY)), PLACE
    )
    assert found.definition()["judge_model"] == kept
    assert found.model_name == (kept if isinstance(kept, str) else kept["model"])


@pytest.mark.parametrize(
    "then", [{}, {"judge_model": 5}, {"judge_model": "nobody"}, {"judge_model": {"x": 1}}]
)
def test_where_nobody_judged_then_either_that_is_told(then: dict[str, Any]) -> None:
    waiting = read(name="kind").settle(recorded(), PLACE)
    with pytest.raises(SynthesisError, match=r'no model judges "kind"|is not PROVIDER:NAME'):
        waiting.settle_as(then, ScenarioFacts(ModelAccess(environment=KEY)), PLACE)


def test_a_report_from_a_stranger_does_not_choose_the_server_either() -> None:
    then = {"judge_model": {"model": "openai:c", "base_url": HERE}}
    waiting = read().settle(recorded(), PLACE)
    with pytest.raises(SynthesisError, match="a file names a server"):
        waiting.settle_as(then, ScenarioFacts(ModelAccess(environment=KEY), confined=True), PLACE)


def test_a_script_can_judge() -> None:
    script = {"model": {"replies": [["hm", "3"], ["4"]]}}
    judge = settled(read(judge_model=script))
    found = verdict(judge)
    assert (found.points, found.evidence["model"], found.evidence["attempts"]) == (3.0, "scripted", [])
    assert [answer["text"] for answer in found.evidence["answers"]] == ["hm", "3"]
    assert read(**judge.definition()).definition() == judge.definition()
    silent = verdict(settled(read(judge_model=script, judge_repeats=2)))
    assert silent.status == "error"
    assert "one more was asked for" in silent.reason


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"judge": ""}, '/judge: "judge" is empty'),
        ({"judge": 5}, '/judge: "judge": input should be a valid string, not 5'),
        ({"judge_model": "gpt-5"}, '/judge_model: "gpt-5" is not PROVIDER:NAME'),
        ({"judge_model": "opnai:x"}, '"opnai:x" is not PROVIDER:NAME (did you mean "openai:…"?)'),
        ({"judge_model": {"model": "gpt-5"}}, '/judge_model/model: "gpt-5" is not PROVIDER:NAME'),
        ({"judge_model": {"modl": "openai:x"}}, '/judge_model: unknown key "modl"'),
        (
            {"judge_model": {"model": "openai:x", "temperature": -1}},
            '/judge_model/temperature: "temperature"',
        ),
        ({"judge_repeats": 0}, '/judge_repeats: "judge_repeats"'),
        ({"judge_repeats": 26}, '/judge_repeats: "judge_repeats"'),
        ({"judge_repeats": 1.5}, '/judge_repeats: "judge_repeats"'),
        ({"judge_repeats": True}, '/judge_repeats: "judge_repeats"'),
        ({"pass_at": 6}, '/rubric/0: "pass_at" is 6, and there are 5 points at most'),
        ({"pass_at": 0}, '/pass_at: "pass_at"'),
        ({"pass_at": "3"}, '/pass_at: "pass_at"'),
        ({"judge_modle": "openai:x"}, 'unknown key "judge_modle"\n  fix: did you mean "judge_model"?'),
        ({"weight": 2}, '"weight" and "max_score" mean the same'),
        ({"contains": "x"}, 'more than one scoring key: "judge" and "contains"'),
    ],
)
def test_a_judge_that_is_defined_badly_is_refused_with_its_place(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    rubric = [{"judge": "Score it.", "judge_model": "openai:x", "max_score": 5, **change}]
    problem = one_problem(
        write(tmp_path / "s.json", scenario(rubric=rubric)), judge=ModelAccess(environment=KEY)
    )
    assert said in problem
    assert "/scenarios/0/rubric/0" in problem
    assert "\n  fix: " in problem


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"judge_model": "openai:x", "judge_repeats": 25, "pass_at": 2.5}, True),
        ({"judge_model": {"model": "openai:x", "temperature": 0, "max_tokens": 5}}, True),
        ({"judge_model": {"model": {"replies": ["4"]}}}, True),
        ({"judge": ""}, False),
        ({"judge_repeats": 0}, False),
        ({"judge_repeats": 26}, False),
        ({"pass_at": 0}, False),
        ({"judge_model": {"modl": "x"}}, False),
        ({"weight": 1}, False),
        ({"ignore_case": True}, False),
    ],
)
def test_the_schema_knows_judges(change: dict[str, Any], valid: bool) -> None:
    criterion = {"judge": "Score it.", "max_score": 5, **change}
    known = Draft202012Validator(json.loads(schema.text("rubric")))
    assert known.is_valid({"rubric": [criterion]}) is valid
