"""An agent's code and commands run in real sandboxes, call gates, and cannot outstay their welcome."""

import asyncio
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from command_trials import children
from sandboxes import at_every_level, marked, sandbox

from harness.box import CodeBox, GateAnswer, GateCall, Ran, ShellBox, quoted_done
from harness.sandbox import Level, contains, strongest
from harness.transcript import Json

GATES = {"echo_back": ("value", "more"), "refuse": (), "done": ("result",)}


class Desk:
    """Answers for the gates, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Json]]] = []

    async def __call__(self, name: str, arguments: dict[str, Json]) -> GateAnswer:
        self.asked.append((name, arguments))
        if name == "refuse":
            return GateAnswer(ok=False, result="not today")
        return GateAnswer(ok=True, result=arguments.get("value"), final=name == "done")


Box = CodeBox | ShellBox


def use(box: Box, work: Callable[[], Awaitable[None]]) -> None:
    async def to_the_end() -> None:
        try:
            await work()
        finally:
            await box.close()

    asyncio.run(to_the_end())


def run_all(box: Box, *sources: str, call: GateCall | None = None) -> list[Ran]:
    found: list[Ran] = []

    async def one_after_another() -> None:
        found.extend([await box.run(textwrap.dedent(source), call or Desk()) for source in sources])

    use(box, one_after_another)
    return found


def code(folder: Path, level: Level | None = None, **limits: float) -> CodeBox:
    return CodeBox(sandbox(level or strongest(), folder, **limits), GATES)


def shell(folder: Path, level: Level | None = None, **limits: float) -> ShellBox:
    return ShellBox(sandbox(level or strongest(), folder, **limits), GATES)


@at_every_level
def test_variables_stay_and_a_last_value_is_echoed(level: Level, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "helper.py").write_text("half = 21")
    ran = run_all(
        code(tmp_path, level),
        "import helper\nx = helper.half",
        "x * 2",
        "print('said'); None",
        "'a' 'b'",
        "",
        "def f():\n    return x\nf()",
        "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\nPoint(1)",
    )
    assert ran == [Ran(output) for output in ("", "42\n", "said\n", "'ab'\n", "", "21\n", "Point(x=1)\n")]


@at_every_level
def test_gates_are_functions(level: Level, tmp_path: Path) -> None:
    desk = Desk()
    ran = run_all(
        code(tmp_path, level),
        "echo_back({'deep': [1, None, 'ü']})['deep']",
        "echo_back('a', more=2); echo_back(value='b'); echo_back('c', 'd')",
        call=desk,
    )
    assert ran == [Ran("[1, None, 'ü']\n"), Ran("'c'\n")]
    assert desk.asked[1:] == [
        ("echo_back", {"value": "a", "more": 2}),
        ("echo_back", {"value": "b"}),
        ("echo_back", {"value": "c", "more": "d"}),
    ]


def test_what_a_gate_refuses_can_be_caught_and_what_is_no_json_never_leaves(tmp_path: Path) -> None:
    desk = Desk()
    ran = run_all(
        code(tmp_path),
        "try:\n    refuse()\nexcept GateError as error:\n    print('caught', error)",
        "refuse()",
        "echo_back(object())",
        "echo_back(float('nan'))",
        "echo_back('\\ud800')",
        "echo_back(1, 2, 3)",
        "echo_back(1, value=2)",
        "echo_back('x' * 9_000_000)",
        "'still here'",
        call=desk,
    )
    assert ran[0] == Ran("caught not today\n")
    endings = [ran.error.splitlines()[-1] for ran in ran[1:8] if ran.error]
    assert [ending.partition(":")[0] for ending in endings] == [
        "GateError", "TypeError", "ValueError", "UnicodeEncodeError", "TypeError", "TypeError", "GateError",
    ]  # fmt: skip
    assert endings[0] == "GateError: not today"
    assert ran[-1] == Ran("'still here'\n")
    assert [name for name, _ in desk.asked] == ["refuse", "refuse"]


def test_errors_show_the_agents_own_lines_only(tmp_path: Path) -> None:
    ran = run_all(
        code(tmp_path),
        "def inner():\n    return {}['key']\n",
        "import json\nprint('before')\ninner()",
        "json.loads('nothing')",
        "1 +",
        "import sys\nsys.exit(4)",
        "raise ValueError('\\ud800' * 10_000)",
        "def again(): again()\nagain()",
    )
    assert ran[1] == Ran(
        "before\n",
        textwrap.dedent("""\
            Traceback (most recent call last):
              File "<code 2>", line 3, in <module>
                inner()
              File "<code 1>", line 2, in inner
                return {}['key']
                       ~~^^^^^^^
            KeyError: 'key'"""),
    )
    assert ran[2].error is not None
    assert ran[2].error.count("File ") == 1
    assert ran[2].error.endswith("JSONDecodeError: Expecting value: line 1 column 1 (char 0)")
    assert ran[3].error is not None
    assert "SyntaxError" in ran[3].error
    assert "box_runner" not in "".join(str(one.error) for one in ran)
    assert str(ran[4].error).endswith("SystemExit: 4")
    assert 3000 < len(str(ran[5].error)) < 5000
    assert str(ran[6].error).endswith("RecursionError: maximum recursion depth exceeded")
    assert len(str(ran[6].error)) < 2000


def test_what_subprocesses_print_is_there_too_in_order(tmp_path: Path) -> None:
    source = """
        import os, subprocess, sys
        print("first")
        subprocess.run("echo second; echo third >&2", shell=True)
        print("fourth", file=sys.stderr)
        written = os.write(2, b"fifth\\xff\\n")
    """
    closing = "import sys\nprint('x', end='')\nsys.stdout.close()"
    ran = run_all(code(tmp_path), source, closing, "print('open again')", "input()")
    assert ran[0].output == "first\nsecond\nthird\nfourth\nfifth\ufffd\n"
    assert ran[1] == Ran("x")
    assert ran[2] == Ran("open again\n")
    assert str(ran[3].error).endswith("EOFError: EOF when reading a line")


def test_much_output_is_cut_and_the_variables_stay(tmp_path: Path) -> None:
    ran = run_all(code(tmp_path, output=1000), "x = 1\nprint('y' * 5000)", "x", "'z' * 100_000", "x")
    assert ran[0] == Ran("y" * 1000, truncated=True)
    assert ran[1] == Ran("1\n")
    assert len(ran[2].output) == 1000
    assert ran[3] == Ran("1\n")


@at_every_level
def test_the_end_of_the_box_says_why_and_the_next_is_a_new_one(level: Level, tmp_path: Path) -> None:
    ran = run_all(
        code(tmp_path, level, seconds=2, output=1000),
        "x = 1",
        "print('before', flush=True)\nwhile True: pass",
        "'x' in globals()",
        "import os\nos._exit(3)",
        "while True: print('flood' * 100)",
        "'a new one'",
    )
    assert ran[1] == Ran("before\n", "not finished after 2 s; the variables are lost")
    assert ran[2] == Ran("False\n")
    assert ran[3] == Ran("", "the process ended with exit code 3; the variables are lost")
    assert ran[4].error is not None
    assert ran[4].error.startswith("stopped after ")
    assert ran[4].truncated
    assert ran[5] == Ran("'a new one'\n")


@at_every_level
def test_memory_files_and_processes_are_limited_in_a_box(level: Level, tmp_path: Path) -> None:
    hog = "x = bytearray(2**30)"
    huge = "open('huge', 'wb').write(bytes(3 * 2**20))"
    crowd = "import subprocess, time\nwhile True: subprocess.Popen(['sleep', '60'])"
    ran = run_all(
        code(tmp_path, level, file_mb=2, processes=20), hog, huge, "'alive'", crowd + "\ntime.sleep(60)"
    )
    assert str(ran[0].error).endswith("MemoryError")
    assert str(ran[1].error).endswith("OSError: [Errno 27] File too large")
    assert ran[2] == Ran("'alive'\n")
    said = ran[3].error or ""
    assert (
        said == "more than 20 processes and threads; the variables are lost" or "Resource temporarily" in said
    )


@at_every_level
def test_after_the_final_gate_nothing_more_is_run(level: Level, tmp_path: Path) -> None:
    desk = Desk()
    stubborn = """
        try:
            done(2)
        except BaseException:
            open("went-on", "w")
            echo_back("still here")
            open("and-on", "w")
    """
    ran = run_all(
        code(tmp_path, level),
        "x = 1\ntry:\n    print('a')\n    done(1)\nexcept Exception:\n    print('caught')\nprint('b')",
        "x",
        stubborn,
        "'a new one'",
        call=desk,
    )
    assert ran[0] == Ran("a\n")
    assert ran[1] == Ran("1\n")
    assert ran[2] == Ran("")
    assert ran[3] == Ran("'a new one'\n")
    assert not (tmp_path / "workspace" / "and-on").exists()
    assert desk.asked == [("done", {"result": 1}), ("done", {"result": 2})]


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b'{"gate": 5, "arguments": {}}\n',
        b'{"gate": "echo_back"}\n',
        b'{"gate": "echo_back", "arguments": [], "more": 1}\n',
        b'{"run": 77, "error": null}\n',
        b'{"run": 1, "error": 7}\n',
        b"[" * 5000 + b"\n",
        b'"\xff"\n',
    ],
)
def test_a_box_that_breaks_the_protocol_is_ended(tmp_path: Path, line: bytes) -> None:
    desk = Desk()
    source = f"""
        import os, stat, time
        for fd in range(3, 100):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    os.write(fd, {line!r})
            except OSError:
                pass
        time.sleep(60)
    """
    ran = run_all(code(tmp_path), source, "'a new one'", call=desk)
    assert ran[0] == Ran("", "what it sent us was not understood; the variables are lost")
    assert ran[1] == Ran("'a new one'\n")
    assert desk.asked == []


def test_a_line_without_end_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.box.LONGEST_LINE", 2**16)
    source = """
        found = [cell.cell_contents for cell in echo_back.__closure__]
        channel = next(each for each in found if hasattr(each, "call"))
        while True:
            channel._socket.sendall(b"x" * 4096)
    """
    (ran,) = run_all(code(tmp_path), source)
    assert ran.error == "what it sent us was not understood; the variables are lost"


def test_a_forked_child_does_not_speak_for_the_box(tmp_path: Path) -> None:
    desk = Desk()
    source = """
        import os
        child = os.fork()
        if child == 0:
            echo_back("from the child")
        os.waitpid(child, 0)[1]
    """
    assert run_all(code(tmp_path), source, call=desk) == [Ran("256\n")]
    assert desk.asked == []


def test_a_forked_child_does_not_outlive_its_piece_of_code(tmp_path: Path) -> None:
    """It would say that the piece is over, and be asked the next."""
    fork = "child = os.fork()\nif child: status = os.waitpid(child, 0)[1]"
    ran = run_all(code(tmp_path), "import os\nowner = os.getpid()", fork, "os.getpid() == owner, status")
    assert ran == [Ran(""), Ran(""), Ran("(True, 256)\n")]


def test_a_gate_nobody_offered(tmp_path: Path) -> None:
    source = """
        found = [cell.cell_contents for cell in echo_back.__closure__]
        channel = next(each for each in found if hasattr(each, "call"))
        channel.call("secret_gate", {})
    """
    (ran,) = run_all(code(tmp_path), source)
    assert str(ran.error).endswith('GateError: there is no gate "secret_gate"')


def test_the_time_a_gate_takes_is_not_the_codes(tmp_path: Path) -> None:
    async def slow(name: str, arguments: dict[str, Json]) -> GateAnswer:
        await asyncio.sleep(2.5)
        return GateAnswer(ok=True, result="late")

    for name in ("code", "shell"):
        (tmp_path / name).mkdir()
    assert run_all(code(tmp_path / "code", seconds=2), "echo_back()", call=slow) == [Ran("'late'\n")]
    assert run_all(shell(tmp_path / "shell", seconds=2), "echo_back", call=slow) == [Ran("late", None, 0)]


@pytest.mark.parametrize("kind", [code, shell])
def test_what_a_gate_raises_is_raised_and_ends_the_box(tmp_path: Path, kind: Callable[[Path], Box]) -> None:
    async def broken(name: str, arguments: dict[str, Json]) -> GateAnswer:
        raise TimeoutError("the gate's own")

    box = kind(tmp_path)

    async def work() -> None:
        source = "echo_back()" if isinstance(box, CodeBox) else "echo_back"
        with pytest.raises(TimeoutError, match="the gate's own"):
            await box.run(source, broken)
        assert box.program is None
        assert (await box.run("True" if isinstance(box, CodeBox) else "echo True", broken)).output == "True\n"

    use(box, work)


SLEEPER = "import os, time\nif os.fork() == 0:\n    os.setsid()\nos.execvp('sleep', ['sleep', '{mark}'])"


@at_every_level
@pytest.mark.parametrize("kind", ["code", "shell"])
def test_cancelled_everything_is_ended(level: Level, tmp_path: Path, kind: str) -> None:
    mark = f"60.{abs(hash((level, kind, str(tmp_path)))) % 10**9:09}"
    box: Box = code(tmp_path, level) if kind == "code" else shell(tmp_path, level)
    source = SLEEPER.format(mark=mark) if kind == "code" else f"setsid sleep {mark} & sleep {mark}"

    async def cancel() -> None:
        task = asyncio.ensure_future(box.run(source, Desk()))
        while len([pid for pid in marked(mark) if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]) < 2:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert marked(mark) == []

    use(box, cancel)


@pytest.mark.parametrize("kind", ["code", "shell"])
def test_cancelled_at_any_step_nothing_stays(tmp_path: Path, kind: str) -> None:
    mark = f"60.{abs(hash((kind, str(tmp_path)))) % 10**9:09}"

    async def cancel_after(steps: int) -> None:
        box: Box = code(tmp_path) if kind == "code" else shell(tmp_path)
        source = SLEEPER.format(mark=mark) if kind == "code" else f"sleep {mark}"
        task = asyncio.ensure_future(box.run(source, Desk()))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await box.close()

    before, family = len(list(Path("/proc/self/fd").iterdir())), children()
    for steps in range(1, 16):
        asyncio.run(cancel_after(steps))
    assert marked(str(tmp_path)) == []
    assert marked(mark) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert children() == family


@at_every_level
def test_a_command_runs_in_the_workspace(level: Level, tmp_path: Path) -> None:
    ran = run_all(
        shell(tmp_path, level),
        "echo one > made; cat made; echo two >&2; cd /; exit 3",
        "cat made; x=1",
        'echo "$x"; kill -9 $$',
        "echo $(( 1 + ",
        "cat; cat <(echo substituted)",
        f": {'x' * 300_000}\necho long",
    )
    assert ran[0] == Ran("one\ntwo\n", None, 3)
    assert ran[1] == Ran("one\n", None, 0)
    assert ran[2].exit_code == 137
    assert ran[3].exit_code in (1, 2)
    assert ran[4] == Ran("substituted\n", None, 0)
    assert ran[5] == Ran("long\n", None, 0)
    assert (tmp_path / "workspace" / "made").read_text() == "one\n"


@at_every_level
def test_gates_are_commands(level: Level, tmp_path: Path) -> None:
    desk = Desk()
    ran = run_all(
        shell(tmp_path, level),
        """
        echo_back 'as it is'
        echo; echo_back a b >/dev/null
        echo_back --more b --value=a >/dev/null
        echo_back '{"value": {"n": [1]}, "more": 1}'
        echo_back '{"other": 1}'
        echo; echo_back -- --more | tr a-z A-Z
        """,
        "refuse; echo $?; echo_back 1 2 3; echo $?; echo_back --value; echo $?",
        call=desk,
    )
    assert ran[0] == Ran('as it is\n{"n": [1]}\n{"other": 1}\n--MORE', None, 0)
    assert ran[1].output == (
        "refuse: not today\n1\n"
        "echo_back: 3 arguments are too many: value, more\n1\n"
        "echo_back: --value needs a value\n1\n"
    )
    assert desk.asked == [
        ("echo_back", {"value": "as it is"}),
        ("echo_back", {"value": "a", "more": "b"}),
        ("echo_back", {"value": "a", "more": "b"}),
        ("echo_back", {"value": {"n": [1]}, "more": 1}),
        ("echo_back", {"value": '{"other": 1}'}),
        ("echo_back", {"value": "--more"}),
        ("refuse", {}),
    ]


@at_every_level
@pytest.mark.parametrize(
    "source",
    [
        'echo a; done "the answer"; echo b',
        "for i in a; do echo $i; done 2>&1 | cat\ndone 'the answer' && echo b",
        "echo a; if true; then done --result 'the answer'; fi; echo b",
        "echo a; \\done 'the answer'; echo b",
        "echo a; command done 'the answer'; echo b",
        """echo a; "done" '{"result": "the answer"}'; echo b""",
    ],
)
def test_done_ends_a_command(level: Level, tmp_path: Path, source: str) -> None:
    desk = Desk()
    assert run_all(shell(tmp_path, level), source, call=desk) == [Ran("a\n", None, 0)]
    assert desk.asked == [("done", {"result": "the answer"})]


def test_loops_and_texts_with_done_in_them_are_left_alone(tmp_path: Path) -> None:
    loop = "for i in 1 2; do\n  echo $i\ndone | sort -r"
    text = "cat <<END\ndone with it\nEND"
    assert run_all(shell(tmp_path), loop, text) == [Ran("2\n1\n", None, 0), Ran("done with it\n", None, 0)]
    assert quoted_done(loop) == loop
    assert quoted_done("x; done y") == "x; \\done y"


@at_every_level
def test_limits_of_a_command(level: Level, tmp_path: Path) -> None:
    ran = run_all(
        shell(tmp_path, level, seconds=2, output=1000, processes=20),
        "echo before; sleep 60",
        "yes",
        "for i in $(seq 60); do sleep 60 & done; wait",
        "head -c 3000 /dev/zero | tr '\\0' y",
        "sleep 61.5 & echo left",
    )
    assert ran[0] == Ran("before\n", "not finished after 2 s")
    assert str(ran[1].error).startswith("stopped after ")
    assert ran[2].error == "more than 20 processes and threads"
    assert ran[3] == Ran("y" * 1000, None, 0, truncated=True)
    assert ran[4] == Ran("left\n", None, 0)


@at_every_level
def test_what_comes_in_by_the_socket_is_a_strangers_too(level: Level, tmp_path: Path) -> None:
    """Nonsense is not answered, nor who has no secret, nor more connections than needed; a gate still is."""
    desk = Desk()
    source = r"""
        cat > talk.py <<'END'
        import os, pathlib, socket, subprocess, sys
        os.chdir(pathlib.Path(os.environ["PATH"].split(":")[0]).parent)
        def said(line):
            one = socket.socket(socket.AF_UNIX)
            one.connect("gates")
            one.sendall(line) if line else None
            return one
        asked = b'{"gate": "echo_back", "arguments": {}'
        for line in (b"x\n", b"[]\n", b'{"run": 1, "error": null}\n', b"\xff\n", b'{"gate": "echo_back"}\n',
                     asked + b"}\n", asked + b', "secret": "\xc3\xbc"}\n'):
            with said(line) as one:
                print(one.recv(10))
        kept = [said(b"") for _ in range(40)]
        print(kept[-1].recv(10))
        for one in kept:
            one.close()
        END
        python3 talk.py
        echo_back fine
    """
    (ran,) = run_all(shell(tmp_path, level), source, call=desk)
    assert ran == Ran("b''\n" * 8 + "fine", None, 0)
    assert desk.asked == [("echo_back", {"value": "fine"})]


def test_gates_of_several_commands_at_once_are_answered_one_at_a_time(tmp_path: Path) -> None:
    busy: list[int] = []

    async def one_at_a_time(name: str, arguments: dict[str, Json]) -> GateAnswer:
        busy.append(1)
        assert len(busy) == 1
        await asyncio.sleep(0.05)
        busy.pop()
        return GateAnswer(ok=True, result=arguments["value"])

    source = "for i in 1 2 3 4; do echo_back $i > out-$i & done; wait; cat out-*"
    assert run_all(shell(tmp_path), source, call=one_at_a_time) == [Ran("1234", None, 0)]


def test_a_gate_is_not_called_for_a_command_that_is_gone(tmp_path: Path) -> None:
    asked = []

    async def slow(name: str, arguments: dict[str, Json]) -> GateAnswer:
        asked.append(arguments["value"])
        (tmp_path / "workspace" / "busy").touch()
        while not (tmp_path / "workspace" / "gone").exists():
            await asyncio.sleep(0.02)
        return GateAnswer(ok=True, result="")

    source = """
        echo_back first & first=$!
        until test -e busy; do sleep 0.05; done
        timeout 1 python3 - "${PATH%%:*}" <<'END'
        import json, os, socket, sys
        os.chdir(f"{sys.argv[1]}/..")
        one = socket.socket(socket.AF_UNIX)
        one.connect("gates")
        asked = {"gate": "echo_back", "arguments": {"value": "second"}, "secret": open("secret").read()}
        one.sendall(json.dumps(asked).encode() + b"\\n")
        one.recv(10)
        END
        touch gone
        wait $first
        echo_back third
    """
    assert run_all(shell(tmp_path), source, call=slow) == [Ran("", None, 0)]
    assert asked == ["first", "third"]


@at_every_level
def test_what_lies_in_another_box_is_not_seen(level: Level, tmp_path: Path) -> None:
    box = sandbox(level, tmp_path)
    first, second = ShellBox(box, GATES), ShellBox(box, GATES)
    run_all(first, "echo hello")
    look = 'cat "${PATH%%:*}/../../box-1/command" 2>/dev/null; cat "${PATH%%:*}/../command" | wc -l'
    (ran,) = run_all(second, look)
    assert ran == Ran("0\n" if contains(level).reading else "echo hello0\n", None, 0)


def test_a_private_folder_with_a_long_name(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    assert run_all(shell(folder), "echo_back x") == [Ran("x", None, 0)]


def test_two_boxes_share_a_sandbox_and_one_box_two_runs(tmp_path: Path) -> None:
    box = sandbox(strongest(), tmp_path)
    first, second = ShellBox(box, {"echo_back": ("value",)}), ShellBox(box, {})

    async def both() -> tuple[Ran, Ran, Ran]:
        return await asyncio.gather(
            first.run("echo_back 1", Desk()), second.run("echo_back 2"), first.run("echo 3", Desk())
        )

    ran = asyncio.run(both())
    assert ran[0] == Ran("1", None, 0)
    assert ran[1].exit_code == 127
    assert ran[2] == Ran("3\n", None, 0)


def test_the_order_of_a_set_is_the_same_every_time(tmp_path: Path) -> None:
    source = "print({str(number) for number in range(100)})"
    outputs = set()
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        outputs.add(run_all(code(tmp_path / str(number)), source)[0].output)
    assert len(outputs) == 1
