"""What models used and what it cost: unknown is null, never 0, and a budget ends where it says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.attempt import Attempt
from harness.price import Price
from harness.settings import Settings
from harness.spending import Budget, Usage, total, usage_of

PRICES = {"openai:m": Price(input=2.0, output=10.0), "openai:free": Price(input=0, output=0)}


def attempt(model: str = "openai:m", asked: int | None = 100, said: int | None = 10, **more: Any) -> Any:
    return Attempt(model, 1, 200, input_tokens=asked, output_tokens=said, **more).fields()


def used(requests: int, asked: int | None, said: int | None, cost: float | None) -> Usage:
    return Usage(requests=requests, input_tokens=asked, output_tokens=said, cost=cost)


def test_prices_are_of_a_million_tokens() -> None:
    assert PRICES["openai:m"].of(1_000_000, 0) == 2.0
    assert PRICES["openai:m"].of(0, 1_000_000) == 10.0
    assert usage_of([attempt()], PRICES) == used(1, 100, 10, 0.0003)


def test_a_price_that_is_unknown_is_null_and_one_that_is_nothing_is_0() -> None:
    assert usage_of([attempt("openai:other")], PRICES) == used(1, 100, 10, None)
    assert usage_of([attempt("anthropic:m")], PRICES) == used(1, 100, 10, None)
    assert usage_of([attempt("openai:free")], PRICES) == used(1, 100, 10, 0.0)


def test_where_no_model_was_asked_there_is_no_usage() -> None:
    assert usage_of([], PRICES) is None
    assert total([None, None]) is None
    assert total([None, used(1, 1, 1, 0.5)]) == used(1, 1, 1, 0.5)


def test_a_request_that_was_turned_down_is_a_request_that_used_nothing() -> None:
    failed = Attempt("openai:m", 1, 500, error="500").fields()
    assert usage_of([failed, attempt()], PRICES) == used(2, 100, 10, 0.0003)


@pytest.mark.parametrize("status", [None, 200])
def test_what_a_request_used_that_broke_off_is_unknown(status: int | None) -> None:
    failed = Attempt("openai:m", 1, status, error="no answer after 5 s").fields()
    assert usage_of([failed, attempt()], PRICES) == used(2, None, None, None)


def test_an_answer_that_was_not_counted_makes_everything_unknown() -> None:
    assert usage_of([attempt(asked=None, said=None), attempt()], PRICES) == used(2, None, None, None)
    assert total([used(1, 1, 1, None), used(1, 1, 1, 0.5)]) == used(2, 2, 2, None)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=30))
def test_the_sum_of_parts_is_the_sum_of_all(tokens: list[tuple[int, int]]) -> None:
    attempts = [attempt(asked=asked, said=said) for asked, said in tokens]
    whole = usage_of(attempts, PRICES)
    parts = total([usage_of(attempts[:3], PRICES), usage_of(attempts[3:], PRICES)])
    assert whole is not None
    assert parts is not None
    assert (whole.requests, whole.input_tokens) == (len(tokens), sum(asked for asked, _ in tokens))
    assert parts.cost == pytest.approx(whole.cost, abs=1e-8)


@pytest.mark.parametrize(
    "wrong", [{"input": -1, "output": 1}, {"input": 1}, {"input": float("inf"), "output": 1}]
)
def test_a_price_that_is_none_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"prices": {"openai:m": wrong}})


def test_a_budget_is_spent_when_it_is_reached() -> None:
    budget = Budget(max_tokens=100)
    budget.add("openai:m", 90, 9)
    assert budget.spent() is None
    budget.add("openai:other", 0, 1)
    assert budget.spent() == "max-tokens"


def test_money_is_counted_by_the_price_of_each_model() -> None:
    budget = Budget(max_cost=12.0, prices=PRICES)
    budget.add("openai:free", 10**9, 10**9)
    budget.add("openai:m", 1_000_000, 0)
    assert budget.spent() is None
    budget.add("openai:m", 0, 1_000_000)
    assert (budget.cost, budget.spent()) == (12.0, "max-cost")


def test_a_budget_of_money_has_to_know_the_price() -> None:
    assert Budget(max_cost=1, prices=PRICES).knows("openai:m")
    assert not Budget(max_cost=1, prices=PRICES).knows("openai:other")
    assert Budget(max_tokens=1).knows("openai:other")


def test_without_limits_nothing_is_ever_spent() -> None:
    budget = Budget()
    budget.add("openai:m", 10**12, 10**12)
    assert budget.spent() is None
    assert not budget.limited
