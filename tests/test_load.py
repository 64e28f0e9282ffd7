"""Scenario files: their forms and order, and everything wrong with them said at once, in its place."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from scenario_files import Definition, load, one_problem, problems, scenario, tree, write

from harness.errors import SynthesisError
from harness.subject import SubjectError

PYTHON = """scenarios = [dict(
    name={name!r}, prompt="hi", rubric=[dict(contains="hello")],
    subject=dict(type="scripted", replies=["hello"]),
)]
"""


def rubric_problem(folder: Path, *criteria: object) -> str:
    return one_problem(write(folder / "s.json", scenario(rubric=list(criteria))))


# Forms and order


def test_a_folder_is_read_in_lexical_order_json_and_python_together(tmp_path: Path) -> None:
    write(tmp_path / "b.json", scenario("from b"), scenario("from b too"))
    (tmp_path / "a.py").write_text(PYTHON.format(name="from a"))
    write(tmp_path / "C.json", scenario("from C"))
    write(tmp_path / "inner" / "d.json", scenario("from d"))
    (tmp_path / "notes.txt").write_text("not read")
    assert [found.name for found in load(tmp_path)] == ["from C", "from a", "from b", "from b too"]
    deep = [found.name for found in load(tmp_path, recursive=True)]
    assert deep == ["from C", "from a", "from b", "from b too", "from d"]


def test_paths_keep_the_order_they_are_given_in(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.json", scenario("one")), write(tmp_path / "2.json", scenario("two"))
    assert [found.name for found in load(two, one)] == ["two", "one"]


@pytest.mark.parametrize(
    "body", [PYTHON, "def scenarios():\n    " + PYTHON.replace("scenarios = ", "return ")]
)
def test_python_gives_a_list_or_a_function_that_returns_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    file = tmp_path / "s.py"
    file.write_text(body.format(name="made"))
    said: list[str] = []
    assert [found.name for found in load(file, warn=said.append)] == ["made"]
    assert said == [f"{file} is code: it runs with your rights"]
    assert tree(tmp_path) == ["s.py"], "compiled code must not be left beside the scenarios"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("scenarios = 5", "no list of scenarios in it"),
        ("raise ValueError('boom')", "raised ValueError while loading: boom"),
        ("import sys; sys.exit(0)", "raised SystemExit while loading: 0"),
        ("def scenarios():\n    return 1 / 0", "raised ZeroDivisionError while loading: division by zero"),
        ("scenarios = [", "raised SyntaxError while loading: '[' was never closed"),
        ("raise ValueError('lone \\ud800')", "raised ValueError while loading: lone \\ud800"),
    ],
)
def test_python_that_fails_is_a_problem_beside_the_others(tmp_path: Path, code: str, what: str) -> None:
    (tmp_path / "s.py").write_text(code)
    write(tmp_path / "t.json", scenario(rubric=[]))
    python, empty = problems(tmp_path)
    assert python.startswith(f"{tmp_path / 's.py'}: {what}")
    assert '"rubric" is empty' in empty


def test_a_prompt_is_one_message_or_several(tmp_path: Path) -> None:
    one, several = load(write(tmp_path / "s.json", scenario("a", prompt="x"), scenario("b", "1", "2")))
    assert one.prompts == ("x",)
    assert several.prompts == ("hi", "hi")


def test_trusted_python_may_choose_the_subject_by_scenario_and_seed(tmp_path: Path) -> None:
    file = tmp_path / "s.py"
    file.write_text(
        "from harness.subject import SubjectError\n"
        "from harness.subjects.replay import Replay\n"
        "def choose(scenario, seed):\n"
        "    if seed == 3:\n        raise KeyError('no such seed')\n"
        "    if seed == 4:\n        return 'scripted'\n"
        "    if seed == 5:\n        return {'type': 'scripted', 'replies': []}\n"
        "    if seed == 6:\n        return Replay(transcript='gone.jsonl')\n"
        "    if seed == 7:\n        raise SubjectError('mine', 'not today')\n"
        "    return {'type': 'scripted', 'replies': [f'{scenario.name} {seed}']}\n"
        "scenarios = [dict(name='talk', prompt='hi', subject=choose, rubric=[{'terminated': True}])]\n"
    )
    (found,) = load(file)
    assert found.subject_for(2).model_dump()["replies"] == ("talk 2",)
    place = f"{file}:/scenarios/0/subject"
    for seed, kind, said in (
        (3, "KeyError", "'no such seed'"),
        (4, "subject", "the function gave str, not a subject"),
        (5, "subject", f'{place}/replies: "replies" is empty'),
        (6, "subject", f'{place}/transcript: "gone.jsonl" cannot be read: '),
        (7, "mine", "not today"),
    ):
        with pytest.raises(SubjectError) as raised:
            found.subject_for(seed)
        assert (raised.value.kind, str(raised.value)[: len(said)]) == (kind, said)
        assert "fix:" not in str(raised.value)


# What is wrong, where, and how to mend it


def test_the_design_s_own_example(tmp_path: Path) -> None:
    file = write(
        tmp_path / "grief.json", *(scenario(str(n)) for n in range(2)), scenario(rubric=[{"contain": "x"}])
    )
    assert one_problem(file) == (
        f'{file}:/scenarios/2/rubric/0: unknown key "contain"\n  fix: did you mean "contains"?'
    )


def test_everything_wrong_is_reported_together_each_in_its_place(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s.json",
        {
            "nmae": "x",
            "prompt": [],
            "seeds": "5",
            "fixtures": {"../up": "x", "a/b.txt": {"fil": "x"}},
            "subject": {"type": "scripted", "replies": [{"turns": [{"txt": "a"}]}]},
            "rubric": [{"contain": "x"}, {"agency_language": {"turnz": 1}}],
        },
        scenario("second", rubric=[{"contains": "x", "wieght": 2}, {"terminated": "yes"}]),
    )
    found = {problem.split("\n")[0].removeprefix(f"{file}:") for problem in problems(file)}
    assert found == {
        '/scenarios/0: "name" is missing',
        '/scenarios/0: unknown key "nmae"',
        '/scenarios/0/prompt: "prompt" is empty',
        '/scenarios/0/seeds: "seeds": input should be a valid integer, not "5"',
        '/scenarios/0/fixtures/a~1b.txt: "file" is missing',
        '/scenarios/0/fixtures/a~1b.txt: unknown key "fil"',
        '/scenarios/0/subject/replies/0/turns/0: unknown key "txt"',
        '/scenarios/0/rubric/0: unknown key "contain"',
        '/scenarios/0/rubric/1/agency_language: unknown key "turnz"',
        '/scenarios/1/rubric/0: unknown key "wieght"',
        '/scenarios/1/rubric/1/terminated: "terminated": input should be a valid boolean, not "yes"',
    }


@pytest.mark.parametrize(
    ("change", "place", "near"),
    [
        ({"promt": "x"}, "/scenarios/0", "prompt"),
        ({"subject": {"type": "scripted", "replys": ["x"]}}, "/scenarios/0/subject", "replies"),
        ({"system": {"flie": "x"}}, "/scenarios/0/system", "file"),
        ({"rubric": [{"contains": "x", "ignorecase": True}]}, "/scenarios/0/rubric/0", "ignore_case"),
        ({"rubric": [{"topic_pivot": {"combin": "all"}}]}, "/scenarios/0/rubric/0/topic_pivot", "combine"),
        ({"rubric": [{"includes": "care"}]}, "/scenarios/0/rubric/0", "include"),
    ],
)
def test_an_unknown_key_names_the_nearest_valid_one(
    tmp_path: Path, change: Definition, place: str, near: str
) -> None:
    file = write(tmp_path / "s.json", scenario(**change))
    (found,) = [problem for problem in problems(file) if "unknown key" in problem]
    assert found.startswith(f"{file}:{place}: unknown key")
    assert found.endswith(f'fix: did you mean "{near}"?')


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"scenarios": {}}',
        '{"rubric": []}',
        "not json",
        '{"scenarios": [',
        '"\\ud800"',
        "\xff",
    ],
)
def test_a_json_file_that_is_no_scenario_file_is_an_error_naming_it(tmp_path: Path, content: str) -> None:
    write(tmp_path / "a.json", scenario())
    (tmp_path / "b.json").write_text(content, "latin-1")
    found = one_problem(tmp_path)
    assert found.startswith(f"{tmp_path / 'b.json'}: not ")
    assert "move" in found


def test_unknown_keys_of_the_file_itself(tmp_path: Path) -> None:
    schema = {"$schema": "../schemas/scenario.schema.json"}
    assert problems(write(tmp_path / "s.json", scenario(), **schema)) == []
    assert 'unknown key "scenario"' in one_problem(write(tmp_path / "s.json", scenario(), scenario=1))


def test_no_scenarios_at_all(tmp_path: Path) -> None:
    assert one_problem(tmp_path).startswith(f"{tmp_path}: no scenarios\n  fix: ")
    assert "no scenarios" in one_problem(write(tmp_path / "s.json"))


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("missing", "no such file or folder"),
        ("notes.txt", "not a scenario file by its ending"),
        ("x" * 300, "no such"),
    ],
)
def test_a_path_that_is_none(tmp_path: Path, path: str, what: str) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert what in one_problem(tmp_path / path)


def test_two_names_that_make_one_file_name(tmp_path: Path) -> None:
    one = write(tmp_path / "1.json", scenario("Job loss"))
    two = write(tmp_path / "2.json", scenario("job/loss"))
    assert one_problem(tmp_path).startswith(
        f'{two}: the name "job/loss" makes the same file name as "Job loss" in {one}'
    )


def test_file_names_made_of_names_stay_short_and_inside(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "..", "喪" * 120, "a\x1b[31mb", "C:\\x"]
    slugs = [found.slug for found in load(write(tmp_path / "s.json", *map(scenario, names)))]
    assert slugs[:2] == ["-..-etc-passwd", "-"]
    assert slugs[3:] == ["a--31mb", "c--x"]
    assert slugs[2] == "喪" * 33, "a file name has at most 255 bytes, whatever the script"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rubric": []}, '/rubric: "rubric" is empty'),
        ({"prompt": ""}, '/prompt: "prompt" is empty'),
        ({"prompt": 5}, '/prompt: "prompt": input should be a valid string, not 5'),
        ({"seeds": 0}, "fix: give a number of at least 1"),
        ({"seeds": 100_001}, "fix: give a number of at most 100000"),
        ({"seeds": True}, "/seeds: "),
        ({"seeds": [3, 3]}, "a seed is listed twice in [3, 3]"),
        ({"seeds": [-1]}, "/seeds/0: "),
        ({"timeout": 0}, "fix: give a number above 0"),
        ({"timeout": "5"}, "fix: give a value of type number"),
        ({"name": "x" * 121}, "fix: use at most 120 characters"),
        ({"subject": None}, "/subject: the scenario has no subject"),
        ({"subject": "scripted"}, '/subject: "subject": input should be a valid object, not "scripted"'),
        ({"subject": {}}, '/subject: "type" is missing'),
        ({"subject": {"type": "scriptd"}}, '/subject: unknown type "scriptd"'),
        ({"subject": {"type": "scripted", "replies": []}}, '/subject/replies: "replies" is empty'),
        (
            {"subject": {"type": "function", "function": "os.getcwd"}},
            'a "function" subject needs trusted Python',
        ),
    ],
)
def test_bad_values(tmp_path: Path, change: Definition, said: str) -> None:
    assert said in one_problem(write(tmp_path / "s.json", scenario(**change)))


# Rubrics


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ({"contains": "x", "weight": 1, "max_score": 1}, '"weight" and "max_score" mean the same'),
        ({"contains": "x", "terminated": True}, 'more than one scoring key: "contains" and "terminated"'),
        ({"name": "x"}, "no scoring key"),
        ("contains", "a criterion is an object"),
        ({"contains": "x", "weight": 0}, "/rubric/0/weight"),
        ({"contains": "x", "weight": "2"}, "/rubric/0/weight"),
        ({"contains": 5}, "/rubric/0/contains"),
        ({"name": "x", "frobnicate": 1}, 'unknown key "frobnicate"\n  fix: use one of: '),
        ({"scope": "any"}, "no scoring key"),
        ({"matches": "("}, "not a regular expression (RE2 syntax): missing ): (\n"),
        ({"matches": r"(a)\1"}, "not a regular expression (RE2 syntax): invalid escape sequence: \\1\n"),
        ({"child_medium_used": "telepathy"}, "fix: use 'conversation', 'code' or 'bash'"),
        ({"gate_used": "x", "scope": "all"}, "/rubric/0/scope"),
        ({"score": "os.system"}, '"score" is a function'),
        (
            {"topic_pivot": "yes"},
            '/rubric/0/topic_pivot: "topic_pivot" is true, false or an object of options',
        ),
        ({"topic_pivot": {"turns": 0}}, "fix: give a number of at least 1"),
        ({"topic_pivot": {"turns": "first"}}, "fix: use 'every' or 'last'"),
        ({"topic_pivot": {"language": "tlh"}}, "/rubric/0/topic_pivot/language: no lexicon for language"),
        ({"topic_pivot": True, "checker": "x"}, 'unknown key "checker"'),
        ({"topic_pivot": True, "options": {}}, 'unknown key "options"'),
        ({"include": "care", "weight": 2}, '"include" stands alone'),
        ({"include": "no-such-rubric"}, 'no rubric "no-such-rubric"'),
        ({"include": "../care"}, '"../care" is not a rubric\'s name'),
        ({"include": "/etc/passwd"}, "is not a rubric's name"),
        ({"include": "c:x"}, "is not a rubric's name"),
        ({"include": "a\\b"}, "is not a rubric's name"),
        ({"include": "x" * 300}, "is not a rubric's name"),
        ({"include": "a\0b"}, "is not a rubric's name"),
    ],
)
def test_bad_criteria(tmp_path: Path, criterion: object, said: str) -> None:
    found = rubric_problem(tmp_path, {"contains": "fine"}, criterion)
    assert said.replace("/rubric/0", "/rubric/1") in found


def rubric_file(path: Path, *criteria: Definition, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"rubric": criteria, **more}))
    return path


def test_a_rubric_is_looked_for_beside_the_file_then_in_rubrics_then_among_the_bundled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bundled = tmp_path / "bundled"
    monkeypatch.setattr("harness.rubric.bundled", lambda _: bundled)
    file = write(tmp_path / "tests" / "s.json", scenario(rubric=[{"include": "care"}, {"terminated": True}]))

    def labels() -> list[str]:
        return [criterion.label for criterion in load(file)[0].criteria]

    rubric_file(bundled / "care.json", {"contains": "bundled"})
    assert labels() == ["contains: bundled", "terminated: True"]
    rubric_file(tmp_path / "rubrics" / "care.json", {"contains": "project"})
    assert labels() == ["contains: project", "terminated: True"]
    rubric_file(tmp_path / "tests" / "care.json", {"contains": "beside"})
    with pytest.raises(SynthesisError, match="not a scenario file"):
        load(file.parent)
    assert labels() == ["contains: beside", "terminated: True"]


def test_an_included_rubric_reports_its_own_places_once(tmp_path: Path) -> None:
    file = write(tmp_path / "s" / "s.json", *(scenario(name, rubric=[{"include": "r"}]) for name in "ab"))
    rubric = rubric_file(tmp_path / "s" / "r.json", {"contains": "x"}, {"contain": "x"})
    assert one_problem(file).startswith(f'{rubric}:/rubric/1: unknown key "contain"')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"rubric": []}', '/rubric: "rubric" is empty'),
        ('{"rubrik": [{"contains": "x"}]}', 'unknown key "rubrik"'),
        ("[]", "this has to be an object, not []"),
        ("nothing", "not readable as JSON"),
    ],
)
def test_a_bad_rubric_file_is_named(tmp_path: Path, content: str, said: str) -> None:
    file = write(tmp_path / "s.json", scenario(rubric=[{"include": "r"}]))
    (tmp_path / "r.json").write_text(content)
    found = problems(file)
    assert all(problem.startswith(str(tmp_path / "r.json")) for problem in found)
    assert any(said in problem for problem in found)


def test_rubrics_that_include_each_other_in_a_circle(tmp_path: Path) -> None:
    file = write(tmp_path / "s" / "s.json", scenario(rubric=[{"include": "a"}]))
    rubric_file(tmp_path / "s" / "a.json", {"include": "b"})
    rubric_file(tmp_path / "s" / "b.json", {"include": "a"})
    assert one_problem(file).startswith(f'{tmp_path / "s" / "b.json"}:/rubric/0: "a" includes itself')


def test_one_rubric_included_twice_is_no_circle(tmp_path: Path) -> None:
    file = write(tmp_path / "s" / "s.json", scenario(rubric=[{"include": "a"}, {"include": "a"}]))
    rubric_file(tmp_path / "s" / "a.json", {"contains": "x"})
    assert len(load(file)[0].criteria) == 2


# Fixtures and files


def test_fixtures_of_all_three_kinds(tmp_path: Path) -> None:
    data = bytes(range(256))
    (tmp_path / "picture.bin").write_bytes(data)
    fixtures = {
        "text.txt": "grüße\n",
        "deep/er/bytes": {"base64": base64.b64encode(data).decode()},
        "copy": {"file": "picture.bin"},
    }
    (found,) = load(write(tmp_path / "s.json", scenario(fixtures=fixtures)))
    assert found.fixtures == {"text.txt": "grüße\n".encode(), "deep/er/bytes": data, "copy": data}


def test_a_system_prompt_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "p.md").write_text("Be kind.", "utf-8")
    (found,) = load(write(tmp_path / "s.json", scenario(system={"file": "prompts/p.md"})))
    assert found.system == "Be kind."
    (tmp_path / "prompts" / "p.md").write_bytes(b"\xff")
    assert "/system/file: the file is not UTF-8" in one_problem(tmp_path / "s.json")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "an absolute path"),
        ("//server/share", "an absolute path"),
        ("../up", "a path that leads out"),
        ("a/../../up", "a path that leads out"),
        ("..", "a path that leads out"),
        ("C:x", "a drive letter"),
        ("c:/x", "a drive letter"),
        ("C:\\x", "a drive letter"),
        ("a\\..\\b", "a backslash"),
        ("a//b", "an empty part"),
        ("./a", "an empty part"),
        ("a/", "an empty part"),
        ("", "an empty part"),
        ("con", "reserved on Windows"),
        ("a/NUL.txt", "reserved on Windows"),
        ("Com1", "reserved on Windows"),
        ("lpt¹.log", "reserved on Windows"),
        ("aux .txt", "reserved on Windows"),
        ("CONOUT$", "reserved on Windows"),
        ("ab:stream", "not every system"),
        ("what?", "not every system"),
        ("end.", "not every system"),
        ("end ", "not every system"),
        ("a\0b", "not every system"),
        ("bell\x07", "not every system"),
        ("ä" * 101, "not every system"),
        ("a/" * 501 + "b", "too long a path"),
    ],
)
def test_fixture_paths_are_confined_before_anything_runs(tmp_path: Path, name: str, why: str) -> None:
    found = one_problem(write(tmp_path / "s.json", scenario(fixtures={name: "x"})))
    assert ":/scenarios/0/fixtures: " in found
    assert why in found


@pytest.mark.parametrize(
    "name", ["concert.txt", "com10", "...a", "a.b/c d.txt", ".hidden", "nul-and-void", "ä" * 100]
)
def test_ordinary_fixture_names_are_fine(tmp_path: Path, name: str) -> None:
    assert problems(write(tmp_path / "s.json", scenario(fixtures={name: "x"}))) == []


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ("a.txt", "A.TXT", "the same file on some systems"),
        ("caf\u00e9", "cafe\u0301", "the same file on some systems"),
        ("a", "A/b", "a file and the folder"),
        ("a/b/c", "a", "a file and the folder"),
    ],
)
def test_fixtures_that_clash(tmp_path: Path, one: str, two: str, said: str) -> None:
    assert said in one_problem(write(tmp_path / "s.json", scenario(fixtures={one: "1", two: "2"})))


@pytest.mark.parametrize(
    ("fixture", "said"),
    [
        ({"base64": "***"}, "/fixtures/f/base64: not base64"),
        ({"file": "missing"}, '/fixtures/f/file: "missing" cannot be read'),
        ({"file": "."}, "cannot be read"),
        ({"file": "a\0b"}, "cannot be read"),
        ({"file": "loop"}, "cannot be read"),
        ({"file": "x", "base64": "eA=="}, "unknown key"),
        (5, "/fixtures/f: "),
    ],
)
@pytest.mark.parametrize("data_only", [False, True])
def test_fixtures_that_cannot_be_had(tmp_path: Path, fixture: object, said: str, data_only: bool) -> None:
    (tmp_path / "loop").symlink_to("loop")
    found = problems(write(tmp_path / "s.json", scenario(fixtures={"f": fixture})), data_only=data_only)
    assert any(said in problem for problem in found)


@pytest.mark.parametrize("raw", [5, "x", None])
def test_a_scenario_that_is_no_object(tmp_path: Path, raw: object) -> None:
    (tmp_path / "s.json").write_text(json.dumps({"scenarios": [raw]}))
    found = one_problem(tmp_path)
    assert "/scenarios/0: this has to be an object, not " in found
    assert "fix: write it as { … }" in found


def test_a_wrong_key_of_a_map_is_pointed_at_itself(tmp_path: Path) -> None:
    subject = {"type": "command", "command": ["x"], "env": {"1x": "y"}}
    found = one_problem(write(tmp_path / "s.json", scenario(subject=subject)))
    assert "/subject/env/1x: " in found
    assert "[key]" not in found


def test_what_lies_very_deep_is_still_pointed_at_in_one_line(tmp_path: Path) -> None:
    turn: dict[str, Any] = {"text": 5}
    for _ in range(30):
        turn = {"child": {"turns": [turn]}}
    subject = {"type": "scripted", "replies": [{"turns": [turn]}]}
    where = one_problem(write(tmp_path / "s.json", scenario(subject=subject))).partition(': "text"')[0]
    pointer = where.removeprefix(f"{tmp_path / 's.json'}:")
    assert pointer.startswith("/scenarios/0/subject/replies/0/turns/0/child/")
    assert pointer.endswith("/child/turns/0/text")
    assert len(pointer) == 241


# Files that are none


@pytest.mark.parametrize("folder", [True, False])
@pytest.mark.parametrize("name", ["x.json", "x.py"])
def test_a_pipe_is_refused_and_not_waited_on(tmp_path: Path, name: str, folder: bool) -> None:
    os.mkfifo(tmp_path / name)
    assert f"{name}: not a regular file" in one_problem(tmp_path if folder else tmp_path / name)


def test_a_broken_link_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "a.json", scenario())
    (tmp_path / "b.json").symlink_to(tmp_path / "gone.json")
    assert "b.json: not a regular file" in one_problem(tmp_path)


def test_a_pipe_named_in_a_scenario_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = write(tmp_path / "s.json", scenario(fixtures={"a.txt": {"file": "pipe"}}))
    assert '"pipe" cannot be read: [Errno 22] not a regular file' in one_problem(file)


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ('{"scenarios": [], "scenarios": [1]}', "scenarios"),
        ('{"scenarios": [{"name": "a", "rubric": [], "rubric": [{"contains": "x"}]}]}', "rubric"),
    ],
)
def test_a_key_given_twice_is_an_error_that_names_it(tmp_path: Path, content: str, key: str) -> None:
    (tmp_path / "s.json").write_text(content)
    assert f'the key "{key}" is there twice in one object' in one_problem(tmp_path)


def test_a_rubric_file_has_no_key_twice_either(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"rubric": [{"contains": "x", "contains": "y"}]}')
    file = write(tmp_path / "scenarios" / "s.json", scenario(rubric=[{"include": "mine"}]))
    (tmp_path / "mine.json").rename(file.parent / "mine.json")
    assert 'mine.json: not readable as JSON: the key "contains" is there twice' in one_problem(file)


def test_json_nested_too_deeply_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"scenarios": [' + "[" * 1000 + "]" * 1000 + "]}")
    assert "s.json: not readable as JSON: " in one_problem(tmp_path)


# Files from strangers


def test_for_its_criteria_alone_a_scenario_needs_neither_its_subject_nor_its_files(tmp_path: Path) -> None:
    gone = {"file": "../gone"}
    program = {"type": "command", "command": ["true"]}
    file = write(tmp_path / "s.json", scenario(subject=program, system=gone, fixtures={"a": gone}))
    (found,) = load(file, data_only=True, criteria_only=True)
    assert [criterion.label for criterion in found.criteria] == ["contains: hello"]
    with pytest.raises(SubjectError, match="talk was loaded for its criteria, not to run seed 3"):
        found.subject_for(3)
    wrong = write(tmp_path / "w.json", scenario(subject={"type": "x"}, rubric=[{"contain": "x"}], name=""))
    assert len(problems(wrong, criteria_only=True)) == 2


def test_data_only_refuses_python_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nscenarios = []\n")
    warned: list[str] = []
    found = one_problem(tmp_path, data_only=True, warn=warned.append)
    assert found.startswith(f"{tmp_path / 's.py'}: a .py file is code")
    assert tree(tmp_path) == ["s.py"]
    assert warned == []


def test_data_only_refuses_programs(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", scenario(subject={"type": "command", "command": ["true"]}))
    assert problems(file) == []
    assert 'a "command" subject needs a run without --data-only' in one_problem(file, data_only=True)


@pytest.mark.parametrize(
    "name", ["../secret", "{outside}/secret", "link", "linked/secret", "in/../../secret"]
)
@pytest.mark.parametrize("use", ["fixtures", "system"])
def test_data_only_keeps_files_inside_the_scenario_s_folder(tmp_path: Path, name: str, use: str) -> None:
    (tmp_path / "secret").write_text("told")
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "in").mkdir()
    given: Definition = {"file": name.format(outside=tmp_path)}
    change: Definition = {use: {"f": given} if use == "fixtures" else given}
    file = write(folder / "s.json", scenario(**change))
    (found,) = load(file)
    assert "told" in (found.system, *(content.decode() for content in found.fixtures.values()))
    assert "is outside the scenario's folder" in one_problem(file, data_only=True)


def test_data_only_lets_links_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("inside")
    (tmp_path / "link").symlink_to("note")
    (found,) = load(write(tmp_path / "s.json", scenario(fixtures={"f": {"file": "link"}})), data_only=True)
    assert found.fixtures == {"f": b"inside"}


@pytest.mark.parametrize(
    "change",
    [
        "'name': '\\ud800'",
        "'prompt': 'lone \\ud800'",
        "'tags': ['\\udfff']",
        "'fixtures': {'f': '\\ud800'}",
        "'fixtures': {'\\ud800': 'f'}",
        "'system': '\\ud800'",
        "'subject': {'type': 'scripted', 'replies': ['\\ud800']}",
        "'subject': {'type': 'scripted', 'replies': [{'turns': [{'text': 'x'}], 'result': ['\\ud800']}]}",
        "'rubric': [{'contains': '\\ud800'}]",
        "'rubric': [{'expected_result': ['\\ud800']}]",
    ],
)
def test_lone_surrogates_are_refused_before_anything_runs(tmp_path: Path, change: str) -> None:
    file = tmp_path / "s.py"
    file.write_text(f"scenarios = [{{**{scenario()!r}, {change}}}]\n")
    found = problems(file)
    assert found
    assert all(problem.startswith(f"{file}:/scenarios/0/") for problem in found)
    assert all("\ud800" not in problem for problem in found)


@pytest.mark.parametrize("value", ["{1, 2}", "object()", "b'x'", "{1: 2}"])
def test_values_that_are_no_json_are_refused_before_anything_runs(tmp_path: Path, value: str) -> None:
    file = tmp_path / "s.py"
    file.write_text(f"scenarios = [{{**{scenario()!r}, 'rubric': [{{'expected_result': {value}}}]}}]\n")
    assert ":/scenarios/0/rubric/0/expected_result" in one_problem(file)
