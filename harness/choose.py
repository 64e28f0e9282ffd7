"""Which conversations are looked at: by what they say of themselves (`--where`), or by lot (`--sample`)."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import orjson

from harness.conversation import Conversation
from harness.errors import SynthesisError
from harness.problems import shown
from harness.transcript import Json

ROLES = ("system", "user", "assistant", "tool")
_DIGEST = 16
"""Bytes; that two conversations draw the same lot is out of the question."""


@dataclass(frozen=True)
class Condition:
    """One `--where`: tag, role, id, or a field by its dotted path, and a value it has or must not have."""

    name: str
    value: str
    wanted: bool

    def __str__(self) -> str:
        return f"{self.name}{'=' if self.wanted else '!='}{self.value}"

    def holds(self, conversation: Conversation) -> bool:
        """Whether the conversation satisfies it; a field that is not there has no value at all."""
        if self.name in ("tag", "tags"):
            there = self.value in conversation.tags
        elif self.name == "id":
            there = self.value == conversation.id
        elif self.name == "role":
            there = any(message.role == self.value for message in conversation.messages)
        else:
            there = _has(conversation.fields, self.name, self.value)
        return there is self.wanted


def _has(value: Json, path: str, wanted: str) -> bool:
    """A list has what any of its items has; a name with dots in it wins over a path."""
    if isinstance(value, list):
        return any(_has(item, path, wanted) for item in value if not isinstance(item, list))
    if not path:
        return _as_text(value) == wanted
    if not isinstance(value, Mapping):
        return False
    if path in value:
        return _has(value[path], "", wanted)
    head, dot, rest = path.partition(".")
    return bool(dot) and head in value and _has(value[head], rest, wanted)


def _as_text(value: Json) -> str | None:
    """As JSON writes it, without quotes; what is not a single value equals nothing."""
    if isinstance(value, str):
        return value
    return None if isinstance(value, Mapping) else orjson.dumps(value, default=str).decode()


def parse_where(texts: Iterable[str]) -> tuple[Condition, ...]:
    """As they were typed: NAME=VALUE or NAME!=VALUE."""
    return tuple(_condition(text) for text in texts)


def _condition(text: str) -> Condition:
    name, equals, value = text.partition("=")
    wanted = not name.endswith("!")
    name = name.removesuffix("!").strip()
    if not equals or not name:
        fix = "write for example --where tag=billing, --where role=tool or --where meta.lang!=en"
        raise SynthesisError(f'"{shown(text)}" is no condition', where="--where", fix=fix)
    if name == "role" and value not in ROLES:
        what = f'"{shown(value)}" is not a role'
        raise SynthesisError(what, where="--where", fix=f"use one of: {', '.join(ROLES)}")
    return Condition(name, value, wanted)


@dataclass(frozen=True)
class Spot:
    """Where a conversation stands: which input, which file in it, which record there, which one of that."""

    source: int
    member: str
    line: int
    index: int

    def lot(self, seed: int) -> bytes:
        """What it draws; the smallest are taken. It depends on nothing but the place and the seed."""
        place = orjson.dumps([seed, self.source, self.line, self.index]) + self.member.encode(
            "utf-8", "surrogatepass"
        )
        return blake2b(place, digest_size=_DIGEST).digest()


@dataclass(frozen=True)
class Lots:
    """The smallest lots of some conversations, in no order, and how many there were to draw from."""

    population: int
    smallest: tuple[bytes, ...]


class Urn:
    """Keeps the `size` smallest lots of any number."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: list[int] = []
        self.population = 0

    def add(self, lots: Lots) -> None:
        """More lots, of conversations that were not in here."""
        self.population += lots.population
        for lot in lots.smallest:
            number = -int.from_bytes(lot)
            if len(self._kept) < self._size:
                heapq.heappush(self._kept, number)
            elif number > self._kept[0]:
                heapq.heapreplace(self._kept, number)

    def cutoff(self) -> bytes:
        """The largest lot that is still taken."""
        return (-self._kept[0]).to_bytes(_DIGEST) if self._kept else b"\xff" * _DIGEST


def smallest(lots: Sequence[bytes], size: int) -> Lots:
    """What a part of the input sends to the urn."""
    return Lots(len(lots), tuple(heapq.nsmallest(size, lots)) if len(lots) > size else tuple(lots))
