"""What the commands about files print."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from epivote.cli.console import left_out, print_json, table, terminal
from epivote.data.bounds import SizeBounds
from epivote.data.names import counted
from epivote.data.numbers import percent
from epivote.estimate.reproducibility import Reproducibility
from epivote.evaluate.inspection import Inspection, Spread
from epivote.formats.export import Export
from epivote.simulation import Simulation

MOST_ALTERNATIVES = 20  # rows; a round number


class Halves(NamedTuple):
    """What two halves of the voters said under these bounds; None if there were too few ballots to say."""

    bounds: SizeBounds
    check: Reproducibility | None

    def __str__(self) -> str:
        """A sentence or two."""
        if self.check is None:
            return "There are too few ballots to check whether two halves of the voters agree."
        return f"With size bounds {self.bounds}: {self.check}"


def inspection(export: Export, found: Inspection, source: Path, halves: Halves | None, *, as_json: bool) -> None:
    """What is in a file, how it was understood, and what looks odd."""
    ballots = export.ballots
    if as_json:
        counts = {"voters": ballots.total_voters, "different_voters": ballots.n_voters}
        counts |= {"instances": ballots.n_instances, "alternatives": ballots.n_alternatives}
        counts |= {"ballots": ballots.total_ballots, "approvals": ballots.total_approvals}
        gold = None if export.gold is None else len(export.gold)
        told = {"format": export.format, **counts, "coverage": ballots.coverage, "gold": gold}
        check = None if halves is None or halves.check is None else asdict(halves.check)
        print_json({**told, "remarks": list(export.notes), **asdict(found), "reproducibility": check})
        return
    console = terminal()
    say = partial(console.print, markup=False)
    say(f"{source}: detected format {export.format} (override with --format).")
    say(f"Found {ballots.in_words()}.")
    if export.gold is not None:
        say(f"Found gold sets for {counted(len(export.gold), 'instance')}.")
    for note in export.notes:
        say(f"Note: {note}.")
    say()
    sizes = table("Approvals per ballot")
    sizes.add_column("approvals", justify="right")
    sizes.add_column("ballots", justify="right")
    sizes.add_column("")
    for size, count in found.sizes.items():
        sizes.add_row(str(size), f"{count:,}", "█" * round(30 * count / max(found.sizes.values())))
    console.print(sizes)
    suggested = found.suggested_size
    say(
        f"Suggested: --size {suggested.bounds}, because {suggested.reason}. Ballots contain mistakes, so check it "
        "against what the task allows."
    )
    say(f"Per instance {_spread(found.per_instance)} ballots, per voter {_spread(found.per_voter)}.")
    say()
    ticked = table("Alternatives", caption=left_out(len(found.ticked), MOST_ALTERNATIVES))
    ticked.add_column("alternative", overflow="fold")
    ticked.add_column("ticked", justify="right")
    ticked.add_column("agreement", justify="right")
    for name, share in sorted(found.ticked.items(), key=lambda item: -item[1])[:MOST_ALTERNATIVES]:
        alpha = found.agreement.alternatives[name]
        ticked.add_row(Text(name), percent(share), "" if alpha is None else f"{alpha:.2f}")
    console.print(ticked)
    say(found.agreement.in_words())
    if halves is not None:
        say(str(halves))
    for odd in found.odd:
        say(f"Odd: {odd}.")
    if not found.odd:
        say("Nothing looks odd.")
    say("Next, find the sets (--size says how many alternatives a true set may have):")
    say(f"  epivote aggregate {shlex.quote(str(source))} --size {suggested.bounds} --out result", soft_wrap=True)


def conversion(export: Export, source: Path, files: Sequence[Path], lost: Sequence[str], *, as_json: bool) -> None:
    """What was written, and what the new format could not hold."""
    if as_json:
        told = {"format": export.format, "remarks": list(export.notes), "lost": list(lost)}
        print_json({**told, "files": [str(file) for file in files]})
        return
    say = partial(terminal().print, markup=False)
    say(f"{source} (format {export.format}): {export.ballots.in_words()}.")
    for note in [*export.notes, *lost]:
        say(f"Note: {note}.")
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    say(f"Wrote {files[0]}{more}.")


def simulation(found: Simulation, files: Sequence[Path], size: str, *, as_json: bool) -> None:
    """What was drawn, and how to try it."""
    if as_json:
        print_json({"ballots": found.ballots.n_ballots, "files": [str(file) for file in files]})
        return
    say = partial(terminal().print, markup=False)
    ballots, gold, _ = files
    say(f"Simulated {found.ballots.in_words()}.")
    say(f"Wrote {', '.join(file.name for file in files)} to {ballots.parent}.")
    say(f"Next: epivote aggregate {ballots} --size {size} --gold {gold}")


def _spread(counts: Spread) -> str:
    if counts.least == counts.most:
        return f"{counts.least:,}"
    return f"{counts.least:,}-{counts.most:,} (median {counts.median:,.0f})"
