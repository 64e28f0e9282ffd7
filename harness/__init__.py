"""Measure how an assistant treats the people who talk to it.

The public names; each is loaded when it is first used, so that `import harness` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING

from harness.version import VERSION as __version__  # noqa: N811

if TYPE_CHECKING:
    from harness.api import check_agency as check_agency
    from harness.api import check_pivot as check_pivot
    from harness.api import check_reassurance as check_reassurance
    from harness.cases import load_cases as load_cases
    from harness.check import check_turn as check_turn
    from harness.check import run_all_cases as run_all_cases
    from harness.check import run_case as run_case
    from harness.errors import SynthesisError as SynthesisError
    from harness.report import format_artifact as format_artifact
    from harness.report import write_report as write_report
    from harness.score_turn import evaluate_turn as evaluate_turn
    from harness.score_turn import evaluate_turn_async as evaluate_turn_async
    from harness.score_turn import evaluate_turns as evaluate_turns
    from harness.settings import TurnSettings as TurnSettings
    from harness.similarity import EmbeddingAdapter as EmbeddingAdapter
    from harness.similarity import set_embedding_adapter as set_embedding_adapter
    from harness.text import extract_anchor as extract_anchor
    from harness.text import token_cosine_similarity as token_cosine_similarity
    from harness.turn_comparison import compare_turns as compare_turns
    from harness.turn_evaluation import TurnContext as TurnContext
    from harness.turn_evaluation import TurnEvaluation as TurnEvaluation

_HOMES = {
    "EmbeddingAdapter": "similarity",
    "SynthesisError": "errors",
    "TurnContext": "turn_evaluation",
    "TurnEvaluation": "turn_evaluation",
    "TurnSettings": "settings",
    "check_agency": "api",
    "check_pivot": "api",
    "check_reassurance": "api",
    "check_turn": "check",
    "compare_turns": "turn_comparison",
    "evaluate_turn": "score_turn",
    "evaluate_turn_async": "score_turn",
    "evaluate_turns": "score_turn",
    "extract_anchor": "text",
    "format_artifact": "report",
    "load_cases": "cases",
    "run_all_cases": "check",
    "run_case": "check",
    "set_embedding_adapter": "similarity",
    "token_cosine_similarity": "text",
    "write_report": "report",
}

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(importlib.import_module(f"harness.{_HOMES[name]}"), name)
