"""`synthesis baseline save|list|show|remove`: runs that are kept to compare with."""

from typing import Annotated

import typer


def run(
    action: Annotated[str, typer.Argument(metavar="save|list|show|remove", help="What to do.")],
    what: Annotated[
        str | None, typer.Argument(metavar="[RUN|NAME]", help="The run to save, or the baseline.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The name it is saved under.")
    ] = None,
    no_transcripts: Annotated[
        bool,
        typer.Option("--no-transcripts", help="Keep hashes only; it cannot be scored again then."),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Save over a baseline of the same name.")
    ] = False,
) -> int:
    """Keep a run to compare with, as plain files under baselines/ that can be committed."""
    from harness.arguments import one_of
    from harness.errors import SynthesisError

    chosen = one_of(action, "ACTION", ("save", "list", "show", "remove"))
    if chosen == "list":
        return _list()
    if what is None:
        example = "save RUN --as main" if chosen == "save" else f"{chosen} main"
        raise SynthesisError(f"{chosen} what?", fix=f"for example: synthesis baseline {example}")
    if chosen == "save":
        if name is None:
            raise SynthesisError("the baseline has no name", fix="give one, for example: --as main")
        return _save(what, name, transcripts=not no_transcripts, replace=replace)
    return _show(what) if chosen == "show" else _remove(what)


def _save(run_name: str, name: str, *, transcripts: bool, replace: bool) -> int:
    from harness.baselines import save_baseline
    from harness.console import counted, emit

    saved = save_baseline(run_name, name, transcripts=transcripts, replace=replace)
    kept = counted(len(saved.files), "file") + " to score it again" if saved.kept else "no transcripts"
    emit(f"baselines/{saved.name}: {counted(saved.scenarios, 'scenario')}, mean {saved.mean}, {kept}")
    emit(f"next: synthesis eval … --baseline {saved.name}")
    return 0


def _list() -> int:
    from harness.baselines import list_baselines
    from harness.console import counted, emit

    found = list_baselines()
    for saved in found:
        kept = "with transcripts" if saved.kept else "without transcripts"
        trials = f"{saved.scored} of {counted(saved.trials, 'trial')} scored"
        emit(f"{saved.name}  mean {saved.mean}  {counted(saved.scenarios, 'scenario')}, {trials}, {kept}")
    if not found:
        emit("no baselines; save one with: synthesis baseline save RUN --as NAME")
    return 0


def _show(name: str) -> int:
    from harness.baselines import damage, read_baseline
    from harness.console import complain, emit
    from harness.errors import Exit

    emit(read_baseline(name).model_dump_json(indent=2))
    found = list(damage(name))
    for problem in found:
        complain(f"baselines/{name}: {problem}")
    return Exit.FATAL if found else Exit.HOLDS


def _remove(name: str) -> int:
    from harness.baselines import remove_baseline
    from harness.console import emit

    remove_baseline(name)
    emit(f"removed: baselines/{name}")
    return 0
