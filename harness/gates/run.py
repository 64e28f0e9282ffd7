"""Run a shell command in the workspace."""

from typing import ClassVar

from harness.box_run import no_gates
from harness.gate import Bench, Gate, GateError
from harness.transcript import Json


class Run(Gate):
    """Run a bash command in the workspace; what it prints and its exit code come back."""

    contained: ClassVar[bool] = True

    command: str

    async def call(self, bench: Bench) -> dict[str, Json]:
        """A command that was stopped from outside, by a limit, is an error; an exit code alone is not."""
        ran = await bench.box.run(self.command, bench.call or no_gates)
        if ran.error is not None:
            raise GateError(f"{ran.error}\n{ran.output}" if ran.output else ran.error)
        return {"exit_code": ran.exit_code, "output": ran.told}
