"""Compile the core when the project is installed; without a compiler everything works, only more slowly."""

import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

_UNIX = ["-O2", "-g0", "-std=c++20", "-fvisibility=hidden"]
if sys.platform == "linux" and platform.machine() == "x86_64":
    _UNIX.append("-mpopcnt")  # every step of an automaton counts bits
_FLAGS = {"msvc": ["/O2", "/std:c++20", "/EHsc", "/utf-8"]}
_REQUIRED = "SYNTHESIS_REQUIRE_CORE"
"""Where this is 1, no core is an error: what is tested and published must have one."""


class CoreHook(BuildHookInterface[Any]):
    """A wheel brings the compiled core; an editable install finds it in the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the core is newer than its sources."""
        try:
            module = _compile(Path(self.root))
        except (BaseError, CCompilerError, OSError) as error:
            why = " ".join(str(error).split())
            if os.environ.get(_REQUIRED) == "1":
                raise RuntimeError(f"the compiled core could not be built ({why})") from error
            sys.stderr.write(
                f"synthesis: the compiled core could not be built ({why}); "
                "everything works without it, more slowly\n"
            )
            return
        if version != "editable":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["force_include"][str(module)] = f"harness/{module.name}"


def _compile(root: Path) -> Path:
    folder = root / "harness" / "core"
    core = Extension(
        "harness._core",
        [str(source) for source in sorted(folder.glob("*.cpp"))],
        depends=[__file__, *map(str, folder.glob("*.hpp"))],
        language="c++",
    )
    with tempfile.TemporaryDirectory() as objects:
        command = _BuildCore(Distribution({"ext_modules": [core]}))
        command.build_lib, command.build_temp = str(root), objects
        command.ensure_finalized()
        module = Path(command.get_ext_fullpath(core.name))
        try:
            command.run()
        except BaseException:
            module.unlink(missing_ok=True)  # one of older sources would be used, and may judge otherwise
            raise
    return module


class _BuildCore(build_ext):
    def build_extensions(self) -> None:
        kind = self.compiler.compiler_type
        self.compiler.force = True  # it would not link anew what was linked within the same second
        for extension in self.extensions:
            extension.extra_compile_args = _FLAGS.get(kind, _UNIX)
        if kind == "unix":
            self._compile_side_by_side()
        super().build_extensions()

    def _compile_side_by_side(self) -> None:
        """It would compile one source after the other."""
        compile_some = self.compiler.compile

        def compile_all(sources: Sequence[str], *args: Any, **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                lists = pool.map(lambda source: compile_some([source], *args, **options), sources)
                return [made for each in lists for made in each]

        self.compiler.compile = compile_all
