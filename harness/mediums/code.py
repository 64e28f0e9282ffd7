"""The agent writes Python that calls the gates as functions; it runs in a sandbox and keeps its variables."""

from dataclasses import dataclass

from harness.box import CodeBox
from harness.gate import gate_fields
from harness.medium import Medium, Step, fenced, gate_list, shown_to_model
from harness.model import Answer, Message

_BRIEF = """You work by writing Python, in a block like this:
```python
text = read_file("note.txt")
```
It is run, and you see what it printed. Variables stay. These functions are there:
{gates}
When the task is finished, call done(result)."""
_NOTHING = "There was no ```python block to run. Write one; call done(result) when the task is finished."


@dataclass
class Code(Medium):
    """All blocks of one answer are one piece of code."""

    box: CodeBox | None = None

    def brief(self) -> str:
        """The functions there are."""
        return _BRIEF.format(gates=gate_list(self.hands.gates))

    def step(self, answer: Answer) -> Step:
        """Words beside the code are words; a fence that names no language holds code."""
        if answer.code is not None:
            return Step(answer.text, answer.code)
        words, blocks = fenced(answer.text, ("python", "py", ""))
        return Step(words, "\n".join(blocks) if blocks else None)

    async def act(self, step: Step) -> list[Message]:
        """What was printed, and what went wrong, is an observation of the gate `code`."""
        if step.code is None:
            return [Message("user", _NOTHING)]
        if self.box is None:
            fields = {name: gate_fields(kind) for name, kind in self.hands.gates.items()}
            self.box = CodeBox(self.hands.sandbox, fields)
            self.hands.note_sandbox()
        ran = await self.box.run(step.code, self.hands.call)
        self.hands.observe("code", ok=ran.error is None, result={"output": ran.told, "error": ran.error})
        said = "\n".join(part for part in (ran.told, ran.error) if part) or "(nothing was printed)"
        return [Message("user", shown_to_model(said))]

    async def close(self) -> None:
        """End the process."""
        if self.box is not None:
            await self.box.close()
