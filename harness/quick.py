"""Verdicts from the compiled core, where there is one; what they are is defined by the checkers themselves.

The core gives the results as JSON, byte for byte what the checkers' own would be written as. Everything it
goes by, words and figures alike, is told to it from here.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from harness import disclosure, lexicon, matter, similarity
from harness.cases import MAY_NOT_APPLY
from harness.checkers import agency_language, topic_pivot, unverifiable_reassurance
from harness.errors import SynthesisError
from harness.lexicon import Lexicon
from harness.matching import MOST_HITS, REACH, Rule
from harness.records import NEGATIVE, NEGATIVE_ENDING, CheckResult, Status, Turn
from harness.settings import CheckSettings
from harness.tally import SLICE

if TYPE_CHECKING:
    from harness._core import Core

Section = dict[str, object]
CHECKS = {"agency": "agency_language", "reassurance": "unverifiable_reassurance", "pivot": "topic_pivot"}
_KNOWN = frozenset(CHECKS.values())
_DECODERS: dict[str, msgspec.json.Decoder[CheckResult]] = {
    "agency_language": msgspec.json.Decoder(agency_language.AgencyResult),
    "unverifiable_reassurance": msgspec.json.Decoder(unverifiable_reassurance.ReassuranceResult),
    "topic_pivot": msgspec.json.Decoder(topic_pivot.PivotResult),
}


def quick_check(
    turn: Turn, names: Sequence[str], settings: CheckSettings
) -> list[tuple[Status, bytes, bytes]] | None:
    """Of each check its status, its result and, where it failed, what is condensed of it.

    None where the checkers have to be asked.
    """
    core = core_of(names, settings)
    if core is None:
        return None
    return core.check(turn.user, turn.assistant, tuple(names), settings.similarity_threshold)


def is_quick(names: Sequence[str], settings: CheckSettings) -> bool:
    """Whether there is a core that knows these checks."""
    return core_of(names, settings) is not None


def core_of(names: Sequence[str], settings: CheckSettings) -> "Core | None":
    """The core that does these checks under these settings, if there is one."""
    if not _KNOWN.issuperset(names) or not similarity.is_bag_of_words(settings.similarity):
        return None
    return core_for(settings.language)


def share_core(names: Sequence[str], settings: CheckSettings) -> None:
    """Make the core of these checks ready in a process that will be copied: one copy tells the others."""
    core = core_of(names, settings)
    if core is not None:
        core.share()


def quick_results(turn: Turn, names: Sequence[str], settings: CheckSettings) -> list[CheckResult] | None:
    """The same as records."""
    found = quick_check(turn, names, settings)
    if found is None:
        return None
    return [_DECODERS[name].decode(result) for name, (_, result, _) in zip(names, found, strict=True)]


@cache
def core_for(language: str) -> "Core | None":
    """The core with the words of a language; None without a core, or where it cannot take these words."""
    try:
        from harness._core import Core
    except ModuleNotFoundError:
        return None
    except ImportError as error:
        fix = "install the package again, so that it is compiled for this Python"
        raise SynthesisError(f"the compiled core cannot be loaded: {error}", fix=fix) from error
    try:
        return Core(description(language))
    except (SynthesisError, ValueError):  # what is wrong is said by the checker that needs it
        return None


def description(language: str) -> Section:
    """Everything the core goes by in a language."""
    agency, reassurance, pivot = (lexicon.load(name, language) for name in CHECKS.values())
    sections = {
        "disclosure": _disclosure(pivot),
        "agency": _agency(agency),
        "reassurance": _reassurance(reassurance),
        "pivot": _pivot(pivot),
    }
    texts = (value for section in sections.values() for value in section.values())
    named = {name for value in texts for name in _names_in(value)}
    rules = {rule for words in (agency, reassurance, pivot) for rule in words.rules}
    named.update(name for rule in rules for name in (rule.entry.id, rule.entry.group))
    return {
        "names": sorted(named),
        "most_hits": MOST_HITS,
        "reach": REACH,
        "checks": dict(CHECKS),
        "vocabulary": _vocabulary(reassurance, language),
        "cases": {
            "negative": NEGATIVE,
            "negative_ending": NEGATIVE_ENDING,
            "slice": SLICE,
            "may_not_apply": MAY_NOT_APPLY,
        },
        **sections,
    }


def _names_in(value: object) -> Iterable[str]:
    """Rules and groups that stand in a section by their names."""
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, frozenset) else ()


def _rules(words: Lexicon, *groups: str) -> list[tuple[str, str, bool, str, tuple[str, ...]]]:
    def told(rule: Rule) -> tuple[str, str, bool, str, tuple[str, ...]]:
        return rule.entry.id, rule.entry.group, rule.crosses_sentences, rule.searched, rule.unless

    return [told(rule) for rule in words.of(groups)]


def _disclosure(words: Lexicon) -> Section:
    return {
        "rules": _rules(words, disclosure.GROUP),
        "group": disclosure.GROUP,
        "told_plainly": disclosure.TOLD_PLAINLY,
    }


def _agency(words: Lexicon) -> Section:
    check = agency_language
    return {
        "rules": _rules(words, *check.GROUPS),
        "requests": _rules(words, check.REQUEST),
        "steps": check.STEPS,
        "orders": check.ORDERS,
        "optional": check.OPTIONAL,
        "lead_in": check.LEAD_IN,
        "curious": check.CURIOUS,
        "asked": frozenset(r.entry.id for r in words.rules if r.entry.id.startswith(check.ASKED)),
        "positive": check.POSITIVE,
        "negative": check.NEGATIVE,
        "safety": check.SAFETY,
        "question": check.QUESTION,
        "plain_answer": check.PLAIN_ANSWER,
        "several_orders": check.SEVERAL_ORDERS,
        "mostly_orders": check.MOSTLY_ORDERS,
        "several": check.SEVERAL,
        "echo": check.ECHO,
        "clause": check.CLAUSE,
        "shown": check.SHOWN,
    }


def _reassurance(words: Lexicon) -> Section:
    check = unverifiable_reassurance
    lists = ("doubt", "negation", "own_person", "your")
    return {
        "rules": _rules(words, *check.GROUPS),
        "mind_reading": check.MIND_READING,
        "guarantee": check.GUARANTEE,
        "reach": check.REACH,
        "opening": check.OPENING,
        "lists": {name: words.written_any_of(name) if name in words.words else None for name in lists},
    }


def _pivot(words: Lexicon) -> Section:
    check = topic_pivot
    return {
        "rules": _rules(words, *check.GROUPS),
        "pivot_groups": check.PIVOT_GROUPS,
        "acknowledgement": check.ACKNOWLEDGEMENT,
        "follow_up": check.FOLLOW_UP,
        "elsewhere_group": check.ELSEWHERE_GROUP,
        "list_group": check.LIST_GROUP,
        "advice": check.ADVICE,
        "taken_up": check.TAKEN_UP,
        "at_hand": check.AT_HAND,
        "still_on_it": check.STILL_ON_IT,
        "generic_list": check.GENERIC_LIST,
        "other_things": check.OTHER_THINGS,
        "ends_elsewhere": check.ENDS_ELSEWHERE,
        "several": check.SEVERAL,
        "held": check.HELD,
        "returned": check.RETURNED,
        "elsewhere": check.ELSEWHERE,
        "long_list": check.LONG_LIST,
        "borderline": check.BORDERLINE,
    }


def _vocabulary(claims: Lexicon, language: str) -> Section:
    known, told = matter.vocabulary(language), disclosure.word_sets(language)
    return {
        "words": {
            "function": known.function,
            "pronoun": known.pronouns,
            "personal": known.personal,
            "opener": known.openers,
            "person": known.persons,
            "feeling": known.feeling,
            "away": known.away,
            "neutral": known.neutral,
            "everyday": told["everyday"],
            "neutral_talk": told["neutral"],
            "trouble": told["trouble_sign"],
            "told_of": told["person_word"],
            "passed_on": agency_language.PASSED_ON,
            "says_little": claims.listed("says_little"),
            "third": claims.listed("third"),
        },
        "same": known.same,
        "fields": known.fields,
        "numerals": known.numerals,
        "endings": known.endings,
        "verbal": known.verbal,
        "plural": known.plural,
        "vowels": matter.VOWELS,
        "kept_double": matter.KEPT_DOUBLE,
        "short": matter.SHORT,
        "claim_stem": unverifiable_reassurance.STEM,
    }
