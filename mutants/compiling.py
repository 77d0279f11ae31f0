"""`python -m mutants.compiling LIBRARY...`: compile the loops of the present folder's project into these libraries."""

from __future__ import annotations

import sys
from pathlib import Path

from hatch_build import SOURCES, chosen_platform, compile_library


def main() -> None:
    """For the instructions that a library is named after: `loops_v3.so`."""
    chosen = chosen_platform()
    assert chosen is not None
    for name in sys.argv[1:]:
        level = Path(name).stem.removeprefix("loops")
        compile_library(sorted(SOURCES.glob("*.cpp")), SOURCES / name, chosen, f"x86_64{level}" if level else "")


if __name__ == "__main__":
    main()
