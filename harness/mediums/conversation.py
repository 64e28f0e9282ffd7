"""The agent talks and calls gates: with the model's own tool calls, or in fenced blocks of text."""

from dataclasses import dataclass

import orjson

from harness.gate import description, gate_schema
from harness.medium import Medium, Step, fenced, gate_list, shown_to_model
from harness.model import Answer, Message, Tool, ToolCall

_NATIVE = "You work by calling tools. When the task is finished, call `done` with the result."
_TEXT = """You work by calling gates. To call one, write a block like this, and nothing after it:
```gate
{{"gate": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}
```
You then see what it gave. The gates:
{gates}
When the task is finished, call the gate `done` with the result."""
_NOTHING = "Nothing was called. Go on, or call done with the result when the task is finished."
_TOO_LATE = "not called: done was called before it"
_TOO_MANY = "not called: too many calls in one answer"
MOST_CALLS = 128
"""In one answer."""


@dataclass
class Conversation(Medium):
    """One call after the other, in the order the model made them."""

    def brief(self) -> str:
        """Models with tool calls know how to call; the others are shown."""
        return _NATIVE if self.native else _TEXT.format(gates=gate_list(self.hands.gates))

    def tools(self) -> tuple[Tool, ...]:
        """Every gate."""
        if not self.native:
            return ()
        gates = self.hands.gates.items()
        return tuple(Tool(name, description(kind), gate_schema(kind)) for name, kind in gates)

    def step(self, answer: Answer) -> Step:
        """A block that is not a call stays in the words."""
        if self.native or answer.calls:
            return Step(answer.text, calls=answer.calls)
        words, blocks = fenced(answer.text, ("gate",))
        return Step(words, calls=tuple(_call(number, block) for number, block in enumerate(blocks, 1)))

    async def act(self, step: Step) -> list[Message]:
        """An answer for every call, since servers want one."""
        said = [await self._called(call) for call in step.calls[:MOST_CALLS]]
        said += [_TOO_MANY] * (len(step.calls) - len(said))
        answered = zip(step.calls, said, strict=True)
        if self.native and said:
            return [Message("tool", words, call_id=call.id) for call, words in answered]
        lines = (f"{call.name or 'That block'} gave:\n{words}" for call, words in answered)
        return [Message("user", "\n\n".join(lines) or _NOTHING)]

    async def _called(self, call: ToolCall) -> str:
        if self.hands.finished:
            return _TOO_LATE
        given = await self.hands.call(call.name, call.arguments)
        return shown_to_model(given.result if given.ok else f"error: {given.result}")


def _call(number: int, block: str) -> ToolCall:
    """What is not a call is one of a gate that is not there: the model is told, and the trial goes on."""
    try:
        given = orjson.loads(block)
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, dict) or not isinstance(given.get("gate"), str):
        return ToolCall(str(number), "", block)
    return ToolCall(str(number), given["gate"], given.get("arguments", {}))
