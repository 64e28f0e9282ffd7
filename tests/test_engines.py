"""Every engine gives the same, in order, a few tasks ahead; and `--engine` is read with care."""

import ast
import pickle
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_tasks import (
    backwards,
    complain_at_three,
    leave,
    many_complaints,
    payload,
    process,
    square,
    stubborn,
    unloadable_task,
    unpicklable,
)

from harness import batch_size, plugins
from harness.cores import usable_cores
from harness.engine import Engine, open_engine
from harness.errors import Problems, Refused, SubjectError, SynthesisError

ENGINES = ["local", "processes:1", "processes:3", "processes", "dask"]
AHEAD = {
    "local": 1,
    "processes:1": 3,
    "processes:3": 9,
    "processes": 3 * usable_cores(),
    "dask": (3 * usable_cores() + 1) * batch_size.MOST,
}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with open_engine(request.param) as opened:
        yield opened


@pytest.fixture
def ahead(engine: Engine, request: pytest.FixtureRequest) -> int:
    return AHEAD[request.node.callspec.params["engine"]]


def test_results_come_in_the_order_of_the_tasks(engine: Engine) -> None:
    assert list(engine.map(backwards, range(50))) == list(range(50))


def test_the_same_workers_do_one_thing_after_another(engine: Engine) -> None:
    assert list(engine.map(square, [])) == []
    assert list(engine.map(square, iter(range(30)))) == [number * number for number in range(30)]
    assert list(engine.map(str.upper, ["a", "b"])) == ["A", "B"]


def test_large_results_and_tasks_pass(engine: Engine) -> None:
    sizes = [3_000_000, 0, 1, 70_000] * 3
    assert [len(result) for result in engine.map(payload, sizes)] == sizes
    assert list(engine.map(len, [b"y" * size for size in sizes])) == sizes


def test_tasks_are_pulled_a_few_ahead(engine: Engine, ahead: int) -> None:
    pulled = 0

    def tasks() -> Iterator[int]:
        nonlocal pulled
        while True:
            pulled += 1
            yield pulled

    results = engine.map(square, tasks())
    assert pulled == 0
    for number in range(1, 40):
        assert next(results) == number * number
        assert pulled < number + ahead
    results.close()  # type: ignore[attr-defined]
    assert list(engine.map(square, [2])) == [4], "left early, it goes on with something else"


def test_what_work_raises_is_raised_when_its_turn_comes(engine: Engine) -> None:
    results = engine.map(complain_at_three, range(10))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(SynthesisError) as caught:
        next(results)
    assert (caught.value.what, caught.value.where, caught.value.fix) == (
        "three",
        "numbers:/3",
        "count differently",
    )
    assert next(results, None) is None
    with pytest.raises(Problems, match=r"^one\ntwo\n  fix: mend it$") as many:
        list(engine.map(many_complaints, [1]))
    assert [problem.fix for problem in many.value.problems] == ["", "mend it"]
    with pytest.raises(SystemExit, match="left"):
        list(engine.map(leave, [1]))


def test_what_tasks_raise_is_raised(engine: Engine) -> None:
    def tasks() -> Iterator[int]:
        yield 1
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        list(engine.map(square, tasks()))
    assert list(engine.map(square, [3])) == [9]


@pytest.mark.parametrize("text", ["processes:1", "dask"])
def test_what_cannot_be_carried_over_is_said_and_loses_no_worker(text: str) -> None:
    with open_engine(text) as engine:
        [before] = engine.map(process, [1])
        with pytest.raises(SynthesisError, match=r"^StubbornError: cannot be pickled$"):
            list(engine.map(stubborn, [1]))
        with pytest.raises(TypeError, match=r"cannot pickle '_thread.lock' object"):
            list(engine.map(unpicklable, [1]))
        assert before in set(engine.map(process, range(8 * usable_cores())))


def test_a_task_that_a_worker_cannot_read_is_said() -> None:
    with open_engine("processes:1") as engine, pytest.raises(pickle.UnpicklingError, match="not here"):
        list(engine.map(repr, [unloadable_task()]))


