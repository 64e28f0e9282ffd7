"""The local model that other tests talk to: reproducible, shared by its users, and gone with the last."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import local_model as local_model_module
import pytest
from local_model import INSTALL, LocalModel, shared_model

CAT = [{"role": "user", "content": "My cat died yesterday."}]
LONGER = [
    *CAT,
    {
        "role": "assistant",
        "content": "I am sorry to hear that. It sounds very hard. You could talk to somebody.",
    },
    {"role": "user", "content": "What should I do now?"},
]

USER = """
import sys
from pathlib import Path
from local_model import shared_model
with shared_model(Path(sys.argv[1])) as model:
    print(model.base_url, flush=True)
    sys.stdin.read()
"""

Messages = list[dict[str, str]]


def ask(model: LocalModel, messages: Messages = CAT, **more: Any) -> Any:
    body = {"model": model.name, "messages": messages, "temperature": 0.8, "max_tokens": 12, **more}
    url = f"{model.base_url}/chat/completions"
    return httpx2.post(url, json=body, timeout=60, trust_env=False).raise_for_status().json()


def text(model: LocalModel, seed: int, messages: Messages = CAT, **more: Any) -> str:
    said = ask(model, messages, seed=seed, **more)["choices"][0]["message"]["content"]
    assert isinstance(said, str)
    return said


def test_the_same_seed_gives_the_same_text_and_another_seed_another(local_model: LocalModel) -> None:
    first = [text(local_model, seed) for seed in (1, 2, 3)]
    assert len(set(first)) == 3
    assert [text(local_model, seed) for seed in (1, 2, 3)] == first


def test_neither_earlier_nor_concurrent_requests_change_the_text(local_model: LocalModel) -> None:
    """What a prompt cache or a second slot would change: texts after 77 tokens, though none after 59."""
    asked = [(seed, messages) for seed in (1, 2) for messages in (LONGER, CAT)]
    alone = [text(local_model, *each, cache_prompt=False) for each in asked]
    assert [text(local_model, *each) for each in asked] == alone
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: text(local_model, *each), asked)) == alone


def test_an_answer_counts_its_tokens_and_keeps_to_the_limit(local_model: LocalModel) -> None:
    answer = ask(local_model, seed=1, max_tokens=5)
    assert answer["model"] == local_model.name
    assert answer["choices"][0]["finish_reason"] == "length"
    usage = answer["usage"]
    assert usage["completion_tokens"] == 5
    assert usage["prompt_tokens"] > 20
    assert usage["total_tokens"] == usage["prompt_tokens"] + 5


def test_an_answer_ends_before_a_stop_sequence(local_model: LocalModel) -> None:
    whole = text(local_model, 1)
    before, stop, _ = whole.partition(" ")
    choice = ask(local_model, seed=1, stop=[stop])["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (before, "stop")


@contextmanager
def _user(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that uses the server of `folder`, and its base URL."""
    command = [sys.executable, "-c", USER, str(folder)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def _answers(base_url: str) -> bool:
    try:
        return httpx2.get(f"{base_url}/models", timeout=5, trust_env=False).is_success
    except httpx2.TransportError:
        return False


@pytest.mark.usefixtures("local_model")
def test_the_server_is_shared_and_ends_with_its_last_user_even_a_killed_one(tmp_path: Path) -> None:
    with _user(tmp_path) as (first, url), _user(tmp_path) as (second, other_url):
        assert url == other_url
        first.send_signal(signal.SIGKILL)
        first.wait()
        time.sleep(0.3)
        assert _answers(url)
        second.send_signal(signal.SIGKILL)
        second.wait()
        deadline = time.monotonic() + 10
        while _answers(url):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    with shared_model(tmp_path) as again:
        assert _answers(again.base_url)


def test_a_server_that_cannot_start_is_an_error_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no such weights')")
    monkeypatch.setattr(local_model_module, "__file__", str(broken))
    with (
        pytest.raises(RuntimeError, match=r"(?s)ended with status 256:\nno such weights"),
        shared_model(tmp_path),
    ):
        pass


@pytest.mark.parametrize(("ci", "outcome"), [("", "1 skipped"), ("true", "1 error")])
def test_where_it_is_not_installed_tests_are_skipped_but_fail_on_ci(
    ci: str, outcome: str, tmp_path: Path
) -> None:
    """In a Python that sees pytest but neither of the two packages."""
    hide = "import sys\nsys.modules['xllamacpp'] = None\n"
    here = Path(__file__).parent
    (tmp_path / "conftest.py").write_text(
        f"{hide}sys.path.insert(0, {str(here)!r})\n{(here / 'conftest.py').read_text('utf-8')}", "utf-8"
    )
    (tmp_path / "test_it.py").write_text("def test_it(local_model):\n    pass\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rs",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "test_it.py",
    ]
    environment = {"PATH": "/usr/bin:/bin", "CI": ci}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert outcome in done.stdout
    assert INSTALL in done.stdout
