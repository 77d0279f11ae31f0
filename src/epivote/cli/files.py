"""The commands about files of ballots: look at one, change its format, make one up."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import numpy as np
import typer

from epivote.cli import show_files as show
from epivote.cli.console import one_sentence_per_error, working
from epivote.cli.options import AsJson, BallotFile, Size, read_file, with_options
from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import SizeBounds
from epivote.data.names import listing
from epivote.data.parameters import RateLike
from epivote.errors import InputError
from epivote.estimate.em import EM
from epivote.estimate.reproducibility import reproducibility
from epivote.evaluate.inspection import inspect_ballots
from epivote.formats.export import Export
from epivote.formats.reading import Reading
from epivote.formats.source import STANDARD_INPUT
from epivote.formats.write import Output, output_of, write_ballots, write_menu, write_rates, write_truths
from epivote.simulation import FEW_FALSE_ALARMS, GOOD_HITS, Beta, reference_crowd
from epivote.simulation import simulate as draw

CROWDS = {"S": (2_000, 100, 10, 3), "M": (50_000, 1_000, 20, 4), "XL": (1_000_000, 10_000, 50, 5)}


@with_options
def inspect(
    ballots: BallotFile,
    reading: Reading,
    size: Annotated[
        str | None,
        typer.Option(help="Size bounds, as in aggregate: also check how far two halves of the voters agree."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is in a file of ballots, and what looks odd.

    Example: epivote inspect ballots.csv

    Example: epivote inspect export.json --size 1..2
    """
    with one_sentence_per_error():
        bounds = None if size is None else SizeBounds.parse(size)
        with working(f"Reading {ballots}") as status:
            export = read_file(ballots, reading)
            found = inspect_ballots(export.ballots)
            check = None
            if bounds is not None:
                check = reproducibility(EM(bounds), export.ballots, progress=status.say)
        halves = None if bounds is None else show.Halves(bounds, check)
        show.inspection(export, found, ballots, halves, as_json=as_json)


