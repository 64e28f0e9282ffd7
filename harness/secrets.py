"""Keys are kept out of everything that is written or shown: those we know, and what looks like one."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import re2

SHOWN = "[key]"
_SHORTEST = 8
_LONGEST_WORD = 11
"""Shorter values are placeholders such as "none", and letters alone are a word: both are left alone."""
_NAMED_LIKE_KEYS = re2.compile(r"(?i)(?:^|_)(?:(?:api|access)?_?key|token|secret|password)$")
_PRIVATE_KEY = (
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"(?:[^-]|-{1,4}[^-])*-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:[\s>|]|\\[nr])*(?:[A-Za-z0-9+/=]{40,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{0,99}))*)"
)
"""To its end, or as far as whole lines go; it may be quoted, and in pasted JSON a line break is two signs."""
_SHAPES = (
    r"sk-[A-Za-z0-9_-]{16,}",
    r"(?:ghp|gho|ghs|ghu|github_pat|glpat|hf|gsk|xai|pplx|r8)[_-][A-Za-z0-9_-]{20,}",
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"npm_[A-Za-z0-9]{30,}",
    _PRIVATE_KEY,
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"AKIA[A-Z0-9]{16}\b",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
)
# Not `\b`, which sees no beginning after an underscore: servers write "req_sk-…".
_LOOKS_LIKE_A_KEY = re2.compile(rf"(^|[^A-Za-z0-9])(?:{'|'.join(_SHAPES)})")
_BEARER = re2.compile(r"(?i)\b(bearer\s+)([A-Za-z0-9._~+/-]{12,}=*)")
_MAY_HOLD_A_KEY = re2.compile(
    r"(?i:bearer)|sk-|[sr]k_|(?:gh[posu]|pat|hf|gsk|xai|pplx|r8|npm)[_-]|PRIVATE KEY|xox|AIza|AKIA|eyJ"
)


@dataclass(frozen=True)
class Redactor:
    """Puts `[key]` where a key stood. Without known values it still sees what looks like one."""

    known: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Redactor":
        """Knows the values of all variables that are named like keys, the longest first."""
        named = {value.strip() for name, value in environment.items() if _NAMED_LIKE_KEYS.search(name)}
        values = filter(_may_be_a_key, named)
        return cls(tuple(sorted(values, key=lambda value: (-len(value), value))))

    def text(self, text: str) -> str:
        """Plain text without keys."""
        for value in self.known:
            text = text.replace(value, SHOWN)
        return str(_BEARER.sub(_without_token, _LOOKS_LIKE_A_KEY.sub(r"\1" + SHOWN, text)))

    def line(self, line: bytes, ours: Collection[str] = ()) -> bytes:
        """A JSON text without keys in any of its strings; of an object of ours the names and `ours` stay.

        The strings one by one, not the line: a key behind a line break stands behind the `n` of `\\n` there,
        and a key of digits alone may be a number.
        """
        if not self._may_hold_a_key(line):
            return line
        value = orjson.loads(line)
        if ours:
            clean = {name: item if name in ours else self._clean(item) for name, item in value.items()}
        else:
            clean = self._clean(value)
        end = b"\n" if line.endswith(b"\n") else b""
        return line if clean == value else orjson.dumps(clean) + end

    def value(self, value: Any) -> Any:
        """A JSON value without keys in any of its strings; raises TypeError for one that is too deep."""
        return self._clean(value) if self._may_hold_a_key(orjson.dumps(value)) else value

    def _may_hold_a_key(self, line: bytes) -> bool:
        known = any(orjson.dumps(value)[1:-1] in line for value in self.known)
        return known or _MAY_HOLD_A_KEY.search(line.decode()) is not None

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self._clean(item) for name, item in value.items()}
        return [self._clean(item) for item in value] if isinstance(value, list | tuple) else value


def key_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where something stands that looks like a key, in code points."""
    if _MAY_HOLD_A_KEY.search(text) is None:
        return
    yield from ((found.end(1), found.end()) for found in _LOOKS_LIKE_A_KEY.finditer(text))
    for found in _BEARER.finditer(text):
        if any(char.isdigit() for char in found.group(2)):
            yield found.span(2)


def _may_be_a_key(value: str) -> bool:
    """Bytes that are no text, which Python shows as surrogates, are in no text either."""
    word = value.isalpha() and len(value) <= _LONGEST_WORD
    return len(value) >= _SHORTEST and not word and value == value.encode("utf-8", "replace").decode()


def _without_token(found: Any) -> str:
    """A token has a digit in it; the bearer of responsibilities has none."""
    said, token = map(str, found.groups())
    return f"{said}{SHOWN if any(char.isdigit() for char in token) else token}"
