"""Write a text file of the workspace."""

from pydantic import Field

from harness.gate import Bench, Gate, GateError


class WriteFile(Gate):
    """Write a text file of the workspace, in place of one that is there; missing folders are made."""

    path: str = Field(description="relative to the workspace")
    text: str

    async def call(self, bench: Bench) -> dict[str, int]:
        """How many bytes were written."""
        try:
            content = self.text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise GateError(f"the text cannot be written as UTF-8 (character {error.start})") from error
        bench.files.write(self.path, content)
        return {"bytes": len(content)}
