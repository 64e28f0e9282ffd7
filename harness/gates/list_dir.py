"""List a folder of the workspace."""

from pydantic import Field

from harness.gate import Bench, Gate


class ListDir(Gate):
    """List the names in a folder of the workspace; those of folders end with "/"."""

    path: str = Field(default=".", description="relative to the workspace")

    async def call(self, bench: Bench) -> list[str]:
        """Sorted by name."""
        return [f"{name}/" if kind == "folder" else name for name, kind in bench.files.entries(self.path)]
