"""Which trials a run consists of: seeds as they are typed, and filters."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scenario_files import Definition, load, scenario, write

from harness.errors import SynthesisError
from harness.plan import Plan, Seeds, parse_seeds, plan_trials


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("5", (1, 2, 3, 4, 5)),
        ("1", (1,)),
        ("3,7,11", (3, 7, 11)),
        ("11,3", (11, 3)),
        ("7,", (7,)),
        ("0,", (0,)),
        ("0,1", (0, 1)),
        (" 3 , 4 ", (3, 4)),
    ],
)
def test_seeds_as_they_are_typed(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0", "not between 1 and 100000 seeds"),
        ("100001", "not between 1 and 100000 seeds"),
        ("3,3", "a seed is listed twice"),
        ("3,03", "a seed is listed twice"),
        *(
            (text, "not a number of seeds or a list of them")
            for text in ("-1", "2x", "", ",", "3,,4", "3,-4", "1.5", "1e3", "٣", "²", "9" * 16, "3,4,,", "--")
        ),
    ],
)
def test_seeds_that_are_none(text: str, why: str) -> None:
    with pytest.raises(SynthesisError) as raised:
        parse_seeds(text)
    assert str(raised.value).startswith(f'--seeds: "{text}": {why}')
    assert "3,7,11" in raised.value.fix


@given(st.lists(st.integers(0, 10**15 - 1), min_size=1, unique=True))
def test_a_list_of_seeds_is_taken_as_it_is(seeds: list[int]) -> None:
    assert parse_seeds(",".join(map(str, seeds)) + ",") == tuple(seeds)


@example("0\x1f")
@given(st.text(max_size=12))
def test_whatever_is_typed_gives_seeds_or_an_error_of_ours(text: str) -> None:
    try:
        seeds = parse_seeds(text)
    except SynthesisError:
        return
    assert seeds
    assert len(set(seeds)) == len(seeds)
    assert min(seeds) >= 0


def plan(folder: Path, *scenarios: Definition, **filters: tuple[str, ...]) -> Plan:
    return plan_trials(load(write(folder / "s.json", *scenarios)), Seeds(), **filters)


def names(found: Plan) -> list[str]:
    return [trial.name for trial in found.trials()]


def test_a_scenario_s_own_seeds_and_those_that_win_over_them(tmp_path: Path) -> None:
    scenarios = load(
        write(tmp_path / "s.json", scenario("a", seeds=2), scenario("b", seeds=[9, 4]), scenario("c"))
    )
    own = plan_trials(scenarios)
    assert names(own) == ["a-1", "a-2", "b-9", "b-4", "c-1"]
    assert own.size == 5
    assert names(plan_trials(scenarios, Seeds((7,)))) == ["a-7", "b-7", "c-7"]


def test_a_default_serves_only_scenarios_that_do_not_say_themselves(tmp_path: Path) -> None:
    scenarios = load(write(tmp_path / "s.json", scenario("a", seeds=2), scenario("c")))
    assert names(plan_trials(scenarios, Seeds(default=(5, 6)))) == ["a-1", "a-2", "c-5", "c-6"]
    assert names(plan_trials(scenarios, Seeds((7,), (5, 6)))) == ["a-7", "c-7"]


def test_filters(tmp_path: Path) -> None:
    scenarios = [
        scenario("job-loss", tags=["work"]),
        scenario("job-offer", tags=["work", "joy"]),
        scenario("grief", tags=["loss"]),
    ]
    assert names(plan(tmp_path, *scenarios, names=("job-*",))) == ["job-loss-1", "job-offer-1"]
    assert names(plan(tmp_path, *scenarios, names=("grief", "*offer"))) == ["job-offer-1", "grief-1"]
    assert names(plan(tmp_path, *scenarios, tags=("joy", "loss"))) == ["job-offer-1", "grief-1"]
    assert names(plan(tmp_path, *scenarios, names=("job-*",), tags=("joy",))) == ["job-offer-1"]


@pytest.mark.parametrize("filters", [{"names": ("JOB*",)}, {"tags": ("wor",)}, {"names": ("job",)}])
def test_filters_that_leave_nothing_say_what_there_is(
    tmp_path: Path, filters: dict[str, tuple[str, ...]]
) -> None:
    with pytest.raises(SynthesisError, match="no scenario is left by --scenario and --tag") as raised:
        plan(tmp_path, scenario("job-loss", tags=["work"]), **filters)
    assert "job-loss" in raised.value.fix
    assert ("tags: work" in raised.value.fix) is ("tags" in filters)
