"""What compiles the loops when a wheel is built or a checkout is installed: for which platform, and where they are put."""

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import hatch_build
import pytest
from hatch_build import PLATFORMS, LoopsHook, chosen_platform, update
from packaging.tags import mac_platforms

ROOT = Path(__file__).parent.parent.parent
LINUX, ARM = PLATFORMS["linux-x86_64"], PLATFORMS["linux-aarch64"]

# What packaging says of some machines; the order of Linux is that of its newest version.
KNOWN = {
    "Debian": (["linux_x86_64", "manylinux_2_36_x86_64", "manylinux_2_17_x86_64"], "linux-x86_64"),
    "Debian on ARM": (["linux_aarch64", "manylinux_2_36_aarch64", "manylinux_2_17_aarch64"], "linux-aarch64"),
    "Alpine": (["linux_x86_64", "musllinux_1_2_x86_64", "musllinux_1_1_x86_64"], "musllinux-x86_64"),
    "macOS 15": (list(mac_platforms((15, 0), "arm64")), "macosx-arm64"),
    "macOS 11, Intel": (list(mac_platforms((11, 0), "x86_64")), "macosx-x86_64"),
    "Windows": (["win_amd64"], "win-amd64"),
}
UNKNOWN = {
    "FreeBSD": ["freebsd_14_1_release_amd64"],
    "POWER": ["linux_ppc64le", "manylinux_2_36_ppc64le", "manylinux_2_17_ppc64le"],
    "32-bit Python": ["linux_i686", "manylinux_2_36_i686", "manylinux_2_17_i686"],
    "CentOS 6": ["linux_x86_64", "manylinux_2_12_x86_64"],
    "Alpine on ARM": ["linux_aarch64", "musllinux_1_2_aarch64"],
    "Windows on ARM": ["win_arm64"],
    "32-bit Windows": ["win32"],
    "macOS 10.15": list(mac_platforms((10, 15), "x86_64")),
}


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """No variable is set."""
    monkeypatch.delenv("EPIVOTE_CXX", raising=False)
    monkeypatch.delenv("EPIVOTE_PLATFORM", raising=False)


def running_on(tags, monkeypatch):
    monkeypatch.setattr(hatch_build, "platform_tags", lambda: iter(tags))


def a_hook(root):
    return LoopsHook(str(root), {}, None, None, str(root), "wheel")


def initialized(root, version="standard"):
    data = {"pure_python": True, "force_include": {}}
    hook = a_hook(root)
    hook.initialize(version, data)
    return hook, data


@pytest.mark.parametrize(("tags", "name"), KNOWN.values(), ids=KNOWN)
def test_the_platform_is_one_whose_wheels_pip_would_take_here(tags, name, monkeypatch):
    running_on(tags, monkeypatch)
    assert chosen_platform() == PLATFORMS[name]
    assert chosen_platform().tag in tags


@pytest.mark.parametrize("tags", UNKNOWN.values(), ids=UNKNOWN)
def test_other_platforms_install_without_loops_and_say_so_in_a_line(tags, tmp_path, monkeypatch, capfd):
    running_on(tags, monkeypatch)
    assert a_hook(tmp_path).dependencies() == []
    _, data = initialized(tmp_path)
    assert data == {"pure_python": True, "force_include": {}}
    expected = f"epivote: no loops can be compiled for {tags[0]}; array operations find the same sets without them, but take longer.\n"
    assert capfd.readouterr() == ("", expected)


