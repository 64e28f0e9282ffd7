"""Which files are meant by paths: files, folders with all that is in them, and runs of our own."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import Problems, SynthesisError

STANDARD_INPUT = "-"
_OF_AN_AUDIT = frozenset({"audit.json", "findings.jsonl", "rejects.jsonl", "progress.json"})
_OF_A_RUN = ("report", "workspaces", "judgments", "transcripts")


def input_files(paths: Sequence[str]) -> list[str]:
    """Every file, folders in lexical order; raises for all paths together that have none."""
    files: list[str] = []
    problems: list[SynthesisError] = []
    if not paths:
        raise SynthesisError("there is nothing to read", fix="name a file, a folder, or - for standard input")
    if list(paths).count(STANDARD_INPUT) > 1:
        raise SynthesisError("standard input can be read once", fix="name - only once")
    for path in paths:
        try:
            files += [path] if path == STANDARD_INPUT else _files(Path(path))
        except SynthesisError as error:
            problems.append(error)
        except OSError as error:
            fix = "check the path and its permissions"
            where = str(error.filename or path)
            problems.append(SynthesisError(f"cannot be read: {error.strerror}", where=where, fix=fix))
    if problems or (problems := list(_named_twice(files))):
        raise Problems(problems)
    return files


def _named_twice(files: Sequence[str]) -> Iterator[SynthesisError]:
    """What is in such a file would count twice."""
    seen: set[Path] = set()
    for file in files:
        real = Path(file).resolve()
        if real in seen:
            yield SynthesisError("it is named twice", where=file, fix="name it once")
        seen.add(real)


def _files(path: Path) -> list[str]:
    if not path.exists():
        raise SynthesisError("no such file or folder", where=str(path), fix="check the path")
    if not path.is_dir():
        if not path.is_file():
            fix = "copy what it gives into a file, or pipe it in and name -"
            raise SynthesisError("not a regular file", where=str(path), fix=fix)
        return [str(path)]
    found = [str(file) for file in _inside(path, frozenset())]
    if not found:
        what = "there is only an audit" if _is_audit(path) else "there is no file"
        raise SynthesisError(f"{what} in this folder", where=str(path), fix="name another")
    return found


def _inside(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    """Hidden files are left out, what an audit wrote, and a folder that is inside itself by a link."""
    real = folder.resolve()
    if real in above:
        return
    paths = sorted(folder.iterdir())  # first, so that a folder that cannot be read is named itself
    if _is_run(folder):
        yield from sorted(file for file in (folder / "transcripts").glob("*.jsonl") if file.is_file())
        return
    written = _OF_AN_AUDIT if _is_audit(folder) else frozenset()
    for path in paths:
        if path.name.startswith(".") or path.name in written:
            continue
        if path.is_dir():
            yield from _inside(path, above | {real})
        elif path.is_file():
            yield path


def _is_audit(folder: Path) -> bool:
    """Findings and a file that only an audit has beside them; one such name alone may be anybody's."""
    names = {name for name in _OF_AN_AUDIT if (folder / name).is_file()}
    return "findings.jsonl" in names and len(names) > 1


def _is_run(folder: Path) -> bool:
    """A folder of transcripts and nothing that no run of ours would have written beside them."""
    if not (folder / "transcripts").is_dir():
        return False
    return all(path.name.startswith((*_OF_A_RUN, ".")) for path in folder.iterdir())
