"""What ends an agent that does not end by itself."""

from typing import Literal

from pydantic import Field

from harness.records import Record

Ward = Literal["max_turns", "max_seconds"]


class Wards(Record):
    """For each message of the person's, and for each child."""

    max_turns: int = Field(default=8, ge=1, le=1000, description="times the model speaks")
    max_depth: int = Field(default=2, ge=0, le=8, description="children of children; 0 lets none be cast")
    max_seconds: float = Field(default=60, gt=0, allow_inf_nan=False)

    def for_child(self, asked: "Wards") -> "Wards":
        """What a child asks for, as far as its parent has it to give."""
        return Wards(
            max_turns=min(asked.max_turns, self.max_turns),
            max_depth=min(asked.max_depth, self.max_depth - 1),
            max_seconds=min(asked.max_seconds, self.max_seconds),
        )
