"""A request and what was said to it: where the words stand is for the format, what they make is the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.conversation import Conversation, Message
from harness.importer import PassedOver
from harness.importers._messages import to_judge
from harness.transcript import Json


@dataclass(frozen=True)
class Origin:
    """What a record says of itself, beside the words."""

    id: str = ""
    tags: tuple[str, ...] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)

    def choice(self, place: int) -> "Origin":
        """Of one choice of several, counted from 1; the first has the record's own id."""
        return replace(self, id=f"{self.id}#{place}") if self.id and place > 1 else self


def conversation(origin: Origin, messages: Sequence[Message]) -> Conversation:
    """The words and where they are from."""
    return Conversation(origin.id, tuple(messages), origin.tags, origin.fields)


def earlier(history: Sequence[Message]) -> list[Message]:
    """What was said before, whose replies are context."""
    return [
        Message(each.role, each.text, context=True) if each.role == "assistant" else each for each in history
    ]


def exchange(
    origin: Origin, history: Sequence[Message], reply: Sequence[Message]
) -> Iterator[Conversation | PassedOver]:
    """What was asked, whose earlier replies are context, and the reply that is judged."""
    messages = [*earlier(history), *reply]
    if to_judge(messages):
        yield conversation(origin, messages)
    else:
        yield PassedOver("a request without a reply in words")
