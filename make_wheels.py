"""Makes what is released and checks it: `python make_wheels.py` fills the folder `dist` (`make wheels`).

There is a source distribution, a wheel for every platform of `hatch_build.PLATFORMS`, all made on this machine, and one
without loops for the others. Wheels are made from the source distribution, unpacked elsewhere, so that it is known to
be complete, and nothing of this checkout is changed or gets into a wheel.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from hatch_build import PLATFORMS, Platform

ROOT = Path(__file__).parent
LOOPS = "epivote/kernels/loops"
UNWANTED = (".cpp", ".hpp", ".o", ".lib", ".pdb", ".pyc")
SYSTEM_LIBRARIES = {b"libc.so.6", b"libm.so.6", b"libc.so"}  # that libraries for Linux may need
NEWEST_GLIBC = 2, 17  # that they may ask for: the one in the tags of their wheels


def main() -> None:
    """Make everything; nothing is put into `dist` unless all of it is as it should be."""
    with TemporaryDirectory(prefix="epivote-wheels-") as temporary:
        made = Path(temporary, "dist")
        source = built(ROOT, "sdist", made)
        with tarfile.open(source) as archive:
            archive.extractall(temporary, filter="data")
        unpacked = Path(temporary, source.name.removesuffix(".tar.gz"))
        for name in (*PLATFORMS, "any"):
            wheel = built(unpacked, "wheel", made, name)
            check_wheel(wheel, PLATFORMS.get(name))
            print(f"{wheel.stat().st_size:>9,} bytes  {wheel.name}", flush=True)
        print(f"{source.stat().st_size:>9,} bytes  {source.name}")
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(made, ROOT / "dist")


def built(project: Path, kind: str, folder: Path, platform: str = "any") -> Path:
    """The file of this kind that is made from a project."""
    environment = {name: value for name, value in os.environ.items() if name != "EPIVOTE_CXX"}
    before = set(folder.iterdir()) if folder.exists() else set()
    ended = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)],
        cwd=project, env={**environment, "EPIVOTE_PLATFORM": platform}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)
    (made,) = set(folder.iterdir()) - before
    return made


def check_wheel(path: Path, platform: Platform | None) -> None:
    """Exit with what is wrong with a wheel, which has the loops of a platform or none."""
    wrong = problems(path, platform)
    if wrong:
        raise SystemExit(f"epivote: {path.name} is not as it should be: {'; '.join(wrong)}")


def problems(path: Path, platform: Platform | None) -> list[str]:
    """What is wrong with a wheel."""
    with ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (described,) = (name for name in files if name.endswith(".dist-info/WHEEL"))
    tag = f"py3-none-{platform.tag if platform else 'any'}"
    expected = {f"{LOOPS}/{name}" for name in platform.libraries} if platform else set()
    found = {name for name in files if name.startswith(f"{LOOPS}/")}
    unwanted = [name for name in files if name.endswith(UNWANTED) or PurePosixPath(name).name.startswith(".")]
    wrong = [f"it contains {name}" for name in sorted({*unwanted, *(found - expected)})]
    wrong += [f"it lacks {name}" for name in sorted(expected - found)]
    if not path.name.endswith(f"-{tag}.whl") or files[described].decode().count(f"\nTag: {tag}\n") != 1:
        wrong.append(f"its tag is not {tag}")
    if (b"Root-Is-Purelib: true" in files[described]) != (platform is None):
        wrong.append("it says the wrong about being pure Python")
    if _recorded(files[described.replace("WHEEL", "RECORD")]) != _digests(files):
        wrong.append("RECORD is not about these files")
    for name in sorted(found & expected):
        assert platform is not None
        wrong += [f"{name} {each}" for each in library_problems(files[name], platform)]
    return wrong


def library_problems(library: bytes, platform: Platform) -> list[str]:
    """What is wrong with a library."""
    wrong = []
    wanted = platform.ending, platform.target.partition("-")[0]
    if kind_of(library) != wanted:
        wrong.append(f"is for {kind_of(library)} instead of {wanted}")
    if any(place.encode() in library for place in (str(Path.home()), "epivote-", str(ROOT))):
        wrong.append("says where it was made")
    if platform.ending == "so":
        needed = set(re.findall(rb"lib\w+\.so[.\d]*", library)) - SYSTEM_LIBRARIES
        wrong += [f"needs {name.decode()}" for name in sorted(needed)]
        versions = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)}
        wrong += [f"needs glibc {major}.{minor}" for major, minor in sorted(versions) if (major, minor) > NEWEST_GLIBC]
    return wrong


def kind_of(library: bytes) -> tuple[str, str]:
    """The ending of files of this format, and the processor, from the first bytes of a library."""
    if library[:6] == b"\x7fELF\x02\x01":
        machine = struct.unpack_from("<H", library, 18)[0]
        return "so", {62: "x86_64", 183: "aarch64"}.get(machine, f"machine {machine}")
    if library[:4] == b"\xcf\xfa\xed\xfe":
        machine = struct.unpack_from("<I", library, 4)[0]
        return "dylib", {0x01000007: "x86_64", 0x0100000C: "aarch64"}.get(machine, f"machine {machine}")
    if library[:2] == b"MZ":
        header = struct.unpack_from("<I", library, 0x3C)[0]
        machine = struct.unpack_from("<H", library, header + 4)[0]
        return "dll", {0x8664: "x86_64", 0xAA64: "aarch64"}.get(machine, f"machine {machine}")
    return "unknown", "unknown"


def _recorded(record: bytes) -> dict[str, tuple[str, str]]:
    rows = csv.reader(io.StringIO(record.decode()))
    return {name: (digest, size) for name, digest, size in rows if not name.endswith("/RECORD")}


def _digests(files: dict[str, bytes]) -> dict[str, tuple[str, str]]:
    """How RECORD names the contents of all files but itself."""
    return {
        name: (f"sha256={_short(hashlib.sha256(content).digest())}", str(len(content)))
        for name, content in files.items()
        if not name.endswith("/RECORD")
    }


def _short(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
