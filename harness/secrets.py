"""Keys are kept out of everything that is written or shown: those we know, and what looks like one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import re2

SHOWN = "[key]"
_SHORTEST = 8
"""Shorter values are placeholders such as "none", and words of a language: they are left alone."""
_NAMED_LIKE_KEYS = re2.compile(r"(?i)(?:^|_)(?:api_?key|access_?key|token|secret|password)$")
_SHAPES = (
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\b(?:ghp|gho|ghs|ghu|github_pat|glpat|hf|gsk|xai|pplx|r8)[_-][A-Za-z0-9_-]{20,}",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bAKIA[A-Z0-9]{16}\b",
    r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
)
_LOOKS_LIKE_A_KEY = re2.compile("|".join(_SHAPES))
_BEARER = re2.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/-]{12,}=*")


@dataclass(frozen=True)
class Redactor:
    """Puts `[key]` where a key stood. Without known values it still sees what looks like one."""

    known: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Redactor":
        """Knows the values of all variables that are named like keys, the longest first."""
        values = {
            value.strip()
            for name, value in environment.items()
            if _NAMED_LIKE_KEYS.search(name) and len(value.strip()) >= _SHORTEST
        }
        return cls(tuple(sorted(values, key=lambda value: (-len(value), value))))

    def text(self, text: str) -> str:
        """Plain text without keys."""
        for value in self.known:
            text = text.replace(value, SHOWN)
        return str(_BEARER.sub(r"\1" + SHOWN, _LOOKS_LIKE_A_KEY.sub(SHOWN, text)))

    def line(self, line: bytes) -> bytes:
        """One line of JSON without keys, and still JSON: no shape of a key holds a quote or a backslash."""
        text = line.decode()
        clean = text
        for value in self.known:
            clean = clean.replace(orjson.dumps(value)[1:-1].decode(), SHOWN)
        clean = _BEARER.sub(r"\1" + SHOWN, _LOOKS_LIKE_A_KEY.sub(SHOWN, clean))
        return line if clean == text else str(clean).encode()

    def value(self, value: Any) -> Any:
        """A JSON value without keys in any of its texts."""
        return orjson.loads(self.line(orjson.dumps(value)))
