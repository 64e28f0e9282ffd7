"""Lexicons: words as data. Load them, refuse what is wrong with them, find their hits.

A lexicon is one TOML file, `lexicons/<checker>/<language>.toml`. Patterns are RE2 syntax and see folded
text (`harness.text.fold`): lower case, straight quotes, one sentence a line. `{name}` in a pattern stands
for any of the words listed under `[words]`. An entry's `unless` cancels a hit: it sees the hit's sentence
with the hit between `<` and `>`, so `not <` is a negation just before it and `\\?$` a question; `@name`
refers to a pattern under `[guards]`. A pattern sees one sentence at a time, unless `\\n` stands in it.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from harness.errors import Problems, SynthesisError
from harness.folded import Folded
from harness.lexicon_file import LexiconFile, read_file
from harness.lexicon_patterns import LexiconPatterns
from harness.matching import Rule, RuleSet
from harness.pattern import compiled
from harness.problems import shown
from harness.records import Hit, Side

OURS = "harness"


class Lexicon:
    """The rules of one checker in one language."""

    def __init__(self, name: str, source: bytes, file: LexiconFile, patterns: LexiconPatterns) -> None:
        self.name = name
        self.version = file.version
        self.sha256 = hashlib.sha256(source).hexdigest()
        self.words = file.words
        self._patterns = patterns
        self._any_of: dict[str, Any] = {}
        self.rules = tuple(Rule(entry, *patterns.of_entry(entry)) for entry in file.entry)
        self.groups = tuple(dict.fromkeys(rule.entry.group for rule in self.rules))
        self._sets: dict[tuple[str, ...], RuleSet] = {}

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
            self._any_of[name] = compiled(self.written_any_of(name), where=self.name)
        return self._any_of[name]

    def written_any_of(self, name: str) -> str:
        """The same, not compiled."""
        return self._patterns.any_of(name)

    def hits(
        self, folded: Folded, *groups: str, view: str | None = None, side: Side = "assistant"
    ) -> list[Hit]:
        """All hits of these groups in the folded text, or in a view of the same length, by their place."""
        return self._set(groups).hits(folded, folded.text if view is None else view, side)

    def learn(self, texts: Iterable[Folded], *groups: str, own: bool = False) -> None:
        """Search many texts together for what `hits` will be asked of each: far quicker than one by one.

        `own`: the speaker's own words alone.
        """
        views = ((text, text.own if own else text.text) for text in texts)
        self._set(groups).learn(line for text, view in views for line in text.lines_of(view))

    def _set(self, groups: tuple[str, ...]) -> RuleSet:
        found = self._sets.get(groups)
        if found is None:
            found = self._sets[groups] = RuleSet(self.of(groups))
        return found

    def of(self, groups: tuple[str, ...]) -> list[Rule]:
        """The rules of these groups, none of which may be without any."""
        for group in groups:
            if group not in self.groups:
                raise SynthesisError(
                    f'no entry has the group "{group}"',
                    where=self.name,
                    fix=f'add entries with group = "{group}"',
                )
        return [rule for rule in self.rules if rule.entry.group in groups]


@cache
def load(checker: str, language: str = "en", package: str = OURS) -> Lexicon:
    """The lexicon of a checker in a language, from `lexicons/` in the package that brings the checker."""
    folder = resources.files(package) / "lexicons" / checker
    there = languages(folder)
    if language not in there:
        raise SynthesisError(
            f'no lexicon for language "{shown(language)}"',
            where=checker,
            fix=f"use one of: {', '.join(there) or 'none there yet'}, or add {checker}/<language>.toml",
        )
    source, where = (folder / f"{language}.toml").read_bytes(), f"{checker}/{language}.toml"
    if package != OURS:
        return parse(source, where)
    # Ours are proved right by the tests: to compile all their patterns at every start would be most of it.
    file = read_file(source, where)
    return Lexicon(where, source, file, LexiconPatterns(file, where))


def languages(folder: Traversable) -> list[str]:
    """The languages that a folder of lexicons has."""
    if not folder.is_dir():
        return []
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml"))


def parse(source: bytes, where: str) -> Lexicon:
    """Read and check a whole lexicon file; everything wrong with it is reported together."""
    file = read_file(source, where)
    patterns = LexiconPatterns(file, where)
    if problems := list(patterns.problems()):
        raise Problems(problems)
    return Lexicon(where, source, file, patterns)
