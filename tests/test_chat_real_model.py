"""A real language model, asked by the real command: seeds, system prompts, recordings, parameters."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from asking import Trial, endpoint, run
from local_model import LocalModel
from scenario_files import Definition, report_of, synthesis, trials, write

from harness.models import Models
from harness.transcript import read_transcript

SHORT = {"temperature": 0.8, "max_tokens": 12}


def talk(**more: Any) -> Definition:
    """A scenario that anything said would pass."""
    return {"name": "talk", "prompt": "My cat died yesterday.", "rubric": [{"terminated": True}], **more}


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SYNTHESIS_MODEL"):
        monkeypatch.delenv(name, raising=False)


def evaluate(model: LocalModel, *arguments: object) -> Definition:
    """The command in a process of its own; gives the report of `run`, or of the folder named last."""
    named = ("--model", f"openai:{model.name}", "--base-url", model.base_url)
    done = synthesis("eval", "s.json", *named, *arguments, cwd=Path.cwd(), timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    Path("said").write_text(done.stderr)
    return report_of(Path(str(arguments[-1])))


def said(folder: str, seed: int) -> str:
    text = read_transcript(Path(folder) / "transcripts" / f"talk-{seed}.jsonl").result
    assert isinstance(text, str)
    return text


def test_the_same_seed_gives_the_same_text_and_another_seed_another(local_model: LocalModel) -> None:
    models = Models()
    where = endpoint(local_model.base_url, f"openai:{local_model.name}", key=None)

    async def texts() -> list[str]:
        return [(await Trial(seed).ask(models, where, "My cat died.", **SHORT)).text for seed in (1, 2, 1)]

    first, second, again = run(models, texts(), seconds=60)
    assert first == again
    assert first != second


def test_a_whole_run_then_another_system_prompt_in_the_same_folder(local_model: LocalModel) -> None:
    write(Path("s.json"), talk(seeds=2, system={"file": "prompt.md"}, subject={"type": "chat", **SHORT}))
    found = {}
    for text, where in (("You are a pirate.", "--out"), ("Answer in French.", "--resume")):
        Path("prompt.md").write_text(text)
        report = evaluate(local_model, where, "run")
        assert report["scenarios"][0]["system_sha256"] == sha256(text.encode()).hexdigest()
        again = "synthesis: 2 trials run again: the scenario or its subject changed\n"
        assert Path("said").read_text() == (again if where == "--resume" else "")
        found[text] = [said("run", seed) for seed in (1, 2)]
        assert all(trial["usage"]["output_tokens"] <= 12 for _, _, trial in trials(report))
        assert report["summary"]["usage"]["input_tokens"] > 20
        assert report["summary"]["usage"]["cost"] is None
    one, two = found.values()
    assert len({*one, *two}) == 4, "every seed and every prompt has its own text"
    first = [path.stat().st_mtime_ns for path in sorted(Path("run/transcripts").iterdir())]
    evaluate(local_model, "--resume", "run")
    assert [path.stat().st_mtime_ns for path in sorted(Path("run/transcripts").iterdir())] == first


def test_the_same_run_twice_says_the_same_and_a_recording_says_it_byte_for_byte(
    local_model: LocalModel,
) -> None:
    """Two trials at once, on a server that answers one after the other."""
    write(
        Path("s.json"), talk(seeds=2, prompt=["My cat died.", "What now?"], subject={"type": "chat", **SHORT})
    )
    evaluate(local_model, "--record", "kept", "--out", "run")
    evaluate(local_model, "--out", "twice")
    assert [said("twice", seed) for seed in (1, 2)] == [said("run", seed) for seed in (1, 2)]
    evaluate(local_model, "--replay", "kept", "--out", "again")
    for seed in (1, 2):
        name = f"transcripts/talk-{seed}.jsonl"
        assert (Path("again") / name).read_bytes() == (Path("run") / name).read_bytes()


def test_parameters_reach_the_model(local_model: LocalModel) -> None:
    models = Models()
    where = endpoint(local_model.base_url, f"openai:{local_model.name}", key=None)

    async def ask(**options: Any) -> Any:
        return await Trial().ask(models, where, "Say something about cats.", **options)

    async def all_of() -> None:
        whole = await ask(**SHORT)
        shorter = await ask(**(SHORT | {"max_tokens": 3}))
        assert (whole.tokens.output, shorter.tokens.output, shorter.finish) == (12, 3, "length")
        assert whole.text.startswith(shorter.text)
        word = whole.text.split()[1]
        stopped = await ask(**SHORT, stop=(word,))
        assert word not in stopped.text
        assert whole.text.startswith(stopped.text)
        greedy = [(await ask(temperature=0, max_tokens=6)).text for _ in range(2)]
        assert greedy[0] == greedy[1]
        banned = await ask(
            **SHORT, extra_body={"logit_bias": [[token, False] for token in whole.text.split()]}
        )
        assert banned.text != whole.text

    run(models, all_of(), seconds=60)


def test_what_the_server_refuses_is_said(local_model: LocalModel) -> None:
    """A request that no model could serve: the words are the server's own."""
    Path("synthesis.toml").write_text("[eval]\nretries = 0\n")
    wrong = {"response_format": {"type": "nonsense"}}
    write(Path("s.json"), talk(subject={"type": "chat", "extra_body": wrong}))
    named = ("--model", f"openai:{local_model.name}", "--base-url", local_model.base_url)
    done = synthesis("eval", "s.json", *named, "--out", "run", cwd=Path.cwd())
    assert done.returncode == 1
    lines = [json.loads(line) for line in Path("run/transcripts/talk-1.jsonl").read_text().splitlines()]
    (attempt,) = [line for line in lines if line["type"] == "attempt"]
    assert attempt["status"] in (400, 500)
    assert "response_format" in attempt["error"]
