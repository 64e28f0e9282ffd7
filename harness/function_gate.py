"""A Python function as a gate (trusted Python only): its parameters are the arguments."""

import inspect
import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any, cast

from pydantic import PydanticUserError, create_model

from harness.errors import SubjectError, words_of
from harness.gate import Bench, Gate, GateError, gate_schema
from harness.subjects.function import FunctionSession, is_async, name_of, source_of
from harness.transcript import Json

GateFunction = Callable[..., Any]
_CONTEXT = "context"
_LONGEST_NAME = 64
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def function_gate(function: GateFunction) -> type[Gate]:
    """The gate's name is the function's, its description the first line of the docstring.

    A parameter named `context` is not the agent's to give: it gets the trial's Context. What the function
    returns is the observation. GateError tells the agent why not; any other exception is the trial's error.
    Raises ValueError for a function that no agent could call.
    """
    name = gate_name(function)
    if not (name.isidentifier() and name.isascii() and len(name) <= _LONGEST_NAME):
        raise ValueError(f'"{name}" is no name for a gate: define a function with one of plain letters')
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
        fields = {key: _field(each, name) for key, each in parameters.items() if key != _CONTEXT}
        base = _gate_of(function, _CONTEXT in parameters)
        made = cast("type[Gate]", create_model(name, __base__=base, **cast("Any", fields)))
        made.__doc__ = inspect.getdoc(function) or name
        gate_schema(made)
    except (PydanticUserError, NameError) as error:
        raise ValueError(f"{name}: an argument of this type cannot be given: {words_of(error)}") from error
    return made


def gate_name(function: GateFunction) -> str:
    """What the agent calls it."""
    return name_of(function).rpartition(".")[2]


def gate_identity(function: GateFunction) -> dict[str, Json]:
    """Name and file contents: an edited gate runs again."""
    path = source_of(function)
    return {"gate": gate_name(function), "sha256": path and sha256(path.read_bytes()).hexdigest()}


def _field(parameter: inspect.Parameter, gate: str) -> tuple[Any, Any]:
    if parameter.kind not in _BY_NAME:
        raise ValueError(f'{gate}: "{parameter}" cannot be given by its name')
    if parameter.name.startswith("_") or hasattr(Gate, parameter.name):
        raise ValueError(f'{gate}: an argument cannot be called "{parameter.name}"; rename it')
    kind = Any if parameter.annotation is parameter.empty else parameter.annotation
    return kind, ... if parameter.default is parameter.empty else parameter.default


def _gate_of(function: GateFunction, wants_context: bool) -> type[Gate]:
    class FunctionGate(Gate):
        async def call(self, bench: Bench) -> Json:
            assert bench.context is not None  # an agent's bench has it
            given = {name: getattr(self, name) for name in type(self).model_fields}
            more = {_CONTEXT: bench.context} if wants_context else {}
            calling = _Calling(function, bench.context)
            try:
                return await calling.give(given | more)
            finally:
                await calling.close()

    return FunctionGate


class _Refusal(SubjectError):  # noqa: N818 - nothing went wrong
    """A GateError on its way out of the function's thread or task."""


class _Calling(FunctionSession):
    """Called like a function that is the subject: neither one that hangs nor sys.exit() ends our run."""

    async def give(self, arguments: dict[str, Any]) -> Json:
        """What it returns, which has to be JSON in every medium."""
        call = partial(self.function, **arguments)
        try:
            given = call() if is_async(self.function) else await self._in_thread(call)
            given = await self._in_task(given) if inspect.isawaitable(given) else given
        except _Refusal as refusal:
            raise GateError(str(refusal)) from refusal
        try:
            json.dumps(given, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            what = f"what {name_of(self.function)} returned is not JSON: {words_of(error)}"
            raise SubjectError("json", what) from error
        return given

    def _failure(self, raised: BaseException) -> SubjectError:
        if isinstance(raised, GateError):
            return _Refusal("gate", words_of(raised))
        return super()._failure(raised)
