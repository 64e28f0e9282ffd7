"""A Python function as a gate (trusted Python only): its parameters are the arguments."""

import asyncio
import inspect
from collections.abc import Callable
from hashlib import sha256
from typing import Any, cast

from pydantic import create_model

from harness.gate import Bench, Gate
from harness.subjects.function import is_async, name_of, source_of
from harness.transcript import Json

GateFunction = Callable[..., Any]
_CONTEXT = "context"


def function_gate(function: GateFunction) -> type[Gate]:
    """The gate's name is the function's, its description the first line of the docstring.

    A parameter named `context` is not the agent's to give: it gets the trial's Context. What the function
    returns is the observation. GateError tells the agent why not; any other exception is the trial's error.
    """
    parameters = inspect.signature(function).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (
            Any if parameter.annotation is parameter.empty else parameter.annotation,
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for parameter in parameters
        if parameter.name != _CONTEXT
    }
    wants_context = len(fields) < len(parameters)

    class FunctionGate(Gate):
        async def call(self, bench: Bench) -> Json:
            given = {name: getattr(self, name) for name in fields}
            more = {_CONTEXT: bench.context} if wants_context else {}
            if is_async(function):
                return await function(**given, **more)
            return await asyncio.to_thread(function, **given, **more)

    made = create_model(gate_name(function), __base__=FunctionGate, **fields)
    made.__doc__ = inspect.getdoc(function) or gate_name(function)
    return cast("type[Gate]", made)


def gate_name(function: GateFunction) -> str:
    """What the agent calls it."""
    return name_of(function).rpartition(".")[2]


def gate_identity(function: GateFunction) -> dict[str, Json]:
    """Name and file contents: an edited gate runs again."""
    path = source_of(function)
    return {"gate": gate_name(function), "sha256": path and sha256(path.read_bytes()).hexdigest()}
