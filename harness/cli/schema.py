"""`synthesis schema`: print one of the JSON Schemas."""

from typing import Annotated

import typer


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Leave it out to list the names.")] = "",
) -> int:
    """Print a JSON Schema, for editors and other tools."""
    from harness import schema
    from harness.console import emit
    from harness.errors import SynthesisError
    from harness.problems import shown

    if not name:
        emit("\n".join(schema.names()))
        return 0
    if name not in schema.names():
        raise SynthesisError(f'no schema "{shown(name)}"', fix=f"use one of: {', '.join(schema.names())}")
    emit(schema.text(name).removesuffix("\n"))
    return 0