def test_without_loops_on_request_nothing_is_said(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("EPIVOTE_PLATFORM", "any")
    _, data = initialized(tmp_path)
    assert data == {"pure_python": True, "force_include": {}}
    assert capfd.readouterr() == ("", "")


def test_a_platform_that_is_named_but_not_known_is_an_error_with_all_names(monkeypatch):
    monkeypatch.setenv("EPIVOTE_PLATFORM", "freebsd")
    with pytest.raises(SystemExit, match="'freebsd'; set EPIVOTE_PLATFORM to any .* linux-x86_64, .*, win-amd64[.]$"):
        chosen_platform()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A checkout with one source and a compiler that copies it behind the name of its instructions."""
    program = tmp_path / "compiler"
    program.write_text(
        "for each; do\n"
        "  case $each in -march=*) instructions=$each;; esac\n"
        "  [ x$before = x-o ] && made=$each || case $each in *.cpp|*.o) from=$each;; esac\n"
        "  before=$each\n"
        "done\n"
        "if grep -q mistake $from; then echo line 1 is wrong >&2; exit 1; fi\n"
        "(printf %s $instructions; cat $from) > $made\n"
    )
    monkeypatch.setenv("EPIVOTE_CXX", shlex.join(["sh", str(program)]))
    folder = tmp_path / hatch_build.SOURCES
    folder.mkdir(parents=True)
    (folder / "a.cpp").write_text("first")
    return folder


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.name not in ("a.cpp", "compiled.txt")}


def test_an_editable_install_has_libraries_beside_the_sources(sources, tmp_path, monkeypatch):
    running_on(KNOWN["Debian"][0], monkeypatch)
    _, data = initialized(tmp_path, "editable")
    assert data["force_include"] == {}
    expected = {f"loops_v{level}.so": f"-march=x86-64-v{level}first" for level in (2, 3, 4)}
    assert contents(sources) == expected
    modified = (sources / "loops_v2.so").stat().st_mtime_ns
    update(sources, LINUX)
    assert (sources / "loops_v2.so").stat().st_mtime_ns == modified  # nothing has changed


@pytest.mark.parametrize("change", ["source", "header", "library", "missing", "compiler", "platform"])
def test_libraries_are_compiled_again_if_anything_has_changed(change, sources, monkeypatch):
    update(sources, LINUX)
    assert hatch_build._is_current(sources, LINUX)
    chosen = ARM if change == "platform" else LINUX
    if change == "source":
        (sources / "a.cpp").write_text("second")
    elif change == "header":
        (sources / "b.hpp").write_text("new")
    elif change == "library":
        (sources / "loops_v3.so").write_text("from elsewhere")
    elif change == "missing":
        (sources / "loops_v4.so").unlink()
    elif change == "compiler":
        monkeypatch.setenv("EPIVOTE_CXX", os.environ["EPIVOTE_CXX"] + " -fast")
    assert not hatch_build._is_current(sources, chosen)
    update(sources, chosen)
    assert hatch_build._is_current(sources, chosen)
    assert {name for name in contents(sources) if name != "b.hpp"} == set(chosen.libraries)


def test_a_mistake_leaves_the_libraries_as_they_are_and_says_what_to_do(sources, capfd):
    update(sources, LINUX)
    before = contents(sources)
    (sources / "a.cpp").write_text("mistake")
    with pytest.raises(SystemExit, match="could not be compiled; .* Set EPIVOTE_CXX .*, or EPIVOTE_PLATFORM=any"):
        update(sources, LINUX)
    assert capfd.readouterr().err == "line 1 is wrong\n"
    assert contents(sources) == before
    assert not hatch_build._is_current(sources, LINUX)


def test_an_install_without_loops_removes_them(sources):
    update(sources, LINUX)
    update(sources, None)
    assert contents(sources) == {}


def test_a_wheel_is_made_without_touching_the_libraries_of_the_checkout(sources, tmp_path, monkeypatch):
    update(sources, LINUX)
    before = contents(sources)
    monkeypatch.setenv("EPIVOTE_PLATFORM", "win-amd64")
    hook, data = initialized(tmp_path)
    assert (data["pure_python"], data["tag"]) == (False, "py3-none-win_amd64")
    assert list(data["force_include"].values()) == [f"epivote/kernels/loops/loops_v{level}.dll" for level in (2, 3, 4)]
    made = [Path(path) for path in data["force_include"]]
    assert [path.read_text() for path in made] == [before[name] for name in sorted(before)]
    hook.finalize("standard", data, "")
    assert not any(path.parent.exists() for path in made)
    assert contents(sources) == before


def test_a_wheel_made_with_a_compiler_of_this_machine_is_for_machines_like_it(sources, tmp_path, monkeypatch):
    running_on(KNOWN["Debian"][0], monkeypatch)
    hook, data = initialized(tmp_path)
    assert data["tag"] == "py3-none-linux_x86_64"
    hook.finalize("standard", data, "")
    running_on(KNOWN["macOS 15"][0], monkeypatch)  # whatever Python says of itself, for example universal2
    hook, data = initialized(tmp_path)
    assert data["tag"] == "py3-none-macosx_15_0_arm64"
    hook.finalize("standard", data, "")


def test_the_compiler_is_asked_for_only_where_it_is_needed(sources, tmp_path, monkeypatch):
    running_on(KNOWN["Debian"][0], monkeypatch)
    assert a_hook(tmp_path).dependencies() == []
    monkeypatch.delenv("EPIVOTE_CXX")
    assert a_hook(tmp_path).dependencies() == [hatch_build.COMPILER]
    assert f'"{hatch_build.COMPILER}"' in (ROOT / "pyproject.toml").read_text()  # for benchmarks, and wheels


def test_what_the_compiler_keeps_is_removed_unless_it_has_a_place(sources, tmp_path, monkeypatch):
    program = tmp_path / "compiler"
    kept = 'mkdir -p "$ZIG_GLOBAL_CACHE_DIR"; touch "$ZIG_GLOBAL_CACHE_DIR/kept"\n'
    program.write_text(kept + program.read_text())
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    update(sources, LINUX)
    assert list(tmp_path.rglob("kept")) == []
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "place"))
    update(sources, ARM)
    assert list(tmp_path.rglob("kept")) == [tmp_path / "place" / "kept"]


def test_two_builds_at_once_leave_whole_libraries(sources):
    code = f"import hatch_build, pathlib; hatch_build.update(pathlib.Path({str(sources)!r}), hatch_build.PLATFORMS['linux-x86_64'])"
    built = partial(subprocess.run, cwd=ROOT, timeout=60, check=True)
    with ThreadPoolExecutor() as pool:
        list(pool.map(built, [[sys.executable, "-c", code]] * 3))
    assert hatch_build._is_current(sources, LINUX)
    assert set(contents(sources)) == set(LINUX.libraries)
