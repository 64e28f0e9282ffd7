"""Conversations from elsewhere: messages as they were exchanged, and the turns they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.records import Turn
from harness.transcript import Json

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said. `context`: earlier talk that a log repeats; it is read but not judged again."""

    role: Role
    text: str
    context: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file. `fields` is what else its record says, for those who choose by it."""

    id: str
    messages: tuple[Message, ...]
    tags: tuple[str, ...] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)

    @property
    def unprompted(self) -> int:
        """Replies to nobody, before the person's first message; where there is none at all, not counted.

        A blank one is no reply.
        """
        first = next((place for place, each in enumerate(self.messages) if each.role == "user"), 0)
        replies = (each for each in self.messages[:first] if each.role == "assistant" and not each.context)
        return sum(bool(each.text.strip()) for each in replies)

    @property
    def earlier(self) -> int:
        """Turns of talk that a log repeats, before the first that is judged."""
        count, asked, said = 0, False, False
        for message in self.messages:
            if message.role == "user":
                count += said
                asked, said = True, False
            elif message.role == "assistant":
                if not message.context:
                    return count
                said = said or (asked and bool(message.text.strip()))
        return count

    def turns(self) -> list[Turn]:
        """Every reply with the message it answers; messages of one side in a row are one.

        System and tool messages are context: they neither ask nor end a turn. Nor does a blank reply: what
        comes next goes with what was said before. A conversation without any message of the person's (a log
        of answers) has its replies judged alone, with an empty `user`.
        """
        found: list[Turn] = []
        asked: list[str] = []
        said: list[str] = []
        judged = False
        alone = not any(each.role == "user" for each in self.messages)
        for message in self.messages:
            if message.role == "user":
                if said:
                    _close(found, asked, said, judged)
                    asked, said, judged = [], [], False
                asked.append(message.text)
            elif message.role == "assistant" and message.text.strip() and (asked or alone):
                said.append(message.text)
                judged = judged or not message.context
        if said:
            _close(found, asked, said, judged)
        return found


def _close(found: list[Turn], asked: Sequence[str], said: Sequence[str], judged: bool) -> None:
    """Earlier talk alone makes no turn."""
    if judged:
        found.append(Turn(user="\n\n".join(filter(str.strip, asked)), assistant="\n\n".join(said)))
