"""Compiles the loops of `epivote.kernels` when a wheel is built or a checkout is installed.

The compiler is the one of the package `ziglang`, which the build installs for itself, so that the loops are the same
everywhere, no compiler has to be there, and one machine makes the wheels of all platforms (`make wheels`). Two
variables of the environment change that: `EPIVOTE_CXX` names another compiler that takes the options of clang, and
`EPIVOTE_PLATFORM` a platform of `PLATFORMS` other than this one. With `any`, and on a platform that is not in
`PLATFORMS`, nothing is compiled, and array operations do the work of the loops.

Loops of a wheel are compiled in a temporary folder. Those of a checkout that is installed as editable are in the folder
of their sources, where they replace the ones before only when all of them are complete.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

SOURCES = Path("src", "epivote", "kernels", "loops")
COMPILER = "ziglang==0.17.*"  # another one may give other bytes, or fail
STAMP = "compiled.txt"  # beside the libraries of a checkout
OPTIONS = (
    *("-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-g0"),
    *("-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fno-trapping-math"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-psabi"),  # functions with vectors are all inlined or private
)
# Only what is part of Windows 10, and nothing to be run when a library is loaded: else the compiler would first compile
# what its C library does then, for more than a minute.
WINDOWS_LINKED = ("-nostdlib", "-rtlib=compiler-rt", "-Wl,--no-entry", "-lucrtbase")


class Platform(NamedTuple):
    """What wheels are made for: the compiler's name of it, the one in the name of a wheel, and the library's ending.

    `linked` are options for what a library needs besides the loops.
    """

    target: str
    tag: str
    ending: str
    linked: tuple[str, ...] = ("-lm",)

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels of instructions that loops are compiled for; the first is there on every processor."""
        return ("x86_64_v2", "x86_64_v3", "x86_64_v4") if self.target.startswith("x86_64") else ("",)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Names of the files, one for every level."""
        return tuple(f"loops{level.removeprefix('x86_64')}.{self.ending}" for level in self.levels)


PLATFORMS = {
    "linux-x86_64": Platform("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", "so"),
    "linux-aarch64": Platform("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", "so"),
    "musllinux-x86_64": Platform("x86_64-linux-musl", "musllinux_1_2_x86_64", "so"),
    "macosx-x86_64": Platform("x86_64-macos.11.0", "macosx_11_0_x86_64", "dylib"),
    "macosx-arm64": Platform("aarch64-macos.11.0", "macosx_11_0_arm64", "dylib"),
    "win-amd64": Platform("x86_64-windows-gnu", "win_amd64", "dll", WINDOWS_LINKED),
}


class LoopsHook(BuildHookInterface[Any]):
    """Compiles the loops unless those of the checkout are up to date, and adds them to the wheel."""

    _temporary: TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """The compiler, unless there is another one or nothing to compile."""
        chosen = chosen_platform()
        return [COMPILER] if chosen and not _own_compiler() and not _is_current(self._sources, chosen) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files of the wheel are collected."""
        chosen = chosen_platform()
        if chosen is None and not _named_platform():
            print(
                f"epivote: no loops can be compiled for {_tag_here()}; array operations find the same sets without "
                "them, but take longer.",
                file=sys.stderr,
            )
        if version == "editable":
            update(self._sources, chosen)
        if chosen is None:
            return
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{_tag(chosen)}"
        if version != "editable":
            folder = self._sources
            if not _is_current(folder, chosen):
                self._temporary = TemporaryDirectory(prefix="epivote-")
                folder = Path(self._temporary.name)
                _compile(self._sources, folder, chosen)
            for name in chosen.libraries:
                build_data["force_include"][str(folder / name)] = f"epivote/kernels/loops/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Once the wheel is written."""
        if self._temporary is not None:
            self._temporary.cleanup()

    @property
    def _sources(self) -> Path:
        return Path(self.root) / SOURCES


def chosen_platform() -> Platform | None:
    """The platform to compile for; None if the wheel is to have no loops."""
    named = _named_platform()
    if not named:
        tags = set(platform_tags())
        return next((each for each in PLATFORMS.values() if each.tag in tags), None)
    if named != "any" and named not in PLATFORMS:
        raise SystemExit(
            f"epivote: no loops can be compiled for {named!r}; set EPIVOTE_PLATFORM to any (array operations, slower) "
            f"or to one of {', '.join(PLATFORMS)}."
        )
    return PLATFORMS.get(named)


