"""Tokens and money: what was used, what it cost, and where to stop."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from harness.price import Price
from harness.records import Record
from harness.transcript import MOST, Json

Spent = Literal["max-cost", "max-tokens"]
Number = TypeVar("Number", int, float)


class Usage(Record):
    """What was asked of models; tokens are null where a server counts none, cost where a price is unknown."""

    requests: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


Prices = Mapping[str, Price]


def usage_of(attempts: Iterable[Mapping[str, Json]], prices: Prices) -> Usage | None:
    """Of the attempts of a transcript; null where no model was asked. A request that failed is a request.

    One that the server turned down cost nothing; one that broke off may have, and nobody knows how much.
    """
    return total(_usage_of_one(attempt, prices) for attempt in attempts)


def _usage_of_one(attempt: Mapping[str, Json], prices: Prices) -> Usage:
    asked, answered = attempt["input_tokens"], attempt["output_tokens"]
    if attempt["error"] is not None and asked is None and attempt["status"] not in (None, 200):
        return Usage(requests=1, input_tokens=0, output_tokens=0, cost=0.0)
    price = prices.get(attempt["model"])
    known = price is not None and asked is not None and answered is not None
    cost = price.of(asked, answered) if price is not None and known else None
    return Usage(requests=1, input_tokens=asked, output_tokens=answered, cost=cost)


def total(usages: Iterable[Usage | None]) -> Usage | None:
    """All together; one unknown makes the sum unknown, never smaller. So does more than JSON can tell."""
    found = [usage for usage in usages if usage is not None]
    if not found:
        return None
    cost = _sum(usage.cost for usage in found)
    return Usage(
        requests=sum(usage.requests for usage in found),
        input_tokens=_countable(_sum(usage.input_tokens for usage in found)),
        output_tokens=_countable(_sum(usage.output_tokens for usage in found)),
        cost=None if cost is None else round(cost, 9),
    )


def _sum(values: Iterable[Number | None]) -> Number | None:
    found = list(values)
    return None if None in found else sum(value for value in found if value is not None)


def _countable(tokens: int | None) -> int | None:
    return None if tokens is None or tokens > MOST else tokens


@dataclass
class Budget:
    """What a run may use; counted as answers come in, so requests under way can go a little over it."""

    max_cost: float | None = None
    max_tokens: int | None = None
    prices: Prices = field(default_factory=dict)
    cost: float = 0.0
    tokens: int = 0

    @property
    def limited(self) -> bool:
        """Whether anything has to be counted."""
        return self.max_cost is not None or self.max_tokens is not None

    def knows(self, model: str) -> bool:
        """Whether what this model uses can be counted."""
        return self.max_cost is None or model in self.prices

    def add(self, model: str, asked: int, answered: int) -> None:
        """One more answer."""
        self.tokens += asked + answered
        price = self.prices.get(model)
        self.cost += 0.0 if price is None else price.of(asked, answered)

    def spent(self) -> Spent | None:
        """Which limit is reached."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            return "max-cost"
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return "max-tokens"
        return None
