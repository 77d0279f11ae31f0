"""Every table, figure and example of the paper, and what lies beyond it, from one command. Run by `make reproduce`.

Numbers, pictures and text go to experiments/out/; a whole run also writes docs/explanation/reproduction.md and its
pictures.
Finished pieces are kept: an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.beyond import crowds, promises, quiz_rules, real_ballots
from experiments.page.front import page, publish, write_section
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.paper import accuracy, complexity, examples, initialisations, participants, proposition2, table1
from experiments.pieces import Piece, seconds_spent, work_through
from experiments.quiz import require_quiz

PARTS: dict[str, tuple[Section, ...]] = {
    "paper": (
        table1.SECTION,
        accuracy.SECTION,
        initialisations.SECTION,
        complexity.SECTION,
        participants.SECTION,
        examples.SECTION,
        proposition2.SECTION,
    ),
    "beyond": (quiz_rules.SECTION, real_ballots.SECTION, crowds.SECTION, promises.SECTION),
}
SECTIONS = {section.name: section for part in PARTS.values() for section in part}
OUT = Path(__file__).parent / "out"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, work through the pieces, write what they show."""
    options = _options().parse_args(arguments)
    if options.data:
        os.environ["EPIVOTE_DATA"] = options.data
    require_quiz()
    wanted = set(options.only) | {section.name for part in options.only for section in PARTS.get(part, ())}
    written: dict[str, dict[str, Sheet]] = {}
    for part, sections in PARTS.items():
        chosen = [section for section in sections if not wanted or section.name in wanted]
        if chosen:
            begun = time.perf_counter()
            written[part] = reproduce(chosen, Extent(), options.out, options.workers, part)
            print(f"{part}: {', '.join(written[part])} in {time.perf_counter() - begun:.0f} s")
    print(f"Wrote {options.out}.")
    if not wanted:
        spent = {part: seconds_spent(_pieces(PARTS[part], Extent()), options.out / "pieces") for part in PARTS}
        publish(page(written, spent), options.out)
        print("Wrote docs/explanation/reproduction.md and its pictures.")


def reproduce(sections: Sequence[Section], extent: Extent, out: Path, workers: int, what: str) -> dict[str, Sheet]:
    """Measure what these sections need, then write each: NAME.md, pictures and numbers in `out`."""
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "pieces"
    results = work_through([each for section in sections for each in section.pieces(extent)], kept, workers, what)
    clocked = [each for section in sections for each in section.timed(extent)]
    results |= work_through(clocked, kept, 1, f"{what}, timed alone")
    sheets = {}
    for section in sections:
        sheet = Sheet(out)
        section.write(results, extent, sheet)
        write_section(sheet, out / f"{section.name}.md")
        sheets[section.name] = sheet
    return sheets


def _pieces(sections: Sequence[Section], extent: Extent) -> list[Piece]:
    return [each for section in sections for each in (*section.pieces(extent), *section.timed(extent))]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m experiments.reproduce", description=__doc__)
    options.add_argument("--data", help="the quiz's file, or a folder that holds it (else EPIVOTE_DATA)")
    options.add_argument(
        "--only",
        nargs="+",
        default=[],
        choices=[*PARTS, *SECTIONS],
        metavar="NAME",
        help=f"some of it, without touching docs/: {', '.join([*PARTS, *SECTIONS])}",
    )
    options.add_argument("--out", type=Path, default=OUT, help="where everything goes (default: experiments/out)")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    return options


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Interrupted. What was finished is kept; the same command goes on from there.") from None
