"""End the work with a result."""

from typing import ClassVar

from pydantic import Field, JsonValue

from harness.gate import Bench, Gate
from harness.transcript import Json


class Done(Gate):
    """End the work and hand over the result: the answer in words, or any JSON value."""

    final: ClassVar[bool] = True

    result: JsonValue = Field(default=None, description="what was asked for")

    async def call(self, bench: Bench) -> Json:  # noqa: ARG002 - as other gates
        """The result is what it was called with."""
        return self.result
