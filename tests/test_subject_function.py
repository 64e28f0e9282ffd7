"""Functions as subjects: threads and tasks of their own, late answers unheard, edited files run again."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from subject_trials import Outcome, evaluate, run

from harness.errors import SynthesisError
from harness.load import LoadOptions, load_scenarios

SCENARIO = """
scenarios = [{"name": "talk", "prompt": PROMPT, "seeds": SEEDS, "timeout": TIMEOUT,
    "subject": {"type": "function", "function": answer}, "rubric": [{"terminated": True}]}]
"""


def write(
    folder: Path, code: str, prompt: object = "hello", seeds: object = 1, timeout: float | None = None
) -> Path:
    file = folder / "talks.py"
    head = f"PROMPT, SEEDS, TIMEOUT = {prompt!r}, {seeds!r}, {timeout!r}\n"
    file.write_text(head + textwrap.dedent(code) + SCENARIO)
    return file


def answered(folder: Path, code: str, **more: object) -> Outcome:
    return run(write(folder, code, **more), folder / "run")  # type: ignore[arg-type]


def test_a_sync_function_answers_each_message(tmp_path: Path) -> None:
    outcome = answered(
        tmp_path,
        """
        def answer(prompt, context):
            with (context.workspace / "seen.txt").open("a") as seen:
                seen.write(prompt + "\\n")
            return f"{prompt} under {context.seed}, message {len(context.messages)}"
        """,
        prompt=["one", "two"],
        seeds=[7],
    )
    assert outcome.said(seed=7) == ["one under 7, message 1", "two under 7, message 3"]
    assert outcome.end(seed=7)["result"] == "two under 7, message 3"
    assert outcome.end(seed=7)["reason"] == "completed"
    assert (outcome.workspace(seed=7) / "seen.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("value", ["float('nan')", "[float('inf')]", "object()"])
def test_a_result_that_is_no_json_is_an_error(tmp_path: Path, value: str) -> None:
    code = f"""
        from harness.subject import Reply
        def answer(prompt, context):
            return Reply("hello", result={value})
    """
    kind, message = answered(tmp_path, code).error()
    assert (kind, "not JSON" in message) == ("json", True)


def test_what_a_function_gets_cannot_end_the_trial(tmp_path: Path) -> None:
    code = """
        def answer(prompt, context):
            context.recorder.end("completed", terminated=True, result="hello")
    """
    kind, message = answered(tmp_path, code).error()
    assert kind == "AttributeError"
    assert "'Sink' object has no attribute 'end'" in message


def test_an_async_function_answers(tmp_path: Path) -> None:
    outcome = answered(
        tmp_path,
        """
        import asyncio
        async def answer(prompt, context):
            await asyncio.sleep(0.01)
            return prompt.upper()
        """,
    )
    assert outcome.said() == ["HELLO"]


CALLABLES = {
    "async object": """
        class Bot:
            async def __call__(self, prompt, context):
                return "called"
        answer = Bot()
        """,
    "sync object": """
        class Bot:
            def __call__(self, prompt, context):
                return "called"
        answer = Bot()
        """,
    "bound method": """
        class Bot:
            def speak(self, prompt, context):
                return "called"
        answer = Bot().speak
        """,
    "partial": """
        import functools
        async def bot(text, prompt, context):
            return text
        answer = functools.partial(bot, "called")
        """,
    "lambda that gives a coroutine": """
        async def bot(prompt, context):
            return "called"
        answer = lambda prompt, context: bot(prompt, context)
        """,
}


@pytest.mark.parametrize("code", CALLABLES.values(), ids=CALLABLES.keys())
def test_whatever_can_be_called_can_answer(tmp_path: Path, code: str) -> None:
    assert answered(tmp_path, code).said() == ["called"]


def test_a_reply_carries_a_result_and_its_end(tmp_path: Path) -> None:
    outcome = answered(
        tmp_path,
        """
        from harness.subject import Reply
        def answer(prompt, context):
            return Reply("enough", result={"n": 3}, terminated=False)
        """,
        prompt=["one", "two"],
    )
    assert outcome.said() == ["enough"]
    end = outcome.end()
    assert (end["reason"], end["terminated"], end["result"]) == ("ward", False, {"n": 3})


def test_a_reply_without_a_result_results_in_its_text(tmp_path: Path) -> None:
    code = """
        from harness.subject import Reply
        def answer(prompt, context):
            return Reply("said and meant")
        """
    assert answered(tmp_path, code).end()["result"] == "said and meant"


@pytest.mark.parametrize("given", ["None", "42", "b'bytes'", "Reply(text=3)", "Reply('x', terminated='yes')"])
def test_anything_else_is_an_error_that_names_the_function(tmp_path: Path, given: str) -> None:
    code = f"from harness.subject import Reply\ndef answer(prompt, context):\n    return {given}\n"
    outcome = answered(tmp_path, code)
    kind, message = outcome.error()
    assert kind == "function"
    assert message.startswith("answer returned ")
    assert message.endswith(", not a text or a Reply")
    assert outcome.said() == []


def test_random_is_one_generator_per_trial_and_depends_on_the_seed(tmp_path: Path) -> None:
    code = """
        def answer(prompt, context):
            return f"{context.random.random()} {context.random.random()}"
        """
    first = answered(tmp_path, code, prompt=["one", "two"], seeds=2)
    numbers = " ".join(first.said(seed=1)).split()
    assert len(set(numbers)) == 4
    assert set(numbers).isdisjoint(" ".join(first.said(seed=2)).split())
    again = run(tmp_path / "talks.py", tmp_path / "again")
    assert again.said(seed=1) == first.said(seed=1)


def test_an_error_says_where_in_the_function(tmp_path: Path) -> None:
    code = """
        import json
        def answer(prompt, context):
            return json.loads("{")
        """
    outcome = answered(tmp_path, code, seeds=3)
    kind, message = outcome.error(seed=2)
    assert kind == "JSONDecodeError"
    assert message.startswith("answer, talks.py:5: Expecting property name")
    assert outcome.report.summary.errors == 3


@pytest.mark.parametrize("how", ["def", "async def"])
@pytest.mark.parametrize(
    ("raising", "kind"),
    [
        ("sys.exit(3)", "SystemExit"),
        ("raise asyncio.CancelledError", "CancelledError"),
        ("next(iter(()))", None),
        ("raise SubjectError('tired', 'no more')", "tired"),
    ],
)
def test_whatever_it_raises_ends_its_own_trial_only(
    tmp_path: Path, how: str, raising: str, kind: str | None
) -> None:
    code = f"""
        import asyncio, sys
        from harness.subject import SubjectError
        {how} answer(prompt, context):
            if context.seed == 2:
                {raising}
            return "fine"
        """
    outcome = run(write(tmp_path, code, seeds=4), tmp_path / "run", jobs=1)
    found, _ = outcome.error(seed=2)
    assert found == (kind or ("StopIteration" if how == "def" else "RuntimeError"))
    assert [outcome.said(seed=seed) for seed in (1, 3, 4)] == [["fine"]] * 3
    assert outcome.report.summary.not_run == 0


def test_a_function_that_blocks_does_not_block_the_others(tmp_path: Path) -> None:
    code = """
        import time
        def answer(prompt, context):
            time.sleep(0.4)
            return "rested"
        """
    started = time.monotonic()
    outcome = run(write(tmp_path, code, seeds=20), tmp_path / "run", jobs=20)
    assert time.monotonic() - started < 4
    assert [outcome.said(seed=seed) for seed in range(1, 21)] == [["rested"]] * 20


LATE = {
    "thread": """
        import time
        def answer(prompt, context):
            time.sleep(0.6)
            context.recorder.assistant("recorded too late")
            context.recorder.gate_call("late", None)
            (context.workspace / "late").touch()
            return "returned too late"
        """,
    "coroutine that will not be cancelled": """
        import asyncio
        async def answer(prompt, context):
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                context.recorder.assistant("recorded too late")
                (context.workspace / "late").touch()
                return "returned too late"
        """,
}


@pytest.mark.parametrize("code", LATE.values(), ids=LATE.keys())
def test_what_comes_after_the_timeout_is_not_in_the_transcript(
    tmp_path: Path, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run_and_linger() -> tuple[Outcome, bytes]:
        outcome = await evaluate(write(tmp_path, code, timeout=0.2), tmp_path / "run")
        at_the_end = outcome.raw()
        while not (outcome.workspace() / "late").exists():
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)
        return outcome, at_the_end

    outcome, at_the_end = asyncio.run(asyncio.wait_for(run_and_linger(), 8))
    assert outcome.raw() == at_the_end
    assert b"late" not in at_the_end
    assert [event["type"] for event in outcome.events()] == ["start", "user", "error", "end"]
    assert outcome.error()[0] == "timeout"
    assert outcome.end()["reason"] == "timeout"
    assert caplog.records == [], "asyncio complains of what nobody waits for"


def test_a_function_that_comes_back_after_the_run_is_over_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)
    code = """
        import time
        def answer(prompt, context):
            time.sleep(1)
            return "too late"
        """
    assert answered(tmp_path, code, timeout=0.1).error()[0] == "timeout"
    (left,) = [thread for thread in threading.enumerate() if thread.name == "subject answer"]
    left.join(10)
    assert not left.is_alive()
    assert complaints == []


def test_a_cancelled_coroutine_may_tidy_up_before_the_trial_is_over(tmp_path: Path) -> None:
    code = """
        import asyncio
        async def answer(prompt, context):
            try:
                await asyncio.sleep(10)
            finally:
                await asyncio.sleep(0.1)
                (context.workspace / "tidied").touch()
        """
    outcome = answered(tmp_path, code, timeout=0.1)
    assert outcome.error()[0] == "timeout"
    assert (outcome.workspace() / "tidied").exists()


def test_a_coroutine_that_never_lets_go_is_left_behind(tmp_path: Path) -> None:
    code = """
        import asyncio, time
        async def answer(prompt, context):
            until = time.monotonic() + 3
            while time.monotonic() < until:
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    pass
        """

    async def timed() -> float:
        started = time.monotonic()
        await evaluate(write(tmp_path, code, timeout=0.1), tmp_path / "run")
        return time.monotonic() - started

    assert asyncio.run(timed()) < 2.5


def test_a_hung_function_does_not_keep_the_interpreter(tmp_path: Path) -> None:
    code = """
        import time
        def answer(prompt, context):
            time.sleep(60)
        """
    file = write(tmp_path, code, timeout=0.2)
    script = (
        "import sys; from pathlib import Path; from subject_trials import run\n"
        f"print(run(Path({str(file)!r}), Path({str(tmp_path / 'run')!r})).error()[0])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("timeout\n", "")
    assert time.monotonic() - started < 20


def test_threads_are_daemons_and_carry_the_context_variables(tmp_path: Path) -> None:
    (tmp_path / "shared_variable.py").write_text(
        "import contextvars\nuser = contextvars.ContextVar('user', default='nobody')\n"
    )
    code = f"""
        import sys, threading
        sys.path.insert(0, {str(tmp_path)!r})
        from shared_variable import user
        def answer(prompt, context):
            said = f"{{user.get()}} {{threading.current_thread().daemon}}"
            user.set("someone else")
            return said
        """
    file = write(tmp_path, code, prompt=["one", "two"])

    async def with_variable() -> Outcome:
        load_scenarios([file])
        sys.modules["shared_variable"].user.set("ada")
        return await evaluate(file, tmp_path / "run")

    before = threading.active_count()
    try:
        outcome = asyncio.run(with_variable())
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("shared_variable", None)
    assert outcome.said() == ["ada True", "ada True"]
    assert threading.active_count() <= before + 1


def test_an_edited_file_runs_again_and_an_unchanged_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("")
    code = f"""
        def answer(prompt, context):
            with open({str(tmp_path / "calls")!r}, "a") as calls:
                calls.write("x")
            return "first"
        """
    file = write(tmp_path, code)
    first = run(file, tmp_path / "run")
    subject = first.events()[0]["subject"]
    assert (subject["type"], subject["function"]) == ("function", "answer")
    run(file, tmp_path / "run", resume=True)
    assert (tmp_path / "calls").read_text() == "x"
    write(tmp_path, code.replace("first", "second"))
    again = run(file, tmp_path / "run", resume=True)
    assert (tmp_path / "calls").read_text() == "xx"
    assert again.said() == ["second"]


def test_the_file_that_counts_is_the_one_the_function_is_written_in(tmp_path: Path) -> None:
    (tmp_path / "wrapping_library.py").write_text(
        "import functools\ndef traced(function):\n    @functools.wraps(function)\n"
        "    def wrapper(*given):\n        return function(*given)\n    return wrapper\n"
    )
    code = f"""
        import functools, sys
        sys.path.insert(0, {str(tmp_path)!r})
        from wrapping_library import traced
        sys.path.pop(0)
        @traced
        def inner(mood, prompt, context):
            return mood
        answer = functools.partial(inner, "calm")
        """
    first = run(write(tmp_path, code), tmp_path / "first").events()[0]["subject"]
    second = run(write(tmp_path, code.replace("calm", "bright")), tmp_path / "second").events()[0]["subject"]
    assert first["function"] == second["function"] == "inner"
    assert first["sha256"] != second["sha256"]


def test_a_function_from_no_file_has_no_hash(tmp_path: Path) -> None:
    code = "space = {}\nexec('def answer(prompt, context): return prompt', space)\nanswer = space['answer']\n"
    assert answered(tmp_path, code).events()[0]["subject"] == {
        "type": "function",
        "function": "answer",
        "sha256": None,
    }


def test_a_function_of_the_wrong_shape_is_refused_before_anything_runs(tmp_path: Path) -> None:
    file = write(tmp_path, "def answer(prompt):\n    return prompt\n")
    with pytest.raises(SynthesisError, match=r"answer has to take \(prompt, context\)"):
        load_scenarios([file])


def test_json_cannot_name_a_function(tmp_path: Path) -> None:
    file = tmp_path / "talks.json"
    file.write_text(
        '{"scenarios": [{"name": "talk", "prompt": "x", "rubric": [{"terminated": true}],'
        ' "subject": {"type": "function", "function": "os.system"}}]}'
    )
    with pytest.raises(SynthesisError, match=r'a "function" subject needs trusted Python'):
        load_scenarios([file], LoadOptions())
