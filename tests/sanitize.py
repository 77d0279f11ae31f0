"""Runs the tests of the compiled loops with sanitizers, which end a test that reads or writes beyond an array, or does
what C++ leaves undefined: `make sanitize`. Needs g++ on Linux; arguments are those of pytest.

The loops are compiled for this processor only, in a copy of the sources in `build/sanitized`. Of a test that ended its
process, `python tests/sanitize.py -n 0 -s TEST` shows what was found.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import hatch_build

from epivote.kernels.library import loops

ROOT = Path(__file__).parent.parent
COPY = ROOT / "build" / "sanitized"
COMPILER = "g++ -fsanitize=address,undefined -fno-sanitize-recover=all"
TESTS = ("tests/kernels", "tests/formats/test_plain_text.py")
OTHER_CHECKS = (
    "tests/kernels/test_memory.py"  # asks the C library to check memory, which cannot be done at the same time
)
MINUTES = 1200  # seconds, for arguments that name many tests
IGNORED = ("*.so", hatch_build.STAMP, "__pycache__")


def main() -> int:
    """The exit code of the tests."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT / "src", COPY / "src", ignore=shutil.ignore_patterns(*IGNORED))
    folder = COPY / hatch_build.SOURCES
    chosen = hatch_build.chosen_platform()
    if chosen is None or chosen.ending != "so":
        raise SystemExit("epivote: sanitizers are loaded in a way that only Linux has")
    os.environ["EPIVOTE_CXX"] = COMPILER
    level = f"x86_64_v{loops().processor_level()}" if len(chosen.levels) > 1 else ""
    made = folder / chosen.libraries[chosen.levels.index(level)]
    hatch_build.compile_library(sorted(folder.glob("*.cpp")), made, chosen, level)
    for name in chosen.libraries:
        if not (folder / name).exists():
            shutil.copy(made, folder / name)
    asked = ["g++", "-print-file-name=libasan.so"]
    sanitizer = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=MINUTES).stdout.strip()
    environment = {
        **os.environ,
        "LD_PRELOAD": sanitizer,
        # Python itself leaves memory to the system at its end; a test asks for more memory than there is.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONPATH": str(COPY / "src"),
    }
    options = ("-q", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider", f"--ignore={OTHER_CHECKS}")
    command = [sys.executable, "-m", "pytest", *options, *(sys.argv[1:] or TESTS)]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, timeout=MINUTES).returncode


if __name__ == "__main__":
    sys.exit(main())
