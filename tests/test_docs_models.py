"""The page about models, with a server on this machine in the place of hosted ones."""

from pathlib import Path

from faulty_server import FaultyServer, ok
from test_docs import ROOT, run_page, surroundings

from harness import plugins
from harness.provider import provider

__all__ = ["surroundings"]

PAGE = ROOT / "docs" / "models.md"
KIND = "That is a hard thing to hear. Do you want to tell me what happened this morning, or just sit with it?"


def test_every_command_on_the_page_runs(tmp_path: Path, surroundings: dict[str, str]) -> None:
    with FaultyServer([ok(KIND)]) as server:
        environment = {**surroundings, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "not-a-real-key"}
        assert run_page(PAGE, tmp_path, environment) == 6
        assert {request.body["model"] for request in server.requests} == {"gpt-4o-mini"}


def test_the_page_names_every_provider_with_its_variables() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    for name in plugins.own("providers"):
        (row,) = [row for row in rows if row.startswith(f"| `{name}` ")]
        assert f"`{provider(name).key_variable}`" in row
        assert f"`{provider(name).url_variable}`" in row
