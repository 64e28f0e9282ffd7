"""The page about models, with a server on this machine in the place of hosted ones."""

import subprocess
from pathlib import Path

import pytest
from faulty_server import FaultyServer, ok
from test_docs import ROOT, blocks, commands, parse, surroundings, write

__all__ = ["surroundings"]

KIND = "That is a hard thing to hear. Do you want to tell me what happened this morning, or just sit with it?"


def test_every_command_on_the_page_runs(tmp_path: Path, surroundings: dict[str, str]) -> None:  # noqa: F811
    story = tmp_path / "story"
    story.mkdir()
    ran = 0
    with FaultyServer([ok(KIND)]) as server:
        environment = {**surroundings, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "not-a-real-key"}
        for block in blocks(ROOT / "docs" / "models.md"):
            parse(block)
            if "file" in block.info:
                write(block, story)
            for command in commands(block):
                done = subprocess.run(
                    command, cwd=story, env=environment, capture_output=True, text=True, timeout=120, check=False
                )
                wanted = int(block.info.get("exit", "0"))
                assert done.returncode == wanted, f"{block.body}\n{done.stdout}\n{done.stderr}"
                ran += 1
        assert {request.body["model"] for request in server.requests} == {"gpt-4o-mini"}
    assert ran == 6


def test_the_page_names_every_provider_with_its_variables() -> None:
    from harness import plugins
    from harness.provider import provider

    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for name in plugins.own("providers"):
        (row,) = [row for row in rows if row.startswith(f"| `{name}` ")]
        assert f"`{provider(name).key_variable}`" in row
        assert f"`{provider(name).url_variable}`" in row


@pytest.mark.parametrize("option", ["--model", "--base-url", "--override-subject", "--max-cost", "--max-tokens"])
def test_the_page_tells_of_every_option(option: str) -> None:
    assert f"{option}" in (ROOT / "docs" / "models.md").read_text("utf-8")
