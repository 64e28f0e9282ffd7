"""What tokens cost."""

from pydantic import Field

from harness.records import Record

PER = 1_000_000


class Price(Record):
    """Of a million tokens, in whatever money you count in."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)

    def of(self, asked: int, answered: int) -> float:
        """What these tokens cost."""
        return (self.input * asked + self.output * answered) / PER
