"""What is released: checks that notice what is wrong with a wheel, and wheels of all platforms that pass them."""

import base64
import hashlib
import shutil
import struct
import zipfile

import make_wheels
import pytest
from hatch_build import PLATFORMS
from make_wheels import LOOPS, problems

ELF, ARM_ELF = (b"\x7fELF\x02\x01" + bytes(12) + struct.pack("<H", machine) + bytes(44) for machine in (62, 183))
MACH, ARM_MACH = (b"\xcf\xfa\xed\xfe" + struct.pack("<I", machine) for machine in (0x01000007, 0x0100000C))
PE = b"MZ" + bytes(0x3A) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", 0x8664)
RIGHT = dict(zip(PLATFORMS, (ELF, ARM_ELF, ELF, MACH, ARM_MACH, PE), strict=True))
INFO = "epivote-0.1.0.dist-info"


def a_wheel(folder, name, libraries, tag=None, more=None, recorded=None):
    """A small wheel for a platform."""
    platform = PLATFORMS.get(name)
    right = f"py3-none-{platform.tag if platform else 'any'}"
    pure = str(platform is None).lower()
    files = {
        "epivote/__init__.py": b"",
        **{f"{LOOPS}/{file}": content for file, content in libraries.items()},
        f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag or right}\n".encode(),
        **(more or {}),
    }
    lines = [
        f"{file},sha256={digest(content)},{len(content)}" for file, content in {**files, **(recorded or {})}.items()
    ]
    path = folder / f"epivote-0.1.0-{right}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
        archive.writestr(f"{INFO}/RECORD", "\n".join([*lines, f"{INFO}/RECORD,,\n"]))
    return path


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def libraries_of(name, content=None):
    return dict.fromkeys(PLATFORMS[name].libraries, content or RIGHT[name])


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_wheel_that_is_as_it_should_be_passes(name, tmp_path):
    assert problems(a_wheel(tmp_path, name, libraries_of(name)), PLATFORMS[name]) == []


def test_a_wheel_without_loops_passes_as_one(tmp_path):
    assert problems(a_wheel(tmp_path, "any", {}), None) == []


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("other", PLATFORMS)
def test_libraries_of_another_platform_are_noticed(name, other, tmp_path):
    wrong = problems(a_wheel(tmp_path, name, libraries_of(name, RIGHT[other])), PLATFORMS[name])
    assert bool(wrong) == (RIGHT[name] != RIGHT[other])


LINUX = libraries_of("linux-x86_64")


@pytest.mark.parametrize(
    ("wheel", "expected"),
    [
        ({"libraries": {"loops_v2.so": ELF}}, f"it lacks {LOOPS}/loops_v3.so"),
        ({"libraries": {**LINUX, "loops.dylib": MACH}}, f"it contains {LOOPS}/loops.dylib"),
        ({"libraries": {**LINUX, "compiled.txt": b"0"}}, f"it contains {LOOPS}/compiled.txt"),
        ({"libraries": LINUX, "more": {"epivote/a.cpp": b""}}, "it contains epivote/a.cpp"),
        ({"libraries": LINUX, "more": {"epivote/.x": b""}}, "it contains epivote/.x"),
        ({"libraries": LINUX, "tag": "py3-none-linux_x86_64"}, "its tag is not py3-none-manylinux_2_17_x86_64"),
        ({"libraries": LINUX, "recorded": {"epivote/__init__.py": b"else"}}, "RECORD is not about these files"),
        ({"libraries": {**LINUX, "loops_v2.so": ELF + b"\0libgomp.so.1\0"}}, f"{LOOPS}/loops_v2.so needs libgomp.so.1"),
        ({"libraries": {**LINUX, "loops_v2.so": ELF + b"GLIBC_2.29"}}, f"{LOOPS}/loops_v2.so needs glibc 2.29"),
        ({"libraries": {**LINUX, "loops_v2.so": ELF + b"elsewhere/epivote-x"}}, f"{LOOPS}/loops_v2.so says where it was made"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_wheel_is_named(wheel, expected, tmp_path):
    assert expected in problems(a_wheel(tmp_path, "linux-x86_64", **wheel), PLATFORMS["linux-x86_64"])


def test_what_glibc_and_the_system_have_is_fine(tmp_path):
    libraries = {**LINUX, "loops_v2.so": ELF + b"GLIBC_2.17 GLIBC_2.2.5 libc.so.6\0libm.so.6"}
    assert problems(a_wheel(tmp_path, "linux-x86_64", libraries), PLATFORMS["linux-x86_64"]) == []


def test_a_wheel_with_loops_does_not_pass_as_one_for_all(tmp_path):
    wheel = a_wheel(tmp_path, "linux-x86_64", LINUX)
    with pytest.raises(SystemExit, match="is not as it should be: it contains .*; it says the wrong about being pure"):
        make_wheels.check_wheel(wheel, None)


@pytest.mark.slow
def test_wheels_of_all_platforms_are_made_twice_the_same(tmp_path, monkeypatch):
    """The second time by a compiler that has nothing left from the first."""
    pytest.importorskip("ziglang", reason="the compiler is missing: make wheels installs it")
    made = []
    for number in ("first", "second"):
        monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / f"cache-{number}"))
        root = shutil.copytree(
            make_wheels.ROOT, tmp_path / number, ignore=shutil.ignore_patterns(".venv", ".git", "build")
        )
        monkeypatch.setattr(make_wheels, "ROOT", root)
        make_wheels.main()
        made.append({path.name: path.read_bytes() for path in (root / "dist").iterdir()})
    assert len(made[0]) == len(PLATFORMS) + 2
    assert made[0] == made[1]
