"""The agent writes bash commands, in which the gates are commands too; each runs in a sandbox."""

from dataclasses import dataclass

from harness.medium import Medium, Step, fenced, gate_list, shown_to_model
from harness.model import Answer, Message

_BRIEF = """You work by writing bash, in a block like this:
```bash
ls -l
```
It is run in your workspace, and you see what it printed. Each block is a shell of its own. These commands are
there as well, with their arguments in this order, or all of them as one JSON object:
{gates}
When the task is finished, run: done "the result"."""
_NOTHING = 'There was no ```bash block to run. Write one; run done "…" when the task is finished.'


@dataclass
class Bash(Medium):
    """Every block is one call of the gate `run`."""

    def brief(self) -> str:
        """The commands there are beside the usual ones."""
        others = {name: kind for name, kind in self.hands.gates.items() if name != "run"}
        return _BRIEF.format(gates=gate_list(others))

    def step(self, answer: Answer) -> Step:
        """Words beside the commands are words; a fence that names no language holds commands."""
        if answer.code is not None:
            return Step(answer.text, answer.code)
        words, blocks = fenced(answer.text, ("bash", "sh", "shell", ""))
        return Step(words, "\n".join(blocks) if blocks else None)

    async def act(self, step: Step) -> list[Message]:
        """What came of it, as the gate gave it."""
        if step.code is None:
            return [Message("user", _NOTHING)]
        given = await self.hands.call("run", {"command": step.code})
        return [Message("user", shown_to_model(given.result))]
