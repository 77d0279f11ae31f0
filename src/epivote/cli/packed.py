"""What outgrows memory: pack files into a folder, and estimate from such a folder here or on a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from epivote.cli import show_packed
from epivote.cli.again import Again
from epivote.cli.console import INTERRUPTED, one_sentence_per_error, print_json, working
from epivote.cli.fitting import Clock, fit
from epivote.cli.options import AsJson, python_options, with_options
from epivote.cli.reporting import write_fitted
from epivote.cli.show_aggregate import Told
from epivote.engines.where import open_packed
from epivote.errors import ClusterError, InputError
from epivote.formats.export import Export
from epivote.formats.pack import pack_files
from epivote.formats.reading import Reading
from epivote.formats.source import STANDARD_INPUT
from epivote.formats.write import truth_blocks, write_csv_blocks, write_estimate

PATIENCE = 30  # seconds to wait for a scheduler to answer; a round number


@with_options
def pack(
    files: Annotated[list[Path], typer.Argument(help="CSV, TSV or Parquet files of ballots, or one other export.")],
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to create; it must not exist yet.")],
    as_json: AsJson = False,
) -> None:
    """Pack large files of ballots into a folder that is read quickly.

    Example: epivote pack part-*.csv -o votes.packed

    Example: epivote pack votes.parquet -o votes.packed
    """
    with one_sentence_per_error():
        notes: list[str] = []
        with working("Packing") as status:
            packed = pack_files(files, output, told=status.say, noted=notes.append, **python_options(reading))
        if as_json:
            sizes = {"n_voters": packed.total_voters, "n_instances": packed.n_instances}
            sizes |= {"n_alternatives": packed.n_alternatives, "n_ballots": packed.total_ballots}
            sizes |= {"n_approvals": packed.total_approvals, "different_voters": packed.n_voters}
            print_json({"folder": str(output), "blocks": len(packed.blocks), **sizes, "remarks": notes})
        else:
            typer.echo(f"Packed {packed.in_words()} into {output}.")
            for note in notes:
                typer.echo(f"Note: {note}.")
            typer.echo(f"Next: epivote aggregate {output} --size 1..2 --out result")


def aggregate_packed(
    again: Again,
    out: Path | None,
    report: Path | None,
    scheduler: str | None,
    checkpoint: Path | None,
    *,
    timings: bool,
    as_json: bool,
) -> None:
    """`epivote aggregate` for a packed folder; sets are worked out and written block by block."""
    clock, folder = Clock(), again.ballots
    with _cluster(scheduler) as client:
        export = Export(open_packed(folder, client=client), format="packed")
        with clock.measure("fit"), working("Estimating") as status:
            fitted = fit(export, folder, again.fitting, status, checkpoint)
    fitted.check_gold()
    estimate, seen, files = fitted.estimator.estimate_, show_packed.Seen(), list[Path]()
    with clock.measure("write"), working("Working out sets") as status:
        if report is not None:
            files.append(write_fitted(fitted, report))
        if str(out) == STANDARD_INPUT:
            write_csv_blocks(sys.stdout.buffer, truth_blocks(estimate))
        elif out is not None:
            files += write_estimate(estimate, out, watch=seen.watch)
        else:
            for part in estimate.parts():
                seen.watch(part)
                status.say(f"Working out sets: {seen.sets:,} so far")
    seconds = clock.seconds if timings else None
    if str(out) == STANDARD_INPUT:
        pass
    elif as_json:
        show_packed.packed_json(fitted, seen, files, seconds)
    else:
        show_packed.packed_tables(fitted, seen, Told(again, files, seconds=seconds))
    if fitted.interrupted:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[Any]:
    if scheduler is None:
        yield None
        return
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise InputError("--scheduler needs Dask; install it with: pip install 'epivote[cluster]'") from None
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"cannot connect to a Dask scheduler at {scheduler!r} ({error}); check the address"
        ) from None
    with client:
        yield client
