"""Copies of one process tell each other where rules match, whoever is killed in between."""

import json
import random
import subprocess
import sys
import textwrap
from collections.abc import Sequence

import pytest
from test_core import needs_core

pytestmark = [
    needs_core,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only"),
]
BEGINNING = """
import json, os, signal, sys, time
from harness._core import Core
from harness.quick import CHECKS, description

NAMES = tuple(CHECKS.values())
TEXTS = json.load(sys.stdin)

def check(core, texts):
    return [core.check("My dad died. " + text, text, NAMES, 0.25) for text in texts]

def copied(work):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child
"""
ENDINGS = [f"you should call number {number}, and you'll be fine by then." for number in range(40)]
WORDS = [
    "must",
    "calm",
    "down",
    "should",
    "i",
    "promise",
    "perhaps",
    "would",
    "you",
    "like",
    "to",
    "tell",
    "me",
    "more",
    "about",
    "it",
    "never",
    "always",
    "fine",
]


def run(code: str, texts: Sequence[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + textwrap.dedent(code)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_what_one_copy_has_searched_no_other_searches() -> None:
    code = """
        alone, shared = Core(description("en")), Core(description("en"))
        shared.share()
        os.waitpid(copied(lambda: check(shared, TEXTS)), 0)
        same = check(shared, TEXTS) == check(alone, TEXTS)
        print(same, shared.searched(), alone.searched() > 80)
    """
    assert run(code, ENDINGS).split() == ["True", "0", "True"]


def test_alone_nothing_is_told() -> None:
    code = """
        core = Core(description("en"))
        os.waitpid(copied(lambda: check(core, TEXTS)), 0)
        check(core, TEXTS)
        print(core.searched() > 80)
    """
    assert run(code, ENDINGS).split() == ["True"]


def test_copies_that_look_at_the_same_at_once_do_not_mislead_each_other() -> None:
    """Texts of all kinds, some of them beyond a byte; each copy has all, in another order."""
    rng = random.Random(3)
    texts = [
        " ".join(
            rng.choice([*WORDS, "ça", "日本", "you’ll", "🙂", "X" * 40]) for _ in range(rng.randint(1, 30))
        )
        + "."
        for _ in range(400)
    ]
    code = """
        alone, shared = Core(description("en")), Core(description("en"))
        shared.share()
        expected = check(alone, TEXTS)

        def work(start):
            order = TEXTS[start:] + TEXTS[:start]
            found = check(shared, order)
            if found != expected[start:] + expected[:start]:
                os._exit(1)

        copies = [copied(lambda: work(start)) for start in (0, 1, 133, 266)]
        print([os.waitpid(copy, 0)[1] for copy in copies], check(shared, TEXTS) == expected)
    """
    assert run(code, texts) == "[0, 0, 0, 0] True\n"


@pytest.mark.parametrize("wait", [0.0, 0.002, 0.01, 0.03])
def test_a_copy_that_is_killed_leaves_nothing_wrong(wait: float) -> None:
    code = f"""
        alone, shared = Core(description("en")), Core(description("en"))
        shared.share()
        for _ in range(5):
            copy = copied(lambda: [check(shared, TEXTS) for _ in range(1000)])
            time.sleep({wait})
            os.kill(copy, signal.SIGKILL)
            assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == -9
        print(check(shared, TEXTS) == check(alone, TEXTS))
    """
    assert run(code, ENDINGS) == "True\n"


def test_when_there_is_no_room_left_all_goes_on() -> None:
    """Some fifteen megabytes of sentences, each another."""
    texts = [f"you must do it. {number} " + "and so it goes on " * 1500 for number in range(600)]
    code = """
        alone, shared = Core(description("en")), Core(description("en"))
        shared.share()
        os.waitpid(copied(lambda: check(shared, TEXTS)), 0)
        same = check(shared, TEXTS) == check(alone, TEXTS)
        print(same, 0 < shared.searched() < alone.searched())
    """
    assert run(code, texts).split() == ["True", "True"]


def test_the_workers_of_a_command_have_it() -> None:
    code = """
        from functools import partial
        from harness.check_file import Block, CheckOptions, check_block, expect_blocks
        from harness.engine import open_engine
        from harness.quick import core_of
        from harness.settings import CheckSettings

        settings = CheckSettings()
        options = CheckOptions(settings, "f")
        case = {"id": "T-1", "user": "Hm.", "assistant": " ".join(TEXTS), "checks": NAMES}
        block = Block(1, json.dumps(case).encode())

        def searched(block):
            check_block(options, block)
            time.sleep(0.5)
            return os.getpid(), core_of((), settings).searched()

        with open_engine("processes:2") as engine:
            expect_blocks(engine, options, 10**6)
            list(engine.map(partial(check_block, options), [block]))
            print(*sorted(dict(engine.map(searched, [block, block])).values()))
    """
    fewest, most = map(int, run(code, ENDINGS).split())
    assert (fewest, most > 40) == (0, True)
