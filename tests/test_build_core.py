"""Installing works without a compiler; where the core is required, it does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
MODULE = """
#include <Python.h>
#include "value.hpp"
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", nullptr, -1};
PyMODINIT_FUNC PyInit__core() {
    PyObject* module = PyModule_Create(&definition);
    if (module) PyModule_AddIntConstant(module, "value", value());
    return module;
}
"""

needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no compiler")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with our own build and a core of two small files."""
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("schemas", "rubrics", "data", "scenarios"):
        (tmp_path / name).mkdir()
    core = tmp_path / "harness" / "core"
    core.mkdir(parents=True)
    shutil.copy(ROOT / "harness" / "core" / "build_hook.py", core)
    (core.parent / "__init__.py").touch()
    (core / "module.cpp").write_text(MODULE)
    (core / "value.hpp").write_text("int value();\n")
    (core / "value.cpp").write_text('#include "value.hpp"\nint value() { return 1; }\n')
    return tmp_path


def build(project: Path, target: str = "wheel", **environment: str) -> subprocess.CompletedProcess[str]:
    own = ("CXX", "SYNTHESIS_REQUIRE_CORE")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(project / "dist")],
        cwd=project, env=kept | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def change(source: Path, before: str, after: str) -> None:
    """Times are compared in whole seconds."""
    source.write_text(source.read_text().replace(before, after))
    later = source.stat().st_mtime + 5
    os.utime(source, (later, later))


def compiled(folder: Path) -> list[Path]:
    return [file for file in folder.glob("_core.*") if file.suffix in (".so", ".pyd")]


def built(project: Path) -> tuple[str, list[str]]:
    (wheel,) = (project / "dist").glob("*.whl")
    return wheel.name, [name for name in ZipFile(wheel).namelist() if ".dist-info" not in name]


def value_of_the_core(project: Path) -> str:
    code = "import harness._core; print(harness._core.value)"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout.strip()


def test_without_a_compiler_the_wheel_is_pure_and_says_so(project: Path) -> None:
    done = build(project, CXX="/nonexistent")
    assert done.returncode == 0
    assert "synthesis: the compiled core could not be built (" in done.stderr
    assert "); everything works without it, more slowly\n" in done.stderr
    name, files = built(project)
    assert name.endswith("-py3-none-any.whl")
    assert files == ["harness/__init__.py"]


@needs_compiler
def test_what_does_not_compile_is_the_same_and_leaves_no_older_core(project: Path) -> None:
    assert build(project).returncode == 0
    assert compiled(project / "harness")
    change(project / "harness" / "core" / "value.cpp", "1", "nothing")
    done = build(project)
    assert done.returncode == 0
    assert "could not be built" in done.stderr
    assert compiled(project / "harness") == []


def test_where_the_core_is_required_failing_to_compile_fails_the_build(project: Path) -> None:
    done = build(project, CXX="/nonexistent", SYNTHESIS_REQUIRE_CORE="1")
    assert done.returncode != 0
    assert "the compiled core could not be built" in done.stderr
    assert not (project / "dist").exists() or not list((project / "dist").iterdir())


@needs_compiler
def test_the_wheel_has_the_core_and_none_of_its_sources(project: Path) -> None:
    done = build(project, SYNTHESIS_REQUIRE_CORE="1")
    assert done.returncode == 0, done.stderr
    name, files = built(project)
    (module,) = compiled(project / "harness")
    assert files == ["harness/__init__.py", f"harness/{module.name}"]
    assert "none" not in name
    assert value_of_the_core(project) == "1"


@needs_compiler
def test_the_source_distribution_has_the_sources_and_not_the_core(project: Path) -> None:
    build(project)
    assert build(project, "sdist").returncode == 0
    (archive,) = (project / "dist").glob("*.tar.gz")
    shutil.unpack_archive(archive, project / "unpacked")
    (core,) = (project / "unpacked").glob("*/harness/core")
    sources = ["build_hook.py", "module.cpp", "value.cpp", "value.hpp"]
    assert sorted(file.name for file in core.iterdir()) == sources
    assert compiled(core.parent) == []


@needs_compiler
def test_it_is_compiled_again_only_when_a_source_changed(project: Path) -> None:
    build(project)
    (module,) = compiled(project / "harness")
    before = module.stat().st_mtime_ns
    build(project)
    assert module.stat().st_mtime_ns == before
    source = project / "harness" / "core" / "value.cpp"
    change(source, "1", "2")
    os.utime(source, ns=(before + 2 * 10**9,) * 2)  # what is older is told by whole seconds
    build(project)
    assert value_of_the_core(project) == "2"
