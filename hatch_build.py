"""Compiles the loops of `epivote.kernels` when a wheel is built or a checkout is installed.

The compiler is the one of the package `ziglang`, which the build installs for itself, so that the loops are the same
everywhere, no compiler has to be there, and one machine makes the wheels of all platforms. Two variables of the
environment change that: `EPIVOTE_CXX` names another compiler that takes the options of clang, and `EPIVOTE_PLATFORM` a
platform of `PLATFORMS` other than this one; with `any` the wheel has no loops, and array operations do their work.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = Path("src", "epivote", "kernels", "loops")
COMPILER = "ziglang>=0.15"
OPTIONS = (
    *("-x", "c++", "-std=c++17", "-O3", "-fPIC", "-shared", "-fvisibility=hidden"),
    *("-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fno-trapping-math", "-g0", "-s"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-psabi"),  # functions with vectors are all inlined or private
)


class Platform(NamedTuple):
    """What wheels are made for: the compiler's name of it, the one in the name of a wheel, and the library's ending."""

    target: str
    tag: str
    ending: str

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels of instructions that loops are compiled for; the first is there on every processor."""
        return ("x86_64_v2", "x86_64_v3", "x86_64_v4") if self.target.startswith("x86_64") else ("",)


PLATFORMS = {
    "linux-x86_64": Platform("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", "so"),
    "linux-aarch64": Platform("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", "so"),
    "musllinux-x86_64": Platform("x86_64-linux-musl", "musllinux_1_2_x86_64", "so"),
    "macosx-x86_64": Platform("x86_64-macos.11.0", "macosx_11_0_x86_64", "dylib"),
    "macosx-arm64": Platform("aarch64-macos.11.0", "macosx_11_0_arm64", "dylib"),
    "win-amd64": Platform("x86_64-windows-gnu", "win_amd64", "dll"),
}


class LoopsHook(BuildHookInterface[Any]):
    """Compiles what has changed since the last time, and adds it to the wheel."""

    def dependencies(self) -> list[str]:
        """The compiler, unless there is another one or nothing to compile."""
        chosen = chosen_platform()
        return [COMPILER] if chosen and "EPIVOTE_CXX" not in os.environ and _outdated(self._folder, chosen) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files of the wheel are collected."""
        chosen = chosen_platform()
        if self.target_name != "wheel" or chosen is None:
            return
        if _outdated(self._folder, chosen):
            _compile(self._folder, chosen)
        tag = chosen.tag if "EPIVOTE_PLATFORM" in os.environ else _tag_here()
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{tag}"
        if version != "editable":
            for library in _libraries(self._folder, chosen):
                build_data["force_include"][str(library)] = f"epivote/kernels/loops/{library.name}"

    @property
    def _folder(self) -> Path:
        return Path(self.root) / SOURCES


def chosen_platform() -> Platform | None:
    """The platform to compile for; None if the wheel is to have no loops."""
    named = os.environ.get("EPIVOTE_PLATFORM") or _here()
    if named == "any":
        return None
    if named not in PLATFORMS:
        raise SystemExit(
            f"epivote: no loops can be compiled for {named!r}; set EPIVOTE_PLATFORM to any (array operations, slower) "
            f"or to one of {', '.join(PLATFORMS)}."
        )
    return PLATFORMS[named]


def _here() -> str:
    """The name of this platform."""
    machine = platform.machine().lower().replace("arm64", "aarch64")
    if sys.platform == "darwin":
        return "macosx-arm64" if machine == "aarch64" else "macosx-x86_64"
    if sys.platform == "win32":
        return "win-amd64"
    is_musl = "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")
    return f"{'musllinux' if is_musl else 'linux'}-{machine}"


def _tag_here() -> str:
    """How pip names this platform."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _libraries(folder: Path, chosen: Platform) -> list[Path]:
    return [folder / f"loops{level.removeprefix('x86_64')}.{chosen.ending}" for level in chosen.levels]


def _stamp(folder: Path, chosen: Platform) -> str:
    """What the libraries are made of."""
    made_of = [path.read_bytes() for path in (*sorted(folder.glob("*.?pp")), Path(__file__))]
    return hashlib.sha256(repr((chosen, made_of)).encode()).hexdigest()


def _outdated(folder: Path, chosen: Platform) -> bool:
    stamp = folder / "compiled.txt"
    made = stamp.read_text() if stamp.exists() else ""
    return made != _stamp(folder, chosen) or not all(path.exists() for path in _libraries(folder, chosen))


def _compile(folder: Path, chosen: Platform) -> None:
    """One library for every level of instructions."""
    sources = sorted(folder.glob("*.cpp"))
    for level, library in zip(chosen.levels, _libraries(folder, chosen), strict=True):
        compile_library(sources, library, chosen, level)
    (folder / "compiled.txt").write_text(_stamp(folder, chosen))


def compile_library(sources: list[Path], library: Path, chosen: Platform, level: str) -> None:
    """Compile these sources for one level of instructions."""
    named = os.environ.get("EPIVOTE_CXX")
    compiler = shlex.split(named) if named else [sys.executable, "-m", "ziglang", "cc", "-target", chosen.target]
    own = [f"-march={level.replace('_v', '-v') if named else level}"] if level else []
    command = [*compiler, *OPTIONS, *own, "-o", str(library), *map(str, sources), "-lm"]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(
            "epivote: the loops could not be compiled; the compiler's message is above. Set EPIVOTE_CXX to another "
            "compiler, or EPIVOTE_PLATFORM=any to install without loops (array operations, slower)."
        )
