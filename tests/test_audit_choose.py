"""Which conversations are looked at: conditions, and lots that depend on nothing but place and seed."""

import random

import pytest

from harness.choose import Lots, Spot, Urn, parse_where, smallest
from harness.conversation import Conversation, Message
from harness.errors import SynthesisError

TALK = Conversation(
    "c-1",
    (Message("user", "hi"), Message("assistant", "hello")),
    tags=("billing", "vip"),
    fields={
        "lang": "en", "meta": {"score": 5, "ok": True, "none": None, "list": ["a", {"b": "c"}]},
        "a.b": "dotted", "deep": {"er": {"still": 1.5}},
    },
)  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("tag=billing", True),
        ("tag=bill", False),
        ("tag!=vip", False),
        ("tag!=other", True),
        ("tags=vip", True),
        ("id=c-1", True),
        ("id=c-2", False),
        ("id!=c-1", False),
        ("role=assistant", True),
        ("role=tool", False),
        ("role!=tool", True),
        ("lang=en", True),
        ("lang!=en", False),
        ("meta.score=5", True),
        ("meta.score=5.0", False),
        ("meta.ok=true", True),
        ("meta.ok=True", False),
        ("meta.none=null", True),
        ("meta.list=a", True),
        ("meta.list.b=c", True),
        ("meta.list=c", False),
        ("a.b=dotted", True),
        ("deep.er.still=1.5", True),
        ("deep.er=1.5", False),
        ("missing=x", False),
        ("missing!=x", True),
        ("lang.deeper=en", False),
        ("lang=", False),
        ("x=y=z", False),
    ],
)
def test_a_condition(condition: str, holds: bool) -> None:
    (parsed,) = parse_where([condition])
    assert parsed.holds(TALK) is holds
    assert str(parsed) == condition


@pytest.mark.parametrize("text", ["", "tag", "=x", "!=x", "role=somebody"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(SynthesisError) as error:
        parse_where([text])
    assert error.value.where == "--where"
    assert error.value.fix


def drawn(lots: list[bytes], size: int, cuts: list[int]) -> tuple[bytes, int]:
    urn = Urn(size)
    for start, end in zip([0, *cuts], [*cuts, len(lots)], strict=True):
        urn.add(smallest(lots[start:end], size))
    return urn.cutoff(), urn.population


def test_the_sample_does_not_depend_on_how_the_input_is_cut() -> None:
    lots = [Spot(0, "", line, 0).lot(7) for line in range(1000)]
    expected = sorted(lots)[49]
    chance = random.Random(3)
    for _ in range(20):
        cuts = sorted(chance.sample(range(1000), 5))
        assert drawn(lots, 50, cuts) == (expected, 1000)
    assert sum(lot <= expected for lot in lots) == 50


def test_where_there_are_fewer_than_asked_for_all_are_drawn() -> None:
    lots = [Spot(0, "", line, 0).lot(7) for line in range(10)]
    cutoff, population = drawn(lots, 50, [3])
    assert population == 10
    assert all(lot <= cutoff for lot in lots)


def test_an_empty_urn_draws_nothing_and_does_not_fall() -> None:
    urn = Urn(5)
    urn.add(Lots(0, ()))
    assert (urn.population, urn.cutoff()) == (0, b"\xff" * 16)


def test_every_part_of_a_place_and_the_seed_change_the_lot() -> None:
    lots = {
        Spot(*place).lot(seed)
        for place in [(0, "", 1, 0), (1, "", 1, 0), (0, "/x", 1, 0), (0, "", 2, 0), (0, "", 1, 1)]
        for seed in (1, 2)
    }
    assert len(lots) == 10


def test_lots_are_even() -> None:
    """Among the smallest half as many from the first half of the lines as from the second, about."""
    cutoff = sorted(Spot(0, "", line, 0).lot(1) for line in range(4000))[1999]
    first = sum(Spot(0, "", line, 0).lot(1) <= cutoff for line in range(2000))
    assert 900 < first < 1100