def test_the_traceback_of_the_worker_is_the_cause() -> None:
    with open_engine("processes:1") as engine, pytest.raises(SynthesisError, match="three") as caught:
        list(engine.map(complain_at_three, [3]))
    assert "in complain_at_three" in str(caught.value.__cause__)


def test_as_many_workers_as_were_asked_for_and_no_more_than_there_are_tasks() -> None:
    with open_engine("processes:3") as engine:
        assert len(set(engine.map(process, [1]))) == 1
        assert len(set(engine.map(process, range(3000)))) == 3


def test_one_map_at_a_time() -> None:
    with open_engine("processes:1") as engine:
        first = engine.map(square, [1, 2])
        assert next(first) == 1
        with pytest.raises(RuntimeError, match="one map at a time"):
            next(engine.map(square, [3]))
        assert next(first) == 4


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("dusk", 'unknown engine "dusk"', "use one of: dask, local, processes"),
        ("", 'unknown engine ""', "use one of: dask, local, processes"),
        ("Local", 'unknown engine "Local"', "use one of"),
        ("_x", 'unknown engine "_x"', "use one of"),
        ("local:3", '"local:3": local takes nothing after its name', "processes:N"),
        ("local:", '"local:": nothing stands after the colon', "write local without it"),
        ("processes:", '"processes:": nothing stands after the colon', "write processes without it"),
        ("dask:", '"dask:": nothing stands after the colon', "write dask without it"),
        ("processes:0", '"processes:0": not a number of processes from 1 to 1024', "processes:4"),
        ("processes:x", '"processes:x": not a number', "processes:4"),
        ("processes:-1", '"processes:-1": not a number', "processes:4"),
        ("processes:²", '"processes:²": not a number', "processes:4"),
        ("processes:99999999999999999999", "not a number of processes", "processes:4"),
        ("dask:tcp://127.0.0.1:9", "no scheduler answers within 5 s", "dask scheduler"),
        ("dask:no such thing", "no scheduler answers within 5 s", "dask scheduler"),
        ("dask:tls://127.0.0.1:9", "no scheduler answers within 5 s", "dask scheduler"),
    ],
)
def test_mistakes_are_said_with_a_way_out(text: str, what: str, fix: str) -> None:
    with pytest.raises(SynthesisError) as caught, open_engine(text):
        pytest.fail("it opened")
    assert what in caught.value.what
    assert fix in caught.value.fix
    assert caught.value.where.startswith("--engine")


def test_without_the_extra_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(SynthesisError, match=re.escape("pip install 'synthesis-harness[scale]'")),
        open_engine("dask"),
    ):
        pytest.fail("it opened")


def test_workers_end_when_the_block_is_left_by_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr("harness.engines.local.Local.close", lambda _: closed.append("closed"))
    with pytest.raises(ZeroDivisionError), open_engine("local"):
        raise ZeroDivisionError
    assert closed == ["closed"]


@pytest.mark.parametrize(
    "error",
    [
        SynthesisError("what", where="here", fix="so"),
        Problems([SynthesisError("one", where="a"), SynthesisError("two", fix="b")]),
        SubjectError("model", "no answer"),
        Refused("wrong key"),
    ],
)
def test_errors_survive_pickling(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.args == error.args
    assert {name: str(value) for name, value in vars(again).items()} == {
        name: str(value) for name, value in vars(error).items()
    }


@pytest.mark.parametrize("name", plugins.own("engines"))
def test_a_file_in_the_folder_keeps_to_the_shape(name: str) -> None:
    module = plugins.module("engines", name)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text("utf-8")
    first = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
    assert first.endswith(".")
    assert len(source.splitlines()) <= 300
    kind: type[Engine] = plugins.only_class("engines", name, Engine)
    assert kind.__doc__
    assert kind.map is not Engine.map
    assert kind.close is not Engine.close


def test_the_folder_holds_what_is_promised() -> None:
    assert plugins.own("engines") == ("dask", "local", "processes")