@with_options
def convert(
    source: Annotated[Path, typer.Argument(help="The file to read, in any known format; - reads standard input.")],
    target: Annotated[
        Path, typer.Argument(help="The file to write: .csv, .tsv, .parquet, .jsonl, .abc.yaml, .cat; - prints CSV.")
    ],
    reading: Reading,
    to: Annotated[Output | None, typer.Option(help="Format to write, if the file name does not tell.")] = None,
    gold_out: Annotated[Path | None, typer.Option(help="Also write the gold sets of the file to this CSV.")] = None,
    menu_out: Annotated[
        Path | None, typer.Option(help="Also write the menus (what was offered on each instance) to this CSV.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert a file of ballots from one format to another.

    Example: epivote convert export.json ballots.csv

    Example: epivote convert form.csv ballots.parquet --voter Email
    """
    with one_sentence_per_error():
        with working(f"Reading {source}"):
            export = read_file(source, reading)
        if gold_out is not None and export.gold is None:
            raise InputError(f"{source} has no gold sets; leave out --gold-out")
        files: list[Path] = []
        if str(target) == STANDARD_INPUT:
            _print(export.ballots, to)
        else:
            files += write_ballots(export.ballots, target, format=to)
        if gold_out is not None and export.gold is not None:
            write_truths(export.gold, gold_out)
            files.append(gold_out)
        if menu_out is not None:
            write_menu(export.ballots, menu_out)
            files.append(menu_out)
        lost = _lost(export, output_of(target, to), gold_out, menu_out)
        if str(target) == STANDARD_INPUT:
            print("".join(f"Note: {note}.\n" for note in lost), file=sys.stderr, end="")
        else:
            show.conversion(export, source, files, lost, as_json=as_json)


def _print(ballots: AnyBallots, to: Output | None) -> None:
    """Ballots on standard output, as CSV unless `to` names another format."""
    ending = {"abcvoting": ".abc.yaml", "preflib": ".cat"}.get(str(to), ".csv")
    with TemporaryDirectory(prefix="epivote-") as folder:
        (file,) = write_ballots(ballots, Path(folder) / f"ballots{ending}", format=to)
        with file.open("rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)


def _lost(export: Export, to: Output, gold_out: Path | None, menu_out: Path | None) -> list[str]:
    """What the new file cannot hold."""
    ballots = export.ballots
    ticked = np.zeros(ballots.n_alternatives, bool)
    for part in ballots.parts():
        ticked[part.approved] = True
    never = [name for name, is_ticked in zip(ballots.alternatives, ticked, strict=True) if not is_ticked]
    one_each = to in ("abcvoting", "preflib")
    return [
        note
        for is_lost, note in (
            (
                export.gold is not None and gold_out is None,
                "gold sets are not in the new file; write them with --gold-out FILE",
            ),
            (
                ballots.has_menus and not (menu_out or one_each),
                "menus are not in the new file; write them with --menu-out FILE",
            ),
            (
                bool(never) and not ballots.has_menus and not one_each,
                f"alternatives that nobody ticked are not in the new file ({listing(never, 3)}); name all with "
                "--alternatives when you read it",
            ),
            (to == "preflib", "PrefLib files do not say who voted, so voters cannot be recognised across instances"),
        )
        if is_lost
    ]


def simulate(
    out: Annotated[Path, typer.Option(help="Folder for ballots.csv, gold.csv and voters.csv; - prints the ballots.")],
    size: Size = "1..2",
    instances: Annotated[int, typer.Option(help="Number of instances.")] = 100,
    voters: Annotated[int, typer.Option(help="Number of voters.")] = 20,
    alternatives: Annotated[int, typer.Option(help="Number of alternatives.")] = 5,
    ballots_each: Annotated[
        int | None, typer.Option(help="Ballots per instance; if not given, every voter votes on every instance.")
    ] = None,
    hit_rate: Annotated[
        float | None,
        typer.Option(help="Probability that a voter ticks a right alternative; if not given, it differs by voter."),
    ] = None,
    false_alarm_rate: Annotated[
        float | None,
        typer.Option(help="Probability that a voter ticks a wrong alternative; if not given, it differs by voter."),
    ] = None,
    spammers: Annotated[float, typer.Option(help="Share of voters who tick at random.")] = 0.0,
    crowd: Annotated[
        Literal["S", "M", "XL"] | None,
        typer.Option(help="A reference crowd of fixed size, instead of the options above."),
    ] = None,
    copies: Annotated[float, typer.Option(help="Share of voters who repeat the ballots of another voter.")] = 0.0,
    shared_mistakes: Annotated[
        float, typer.Option(help="How strongly voters make the same mistakes: 0 (independently) to 1.")
    ] = 0.0,
    difficulty: Annotated[
        float, typer.Option(help="How much instances differ in difficulty: 0 (not at all), 0.5 (clearly), 1 (a lot).")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed; the same seed gives the same ballots.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Simulate ballots with known true sets, to try things out.

    Example: epivote simulate --out crowd

    Example: epivote simulate --voters 30 --spammers 0.2 --out crowd
    """
    with one_sentence_per_error():
        with working("Drawing ballots"):
            if crowd is not None:
                found = reference_crowd(
                    *CROWDS[crowd], seed, copies=copies, shared_mistakes=shared_mistakes, difficulty=difficulty
                )
            else:
                found = draw(
                    instances=instances,
                    voters=voters,
                    alternatives=alternatives,
                    bounds=size,
                    hit_rates=_rate(hit_rate, GOOD_HITS),
                    false_alarm_rates=_rate(false_alarm_rate, FEW_FALSE_ALARMS),
                    ballots_per_instance=ballots_each,
                    spammers=spammers,
                    copies=copies,
                    shared_mistakes=shared_mistakes,
                    difficulty=difficulty,
                    seed=seed,
                )
        if str(out) == STANDARD_INPUT:
            _print(found.ballots, None)
            return
        files = write_ballots(found.ballots, out / "ballots.csv")
        write_truths(found.gold, out / "gold.csv")
        write_rates(found.ballots.voters, found.parameters, out / "voters.csv")
        files += [out / "gold.csv", out / "voters.csv"]
        bounds = f"1..{CROWDS[crowd][3]}" if crowd is not None else size
        show.simulation(found, files, bounds, as_json=as_json)


def _rate(given: float | None, usual: Beta) -> RateLike | Beta:
    return usual if given is None else given