def update(folder: Path, chosen: Platform | None) -> None:
    """Put libraries for this platform, and no others, beside their sources.

    They are compiled elsewhere and then moved, so that no process ever loads half a library, which would end it, and
    one that has loaded a library before keeps it.
    """
    if chosen is not None and _is_current(folder, chosen):
        return
    stale = [path for path in folder.iterdir() if path.suffix in (".so", ".dylib", ".dll")]
    (folder / STAMP).unlink(missing_ok=True)
    with TemporaryDirectory(prefix=".compiling-", dir=folder) as temporary:
        made = Path(temporary)
        if chosen is not None:
            _compile(folder, made, chosen)
            (made / STAMP).write_text(_stamp(folder, made, chosen))
            for name in (*chosen.libraries, STAMP):
                (made / name).replace(folder / name)
    for path in stale:
        if chosen is None or path.name not in chosen.libraries:
            path.unlink(missing_ok=True)


def _own_compiler() -> list[str]:
    """The compiler that was named, if one was."""
    return shlex.split(os.environ.get("EPIVOTE_CXX", ""))


def _named_platform() -> str:
    return os.environ.get("EPIVOTE_PLATFORM", "")


def _tag_here() -> str:
    """How this platform is called without saying which versions of its C library would do."""
    return next(tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux")))


def _tag(chosen: Platform) -> str:
    """Which machines a wheel is for; those like this one if a compiler was named, since it may need what is here."""
    return _tag_here() if _own_compiler() and not _named_platform() else chosen.tag


def _stamp(sources: Path, libraries: Path, chosen: Platform) -> str:
    """What libraries are made of, and their bytes."""
    paths = [*sorted(sources.glob("*.?pp")), Path(__file__), *(libraries / name for name in chosen.libraries)]
    return hashlib.sha256(repr((chosen, _own_compiler(), [path.read_bytes() for path in paths])).encode()).hexdigest()


def _is_current(folder: Path, chosen: Platform) -> bool:
    """Whether the libraries beside the sources are those that would be compiled now."""
    if not all((folder / name).exists() for name in (*chosen.libraries, STAMP)):
        return False
    return (folder / STAMP).read_text() == _stamp(folder, folder, chosen)


def _compile(sources: Path, folder: Path, chosen: Platform) -> None:
    """One library for every level of instructions."""
    for level, name in zip(chosen.levels, chosen.libraries, strict=True):
        compile_library(sorted(sources.glob("*.cpp")), folder / name, chosen, level)


def compile_library(sources: list[Path], library: Path, chosen: Platform, level: str) -> None:
    """Compile these sources for one level of instructions."""
    own = _own_compiler()
    compiler = own or [sys.executable, "-m", "ziglang", "cc", "-target", chosen.target]
    instructions = [f"-march={level.replace('_', '-') if own else level}"] if level else []
    with TemporaryDirectory(prefix="objects-", dir=library.parent) as folder:
        objects = [str(Path(Path(folder).name, source.name).with_suffix(".o")) for source in sources]
        for source, compiled in zip(sources, objects, strict=True):
            _run([*compiler, *OPTIONS, *instructions, "-c", "-o", compiled, str(source.absolute())], library.parent)
        linked = ("-lm",) if own else chosen.linked
        _run([*compiler, "-O3", "-shared", "-s", "-o", library.name, *objects, *linked], library.parent)


def _run(command: list[str], folder: Path) -> None:
    """In the folder of a library, whose place is not named then: it would become part of the library on macOS.

    What the compiler keeps for the next time, 46 MB, is kept there as well: an installation leaves nothing behind.
    """
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "cache"), **os.environ}
    if subprocess.run(command, cwd=folder, env=environment, check=False).returncode:
        raise SystemExit(
            "epivote: the loops could not be compiled; the compiler's message is above. Set EPIVOTE_CXX to another "
            "compiler, or EPIVOTE_PLATFORM=any to install without loops (array operations, slower)."
        )
