"""A chat model over HTTP: the system prompt, then what was said so far, then the next message."""

from dataclasses import dataclass, field

from harness.model import Message
from harness.model_subject import ModelSubject
from harness.speaker import Speaker
from harness.subject import Context, Reply, SubjectError


class Chat(ModelSubject):
    """`model` is "PROVIDER:NAME"; the seed of the trial goes with each request where the server has seeds."""

    def open(self, context: Context) -> "ChatSession":
        """Nothing is asked before the first message."""
        return ChatSession(self.speaker(context, context.asker), context)


@dataclass
class ChatSession:
    """Keeps what was said, as it was said."""

    speaker: Speaker
    context: Context
    messages: list[Message] = field(default_factory=list)

    async def reply(self, message: str) -> Reply:
        """Ask with everything said so far; an empty answer is an error, not silence."""
        self.messages.append(Message("user", message))
        system = self.context.system
        opening = [Message("system", system)] if system else []
        answer = await self.speaker.answer((*opening, *self.messages))
        if not answer.text.strip():
            raise SubjectError("answer", f"the model said nothing (finish: {answer.finish})")
        self.messages.append(Message("assistant", answer.text))
        return Reply(answer.text, result=answer.text)

    async def close(self) -> None:
        """Connections belong to the run."""
