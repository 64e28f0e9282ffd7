"""How fast turns are evaluated: `python benchmarks/turns.py [--turns 2000] [--rounds 7]`.

One process, one core, seconds of the processor. Replies of about 400 characters, each different from the
others. Prints turns per second, as the median of the rounds: of turns of which only the texts are known,
and of turns with a stance, memories, tools, sources and a golden answer, to which all dimensions apply. Then
the time for one long reply, and for one of twice its length.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path[0] = str(Path(__file__).parent.parent)  # else `harness` is the benchmark beside this file

from harness import TurnContext, evaluate_turn, evaluate_turns
from harness.turn_evaluation import Memory, Source, ToolInvocation, TurnInput

USER = "I turn {age} this spring. Which trail near Bergen would suit me? And how many days should I plan?"
REPLY = (
    "I'd be happy to help you with that, Anna. You mentioned being {age} years old and that you love "
    "hiking in Norway. I found {age} routes that could suit you: one near Bergen, one near Oslo, and one "
    "further north. The first takes about 4 days and isn't steep; it's a good start. Would you like me to "
    "compare them? Let me know which dates you have in mind, and I'll look up the weather and trains too."
)
GOLDEN = "The trail near Bergen suits you, Anna: it takes 4 days and is not steep. Plan one more for travel."
MEGABYTE = 1_000_000


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    kinds = {
        "reply only": [bare(index) for index in range(options.turns)],
        "full context": [full(index) for index in range(options.turns)],
    }
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(options.rounds):
        for name, turns in kinds.items():
            taken[name].append(timed(partial(consume, turns)))
    size = statistics.mean(len(turn.actual_response) for turn in kinds["full context"])
    for name, seconds in taken.items():
        rate = options.turns / statistics.median(seconds)
        print(f"{name:14} {rate:8,.0f} turns/s  (replies of {size:.0f} characters)")
    for length in (MEGABYTE, 2 * MEGABYTE):
        reply = (REPLY.format(age=30) + " ") * (length // len(REPLY))
        context = full(0).context
        works = [partial(evaluate_turn, USER, f"{each} {reply}", GOLDEN, context) for each in range(3)]
        seconds_each = [timed(work) for work in works]
        print(f"{length / MEGABYTE:.0f} MB reply     {statistics.median(seconds_each):8.2f} s")


def bare(index: int) -> TurnInput:
    """A turn of which nothing is known but its texts."""
    return TurnInput(user_message=USER.format(age=index), actual_response=REPLY.format(age=index))


def full(index: int) -> TurnInput:
    """A turn to which every dimension applies."""
    context = TurnContext(
        turn_index=index,
        stance="helpful",
        memories=(
            Memory(id="age", content=f"User is {index} years old", dimension="semantic"),
            Memory(id="hobby", content="User loves hiking in Norway", dimension="semantic"),
        ),
        tool_invocations=(
            ToolInvocation(name="trails", status="success", result=["Stoltzekleiven"]),
            ToolInvocation(name="weather", status="failure"),
        ),
        is_harmful_request=False,
        sources=(Source(url="https://example.org/trails", title="Trails of the west"),),
    )
    return bare(index).model_copy(update={"golden_response": GOLDEN, "context": context})


def consume(turns: Sequence[TurnInput]) -> None:
    """Evaluate them all."""
    for _ in evaluate_turns(turns):
        pass


def timed(work: Callable[[], object]) -> float:
    """Seconds of the processor, which other processes do not take part in."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
