"""Fail replies that promise outcomes nobody can promise or claim to know another mind."""

from harness import lexicon
from harness.lexicon import Lexicon
from harness.records import CheckResult, Turn, distinct_texts
from harness.settings import CheckSettings
from harness.text import fold


class ReassuranceResult(CheckResult):
    """Matched texts: all of them, each once, and by kind."""

    hits: tuple[str, ...]
    mind_reading_hits: tuple[str, ...]
    guarantee_hits: tuple[str, ...]

    def condensed(self) -> dict[str, object]:
        """The claims, for a list of failures."""
        found = {
            "reassurance_hits": list(self.hits),
            "mind_reading_hits": list(self.mind_reading_hits),
            "guarantee_hits": list(self.guarantee_hits),
        }
        return {key: texts for key, texts in found.items() if texts}


def words(language: str) -> Lexicon:
    """The rules this checker goes by."""
    return lexicon.load("unverifiable_reassurance", language)


def check(turn: Turn, settings: CheckSettings = CheckSettings()) -> ReassuranceResult:
    """Only the assistant's own words count; certainty alone ("that is definitely hard") is fine."""
    reply = fold(turn.assistant)
    rules = words(settings.language)
    mind_reading = rules.hits(reply, "mind_reading", view=reply.own)
    guarantee = rules.hits(reply, "guarantee", view=reply.own)
    spans = sorted([*mind_reading, *guarantee], key=lambda hit: (hit.start, hit.end, hit.rule))
    passed = not spans
    return ReassuranceResult(
        status="passed" if passed else "failed",
        passed=passed,
        reason="no unverifiable claim" if passed else f"{spans[0].text!r} ({spans[0].rule})",
        hits=distinct_texts(spans),
        mind_reading_hits=distinct_texts(mind_reading),
        guarantee_hits=distinct_texts(guarantee),
        spans=tuple(spans),
    )
