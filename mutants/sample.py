"""Which defects to try: random lines by seed, in proportion to each package's code, but some in every package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mutants.defects import Defect, defects_in
from mutants.loops import loop_defects

SOURCE = Path("src/epivote")
LEFT_OUT = ("src/epivote/kernels/loops/processor.cpp",)  # no test can have processors other than the one it runs on
LEAST = 12  # defects per package, so that 90 % of a small package means something; a round number


def is_loop(file: str) -> bool:
    """Whether a file is C++."""
    return file.endswith("pp")


def package_of(file: str) -> str:
    """The folder below `src/epivote`, or the module itself; `loops` for those in C++."""
    return "loops" if is_loop(file) else Path(file).relative_to(SOURCE).parts[0].removesuffix(".py")


def source_files(root: Path) -> list[str]:
    """All files of the package in Python and C++."""
    paths = (path for path in (root / SOURCE).rglob("*.*") if path.suffix in (".py", ".cpp", ".hpp"))
    return sorted(path.relative_to(root).as_posix() for path in paths)


def all_defects(root: Path, packages: Sequence[str] = ()) -> dict[str, list[Defect]]:
    """Every defect by package; of these packages only, if any are named."""
    found: dict[str, list[Defect]] = {}
    for file in source_files(root):
        package, find = package_of(file), loop_defects if is_loop(file) else defects_in
        if file not in LEFT_OUT and (not packages or package in packages):
            found.setdefault(package, []).extend(find(file, (root / file).read_text(encoding="utf-8")))
    return {package: defects for package, defects in found.items() if defects}


def chosen(defects: dict[str, list[Defect]], count: int, seed: int) -> list[Defect]:
    """About `count` defects: lines are drawn first, so that a line with many operators is not tried more often.

    They come in random order, the least of every package first, so that those that were tried are a fair sample
    wherever the trials end.
    """
    random = np.random.default_rng(seed)
    lines = {package: len({(each.file, each.line) for each in found}) for package, found in defects.items()}
    total = sum(lines.values())
    least = min(LEAST, count // len(defects))
    first, then = list[Defect](), list[Defect]()
    for package in sorted(defects):
        wanted = max(least, round(count * lines[package] / total))
        picked = _by_line(defects[package], wanted, random)
        first += picked[:least]
        then += picked[least:]
    return [part[place] for part in (first, then) for place in random.permutation(len(part))]


def _by_line(defects: Sequence[Defect], wanted: int, random: np.random.Generator) -> list[Defect]:
    by_line: dict[tuple[str, int], list[Defect]] = {}
    for defect in defects:
        by_line.setdefault((defect.file, defect.line), []).append(defect)
    places = list(by_line)
    order = random.permutation(len(places))[:wanted]
    return [by_line[places[place]][random.integers(len(by_line[places[place]]))] for place in order]
