"""Lexicons: words as data. Load them, refuse what is wrong with them, find their hits.

A lexicon is one TOML file, `lexicons/<checker>/<language>.toml`. Patterns are RE2 syntax and see folded
text (`harness.text.fold`): lower case, straight quotes, one sentence a line. `{name}` in a pattern stands
for any of the words listed under `[words]`. An entry's `unless` cancels a hit: it sees the hit's sentence
with the hit between `<` and `>`, so `not <` is a negation just before it and `\\?$` a question; `@name`
refers to a pattern under `[guards]`.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import Any

import re2

from harness.errors import Problems, SynthesisError
from harness.lexicon_file import (
    Entry,
    LexiconFile,
    compile_entry,
    compile_list,
    pattern_problems,
    re2_options,
    read_file,
)
from harness.problems import shown
from harness.records import Hit, Side
from harness.text import Folded

MOST_HITS = 1000
"""Places listed per rule and text; one who says a thing more often than this is judged no differently."""

REACH = 300
"""Characters on each side of a hit that `unless` sees, where the sentence is longer."""


@dataclass(frozen=True)
class Rule:
    """An entry made ready to match; `unless` is all its cancelling patterns in one, or None."""

    entry: Entry
    pattern: Any
    unless: Any

    def hits(self, folded: Folded, view: "View", side: Side) -> Iterator[Hit]:
        """Every place where the pattern matches and nothing around it cancels it."""
        for match in islice(self._matches(folded, view), MOST_HITS):
            first, last = folded.origin(*match)
            yield Hit.model_construct(
                rule=self.entry.id,
                group=self.entry.group,
                text=folded.original[first:last],
                start=first,
                end=last,
                side=side,
            )

    def _matches(self, folded: Folded, view: "View") -> Iterator[tuple[int, int]]:
        for match in self.pattern.finditer(view.searched):
            start, end = match.span()
            if end > start and not (
                self.unless and self.unless.search(_marked(folded, view.text, start, end))
            ):
                yield start, end


def _marked(folded: Folded, text: str, start: int, end: int) -> str:
    """The hit's sentence with the hit between `<` and `>`; of an endless sentence only what is near."""
    first, last = folded.sentence_at(start, REACH)
    return f"{text[first:start]}<{text[start:end]}>{text[end : max(last, end)]}"


class View:
    """A folded text as RE2 takes it: bytes where they are one per character, which is much the faster."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.searched: str | bytes = text.encode("ascii") if text.isascii() else text


class Lexicon:
    """The rules of one checker in one language."""

    def __init__(self, name: str, source: bytes, file: LexiconFile, rules: tuple[Rule, ...]) -> None:
        self.name = name
        self.version = file.version
        self.sha256 = hashlib.sha256(source).hexdigest()
        self.words = file.words
        self._file = file
        self._any_of: dict[str, Any] = {}
        self.rules = rules
        self.groups = tuple(dict.fromkeys(rule.entry.group for rule in rules))
        self._by_group = {
            group: _RuleSet(tuple(rule for rule in rules if rule.entry.group == group))
            for group in self.groups
        }

    def listed(self, name: str, *, needed_to: str | None = None) -> tuple[str, ...]:
        """The words of a list; one that is not there has none, unless it is needed to do something."""
        if needed_to is not None and name not in self.words:
            raise SynthesisError(
                f'no word list "{name}"',
                where=self.name,
                fix=f"add {name} = [...] under [words]: it is needed to {needed_to}",
            )
        return self.words.get(name, ())

    def any_of(self, name: str) -> Any:
        """A pattern for any word of a list, as a whole; where the list is not there, for nothing at all."""
        if name not in self._any_of:
            self._any_of[name] = compile_list(name, self._file, self.name)
        return self._any_of[name]

    def hits(
        self, folded: Folded, group: str, *, view: str | None = None, side: Side = "assistant"
    ) -> list[Hit]:
        """All hits of one group in the folded text, or in a view of it of the same length."""
        if group not in self._by_group:
            raise SynthesisError(
                f'no entry has the group "{group}"',
                where=self.name,
                fix=f'add entries with group = "{group}"',
            )
        return self._by_group[group].hits(folded, View(folded.text if view is None else view), side)


class _RuleSet:
    """Rules that are first asked all at once which of them match, and then one by one where."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._set = re2.Set.SearchSet(re2_options())
        for rule in rules:
            self._set.Add(rule.pattern.pattern)
        self._sentinel = self._set.Add("")
        self._set.Compile()

    def hits(self, folded: Folded, view: View, side: Side) -> list[Hit]:
        found: list[Hit] = []
        for index in self._candidates(view):
            found.extend(self._rules[index].hits(folded, view, side))
        return sorted(found, key=lambda hit: (hit.start, hit.end, hit.rule))

    def _candidates(self, view: View) -> Sequence[int]:
        """A set that runs out of memory answers like one that matched nothing, but for the sentinel."""
        matched = self._set.Match(view.searched)
        if matched is None or self._sentinel not in matched:
            return range(len(self._rules))
        return sorted(index for index in matched if index != self._sentinel)


@cache
def load(checker: str, language: str = "en", package: str = "harness") -> Lexicon:
    """The lexicon of a checker in a language, from `lexicons/` in the package that brings the checker."""
    folder = resources.files(package) / "lexicons" / checker
    there = languages(folder)
    if language not in there:
        raise SynthesisError(
            f'no lexicon for language "{shown(language)}"',
            where=checker,
            fix=f"use one of: {', '.join(there) or 'none there yet'}, or add {checker}/<language>.toml",
        )
    return parse((folder / f"{language}.toml").read_bytes(), f"{checker}/{language}.toml")


def languages(folder: Traversable) -> list[str]:
    """The languages that a folder of lexicons has."""
    if not folder.is_dir():
        return []
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml"))


def parse(source: bytes, where: str) -> Lexicon:
    """Read and check a whole lexicon file; everything wrong with it is reported together."""
    file = read_file(source, where)
    problems = pattern_problems(file, where)
    rules: list[Rule] = []
    for entry in file.entry:
        try:
            rules.append(Rule(entry, *compile_entry(entry, file, where)))
        except SynthesisError as problem:
            problems.append(problem)
    if problems:
        raise Problems(problems)
    try:
        return Lexicon(where, source, file, tuple(rules))
    except re2.error as error:
        what = "the patterns of a group are too large together"
        raise SynthesisError(what, where=where, fix="make their gaps smaller") from error
