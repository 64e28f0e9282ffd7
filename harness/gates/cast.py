"""Start a child: an agent with a medium, gates and wards of its own."""

from pydantic import Field

from harness.gate import Bench, Gate, GateError
from harness.transcript import Json, Medium
from harness.wards import Wards


class Cast(Gate):
    """Give a task to a child that works on its own, and get its result."""

    prompt: str = Field(min_length=1, description="the task")
    medium: Medium = Field(default="conversation", description="how it acts: by calls, in Python or in bash")
    gates: tuple[str, ...] | None = Field(
        default=None, description="some of your own; all of them if left out"
    )
    wards: Wards = Field(default=Wards(), description="limits, within your own")
    system_prompt: str | None = Field(default=None, description="who it is")

    async def call(self, bench: Bench) -> Json:
        """What it handed to `done`."""
        if bench.cast is None:
            raise GateError("no child can be cast from here")
        return await bench.cast(self)
