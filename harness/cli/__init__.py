"""The command line: one file per command, the file name is the command's name.

Nothing heavy is imported here or at the top of a command's file: `--help` must stay quick. A command that is
named is the only one that is made ready.
"""

import gc
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from harness.console import complain, emit, lasting_stdout, prepare_streams
from harness.errors import Exit, Problems, SynthesisError
from harness.version import VERSION

_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""typer does not export the class of all its usage errors."""
SELDOM = (50_000, 20, 100)
"""How often Python looks for cycles of objects: imports and records make many objects and hardly a cycle."""
_INTERRUPTED = 130
"""What typer makes of Ctrl-C; no command ends with it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; libraries raise, only here things are printed."""
    if argv is None:  # the process is ours
        gc.set_threshold(*SELDOM)
    prepare_streams()
    code = _run(argv)
    with lasting_stdout():
        """What is still to be flushed may fail as well; the exit code stands."""
    if argv is None:
        gc.freeze()  # at its end Python would look through everything for cycles
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        return _invoke(argv)
    except Problems as problems:
        for problem in problems.problems:
            complain(problem)
        complain(
            f"{len(problems.problems)} problems; nothing was run"
            if len(problems.problems) > 1
            else "nothing was run"
        )
        return Exit.FATAL
    except SynthesisError as error:
        complain(error)
        return Exit.FATAL
    except _USAGE_ERROR as error:
        found = cast("typer.BadParameter", error)
        command = found.ctx.command_path if found.ctx else "synthesis"
        complain(f"{found.format_message()}\n  fix: see {command} --help")
        return Exit.FATAL
    except MemoryError:
        complain(
            "memory ran out\n  fix: look for a line of many megabytes in the input, or allow more (ulimit -v)"
        )
        return Exit.FATAL
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return Exit.FATAL


def _invoke(argv: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    code = int(_app(arguments)(args=arguments, standalone_mode=False, prog_name="synthesis") or 0)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code


def _app(arguments: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Measure how an assistant treats the people who talk to it.",
    )
    app.callback()(_global_options)
    modules = {info.name.replace("_", "-"): info.name for info in pkgutil.iter_modules(__path__)}
    for name in modules.keys() & arguments[:1] or modules:
        app.command(name)(importlib.import_module(f"{__name__}.{modules[name]}").run)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        emit(f"synthesis {VERSION}")
        raise typer.Exit


def _global_options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """What stands before a command."""
