"""The phrases a turn is searched for: one lexicon, all groups asked in one pass."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import re2

from harness.errors import SynthesisError
from harness.folded import Folded
from harness.lexicon import Lexicon, load
from harness.matching import Rule, searchable
from harness.pattern import SET_MEMORY, re2_options

NAME = "turn_quality"


class Phrases:
    """A lexicon whose rules are first asked all at once, whatever their group."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.groups = frozenset(lexicon.groups)
        self._lists: dict[str, frozenset[str]] = {}
        self.number_words = frozenset(lexicon.listed("small_numbers")[2:] + lexicon.listed("tens"))
        self.framing = self.listed("stop") | self.listed("frame")
        self._set: Any = re2.Set.SearchSet(re2_options(SET_MEMORY))
        for rule in lexicon.rules:
            self._set.Add(rule.pattern.pattern)
        self._sentinel = self._set.Add("")
        self._set.Compile()

    def candidates(self, text: str) -> Sequence[Rule]:
        """Rules whose pattern matches somewhere; asked one by one where the set ran out of memory."""
        searched = searchable(text)
        matched = self._set.Match(searched)
        rules = self.lexicon.rules
        if matched is None or self._sentinel not in matched:
            return [rule for rule in rules if rule.pattern.search(searched)]
        return [rules[index] for index in sorted(matched) if index != self._sentinel]

    def listed(self, name: str) -> frozenset[str]:
        """The words of a list, as a set."""
        if name not in self._lists:
            self._lists[name] = frozenset(self.lexicon.listed(name, needed_to="evaluate turns"))
        return self._lists[name]


class Search:
    """One text's search: which rules may match is asked once, each group is settled when it is asked for.

    Only the speaker's own words are searched: what stands in quotation marks or code is not said by them.
    """

    def __init__(self, phrases: Phrases, folded: Folded) -> None:
        self._phrases = phrases
        self._text = folded.own
        self._found: dict[str, bool] = {}
        self._by_group: dict[str, list[Rule]] = {}
        for rule in phrases.candidates(self._text):
            self._by_group.setdefault(rule.entry.group, []).append(rule)

    def finds(self, group: str) -> bool:
        """Whether some phrase of the group stands somewhere and nothing around it cancels it."""
        if group not in self._found:
            if group not in self._phrases.groups:
                raise SynthesisError(
                    f'no entry has the group "{group}"',
                    where=self._phrases.lexicon.name,
                    fix=f'add entries with group = "{group}"',
                )
            rules = sorted(self._by_group.get(group, ()), key=_can_be_cancelled)
            self._found[group] = any(map(self._stands, rules))
        return self._found[group]

    def _stands(self, rule: Rule) -> bool:
        """What nothing can cancel stands, or it would be no candidate."""
        return not rule.unless or next(rule.places(self._text), None) is not None


def _can_be_cancelled(rule: Rule) -> bool:
    return bool(rule.unless)


@cache
def load_phrases(language: str) -> Phrases:
    """The phrases of a language."""
    return Phrases(load(NAME, language))
