"""Read a text file of the workspace."""

from pydantic import Field

from harness.gate import Bench, Gate, GateError

LARGEST = 2**18


class ReadFile(Gate):
    """Read a text file of the workspace (UTF-8, at most 256 KiB)."""

    path: str = Field(description="relative to the workspace")

    async def call(self, bench: Bench) -> str:
        """The text as it is, its line ends too."""
        content = bench.files.read(self.path, LARGEST)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise GateError(f'"{self.path}" is not UTF-8 text (byte {error.start})') from error
