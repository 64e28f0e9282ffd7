"""Put into the transcript what a program said line by line; its children go by ids of its own."""

from harness.attempt import Attempt
from harness.line_protocol import (
    AssistantLine,
    AttemptLine,
    ChildEndLine,
    ChildStartLine,
    GateCallLine,
    ObservationLine,
    StepLine,
)
from harness.problems import shown
from harness.record import Sink


class LineEvents:
    """One for a conversation: a child may go on over several messages, and no id is used twice."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._numbers: dict[str, int] = {}
        self._running: dict[str, str | None] = {}
        """Each child that has not ended, and which child began it."""

    def record(self, line: StepLine) -> None:
        """Raises ValueError where the line names a child that cannot be meant."""
        match line:
            case ChildStartLine():
                self._start(line)
            case ChildEndLine():
                self._end(line)
            case AssistantLine():
                parent = self._parent(line.parent)
                self._sink.assistant(line.text, code=line.code, medium=line.medium, parent=parent)
            case GateCallLine():
                self._sink.gate_call(line.gate, line.arguments, self._parent(line.parent))
            case ObservationLine():
                parent = self._parent(line.parent)
                self._sink.observation(line.gate, ok=line.ok, result=line.result, parent=parent)
            case AttemptLine():
                attempt = Attempt(**line.model_dump(exclude={"type", "parent"}))
                self._sink.attempt(attempt, self._parent(line.parent))

    def _start(self, line: ChildStartLine) -> None:
        if line.child in self._numbers:
            raise ValueError(f'child: "{shown(line.child)}" was started before')
        parent = self._parent(line.parent)
        self._numbers[line.child] = self._sink.child_start(line.medium, line.prompt, parent)
        self._running[line.child] = line.parent

    def _end(self, line: ChildEndLine) -> None:
        number = self._number(line.child, "child")
        for child, parent in self._running.items():
            if parent == line.child:
                raise ValueError(f'child: its own child "{shown(child)}" has not ended')
        del self._running[line.child]
        self._sink.child_end(number, line.reason, terminated=line.terminated, result=line.result)

    def _parent(self, child: str | None) -> int | None:
        return None if child is None else self._number(child, "parent")

    def _number(self, child: str, key: str) -> int:
        if child not in self._numbers:
            raise ValueError(f'{key}: no child "{shown(child)}" was started')
        if child not in self._running:
            raise ValueError(f'{key}: the child "{shown(child)}" has ended')
        return self._numbers[child]
