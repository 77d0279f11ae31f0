"""The commands that estimate or judge estimates: read, fit, say."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from epivote.cli import show, show_aggregate
from epivote.cli.again import Again
from epivote.cli.aggregate_json import aggregate_json
from epivote.cli.console import INTERRUPTED, one_sentence_per_error, working
from epivote.cli.fitting import RULES, Clock, Fitted, fit
from epivote.cli.options import (
    AsJson,
    BallotFile,
    Fitting,
    MenuFile,
    Names,
    Size,
    read_file,
    split_names,
    with_options,
)
from epivote.cli.packed import aggregate_packed
from epivote.cli.reporting import write_fitted
from epivote.cli.show_review import MOST_AHEAD, review_table, show_review, write_review
from epivote.data.bounds import SizeBounds
from epivote.data.packed import is_packed
from epivote.data.parameters import Parameters
from epivote.errors import InputError
from epivote.estimate.auto import suggest_method
from epivote.estimate.base import RatedEstimator
from epivote.estimate.review import SURE, check_threshold
from epivote.evaluate.calibration import calibration
from epivote.evaluate.metrics import score
from epivote.formats.canonical import read_confidence, read_menu, read_truths
from epivote.formats.export import Export
from epivote.formats.predictions import write_predictions
from epivote.formats.reading import Reading
from epivote.formats.source import STANDARD_INPUT
from epivote.formats.write import truth_table, write_estimate, write_open_sets
from epivote.planning import check_plan, typical_parameters
from epivote.planning import plan as make_plan
from epivote.report.plots import check_picture, save_plan, save_waterfall


@with_options
def aggregate(
    ballots: BallotFile,
    fitting: Fitting,
    reading: Reading,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for truth.csv, voters.csv, alternatives.csv, inclusion.csv; - prints truth.csv."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a report page (.html) to look at and pass on.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Label Studio JSON only: also write the sets as predictions to this file."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the state of the fit to this file, and resume from it if it exists.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Packed folders only: address of a Dask scheduler, such as tcp://host:8786.")
    ] = None,
    timings: Annotated[
        bool, typer.Option("--timings", help="Print how long reading, fitting and writing took.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all sets, voters and remarks instead of one screen.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the most likely set of every instance and rate the voters.

    Example: epivote aggregate ballots.csv --size 1..2 --out result

    Example: epivote aggregate export.json --size 1.. --gold gold.csv
    """
    with one_sentence_per_error():
        if as_json and str(out) == STANDARD_INPUT:
            raise InputError("--json and --out - both write to standard output; choose one")
        if is_packed(ballots) and predictions is None:
            if everything:
                raise InputError("--all would print every set of a packed folder; write them to a folder with --out")
            again = Again(ballots, fitting, reading)
            aggregate_packed(again, out, report, scheduler, checkpoint, timings=timings, as_json=as_json)
            return
        if scheduler is not None:
            raise InputError(f"--scheduler needs a packed folder; make one with: epivote pack {ballots} -o DIR")
        clock = Clock()
        export = _read(ballots, reading, clock)
        if predictions is not None:
            _check_predictions(export, ballots)
        fitted = _fit(export, ballots, fitting, clock, checkpoint)
        fitted.check_gold()
        estimate = fitted.estimator.estimate_
        files = []
        with clock.measure("write"), working(f"Writing {out or ''}"):
            if report is not None:
                files.append(write_fitted(fitted, report))
            if predictions is not None:
                write_predictions(estimate, ballots, predictions, question=reading.question)
                files.append(predictions)
            if out is not None and str(out) != STANDARD_INPUT:
                files += write_estimate(estimate, out)
        seconds = clock.seconds if timings else None
        if str(out) == STANDARD_INPUT:
            sys.stdout.buffer.write(truth_table(estimate).write_csv().encode())
        elif as_json:
            aggregate_json(fitted, seconds)
        else:
            told = show_aggregate.Told(Again(ballots, fitting, reading), files, predictions, seconds)
            show_aggregate.aggregate_tables(fitted, told, everything=everything)
        if fitted.interrupted:
            raise typer.Exit(INTERRUPTED)


@with_options
def report(
    ballots: BallotFile,
    fitting: Fitting,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Page title.")] = None,
    anonymize: Annotated[
        bool, typer.Option("--anonymize", help="Replace the names of voters by voter 1, voter 2, ...")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page with sets, confidence, voters and reasons.

    Example: epivote report ballots.csv --size 1..2 -o report.html

    Example: epivote report ballots.csv --size 1..2 --gold gold.csv
    """
    with one_sentence_per_error():
        fitted = _estimate(ballots, reading, fitting)
        with working(f"Writing {output}"):
            write_fitted(fitted, output, anonymize=anonymize, title=title)
        show.report(output, fitted.estimator.estimate_, as_json=as_json)
        if fitted.interrupted:
            raise typer.Exit(INTERRUPTED)


@with_options
def explain(
    ballots: BallotFile,
    instance: Annotated[str, typer.Argument(help="The instance to explain.")],
    fitting: Fitting,
    reading: Reading,
    plot: Annotated[Path | None, typer.Option(help="Also write a waterfall chart (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Explain why one instance got its set: prior, voters and size bounds.

    Example: epivote explain ballots.csv "picture 4" --size 1..2

    Example: epivote explain ballots.csv "picture 4" --size 2 --plot why.svg
    """
    with one_sentence_per_error():
        if fitting.method not in ("auto", "em", "amle"):
            raise InputError(f"method {fitting.method} counts approvals and cannot explain its sets; use em or amle")
        if plot is not None:
            check_picture(plot)
        fitted = _estimate(ballots, reading, fitting)
        assert isinstance(fitted.estimator, RatedEstimator)
        told = fitted.estimator.explain(instance)
        if plot is not None:
            save_waterfall(told, plot)
        show.explanation(told, as_json=as_json)
        if fitted.interrupted:
            raise typer.Exit(INTERRUPTED)


@with_options
def review(
    ballots: BallotFile,
    fitting: Fitting,
    reading: Reading,
    threshold: Annotated[
        float, typer.Option(help="Confidence below which an instance is doubtful, between 0 and 1.")
    ] = SURE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all doubtful instances to this CSV; - prints it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List doubtful instances and how many more ballots they need.

    Example: epivote review ballots.csv --size 1..2

    Example: epivote review ballots.csv --size 1..2 --threshold .9 -o review.csv
    """
    with one_sentence_per_error():
        check_threshold(threshold)
        fitted = _estimate(ballots, reading, fitting)
        if not isinstance(fitted.estimator, RatedEstimator):
            raise InputError(f"method {fitting.method} states no confidence to review; use auto, em or amle")
        doubts = fitted.estimator.review(threshold, most=MOST_AHEAD)
        if output is not None and str(output) != STANDARD_INPUT:
            write_review(doubts, output)
        if str(output) == STANDARD_INPUT:
            sys.stdout.buffer.write(review_table(doubts).write_csv().encode())
        else:
            show_review(fitted, doubts, threshold, output, Again(ballots, fitting, reading), as_json=as_json)
        if fitted.interrupted:
            raise typer.Exit(INTERRUPTED)


@with_options
def gold(
    ballots: BallotFile,
    fitting: Fitting,
    reading: Reading,
    count: Annotated[int, typer.Option(help="Number of instances; 10 to 50 are useful.")] = 20,
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write and then to fill in.")] = Path(
        "to-answer.csv"
    ),
    seed: Annotated[int, typer.Option(help="Seed of the random choice.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Choose instances to answer yourself, to calibrate the confidence.

    Example: epivote gold ballots.csv --size 1..2

    Example: epivote gold ballots.csv --size 1..2 --count 30 -o answer.csv
    """
    with one_sentence_per_error():
        if output.exists():
            raise InputError(f"{output} already exists and may hold gold sets; name another file with -o")
        fitted = _estimate(ballots, reading, replace(fitting, quick=True))
        if not isinstance(fitted.estimator, RatedEstimator):
            raise InputError(f"method {fitting.method} states no confidence to choose by; use auto, em or amle")
        names = fitted.estimator.pick_gold(count, seed=seed)
        write_open_sets(names, output)
        then = Again(ballots, fitting, reading).command("aggregate", more=f"--gold {shlex.quote(str(output))}")
        show.picked(names, output, then, as_json=as_json)


def evaluate(
    truth: Annotated[Path, typer.Argument(help="CSV instance,alternatives, such as the truth.csv of aggregate.")],
    gold: Annotated[Path, typer.Argument(help="CSV instance,alternatives with the true sets.")],
    alternatives: Names = None,
    menu: MenuFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare estimated sets with known true sets (gold).

    Example: epivote evaluate result/truth.csv gold.csv

    Example: epivote evaluate truth.csv gold.csv --alternatives "cat|dog"
    """
    with one_sentence_per_error():
        if menu is not None and alternatives is not None:
            raise InputError("--menu and --alternatives both say what was offered; use only one of them")
        found, right = read_truths(truth), read_truths(gold)
        names = split_names(alternatives) or sorted({*found.alternatives, *right.alternatives})
        scores = score(found, right, names if menu is None else read_menu(menu))
        stated = read_confidence(truth)
        sure = [name for name in right if name in stated]
        kept = [found[name] == right[name] for name in sure]
        bins = calibration([stated[name] for name in sure], kept) if sure else []
        if as_json:
            show.scores_json(scores, bins)
        else:
            guessed = alternatives is None and menu is None
            show.scores_table(scores, len(found), names if guessed else None, bins)


@with_options
def plan(
    size: Size,
    reading: Reading,
    ballots: Annotated[
        Path | None,
        typer.Option(help="Ballots you have: plan for voters like theirs, and check the plan on these ballots."),
    ] = None,
    hit_rate: Annotated[
        float, typer.Option(help="Without --ballots: probability that a voter ticks a right alternative.")
    ] = 0.7,
    false_alarm_rate: Annotated[
        float, typer.Option(help="Without --ballots: probability that a voter ticks a wrong alternative.")
    ] = 0.15,
    n_alternatives: Annotated[
        int, typer.Option(min=1, max=1000, help="Without --ballots: number of alternatives.")
    ] = 5,
    prior: Annotated[
        float, typer.Option(help="Without --ballots: share of true sets that contain an alternative.")
    ] = 0.3,
    gold: Annotated[
        Path | None,
        typer.Option(help="With --ballots: CSV instance,alternatives with known true sets, to check the plan."),
    ] = None,
    target: Annotated[float, typer.Option(help="Share of sets that should be exactly right, between 0 and 1.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Also write a chart (.png, .svg or .pdf).")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how many ballots per instance you need.

    Example: epivote plan --size 1..2 --hit-rate 0.8 --false-alarm-rate 0.1

    Example: epivote plan --size 1..2 --ballots ballots.csv --target 0.95
    """
    with one_sentence_per_error():
        if plot is not None:
            check_picture(plot)
        interrupted, check = False, None
        if ballots is None:
            if gold is not None:
                raise InputError("--gold checks a plan on ballots; give them with --ballots FILE")
            alike = Parameters.alike(1, hit_rate, false_alarm_rate, np.full(n_alternatives, prior))
        else:
            fitted = _estimate_for_plan(ballots, reading, size, gold)
            alike, interrupted = typical_parameters(fitted.estimator.estimate_), fitted.interrupted
            if not interrupted:
                with working("Checking the plan") as status:
                    check = check_plan(
                        fitted.estimator,
                        fitted.kept_aside,
                        choose=lambda drawn: RULES[suggest_method(drawn)[0]](SizeBounds.parse(size)),
                        progress=lambda count: status.say(f"Checking the plan: {count} ballots per instance"),
                    )
        with working("Simulating crowds of different sizes"):
            found = replace(make_plan(alike, SizeBounds.parse(size), target=target), check=check)
        if plot is not None:
            save_plan(found, plot)
        show.plan(found, as_json=as_json)
        if interrupted:
            raise typer.Exit(INTERRUPTED)


def _estimate_for_plan(ballots: Path, reading: Reading, size: str, gold: Path | None) -> Fitted:
    """All gold sets, also those of the file, are kept aside: they are there to check with."""
    clock = Clock()
    fitting = Fitting(size, gold=gold, quick=True)
    export = _read(ballots, reading, clock)
    any_gold = gold is not None or export.gold is not None
    fitted = _fit(export, ballots, replace(fitting, gold_use="score" if any_gold else "auto"), clock)
    fitted.check_gold()
    return fitted


def _estimate(ballots: Path, reading: Reading, fitting: Fitting) -> Fitted:
    clock = Clock()
    return _fit(_read(ballots, reading, clock), ballots, fitting, clock)


def _read(ballots: Path, reading: Reading, clock: Clock) -> Export:
    with clock.measure("read"), working(f"Reading {ballots}"):
        export = read_file(ballots, reading)
    clock.seconds["read"] -= export.encode_seconds
    clock.seconds["encode"] = export.encode_seconds
    return export


def _fit(export: Export, ballots: Path, fitting: Fitting, clock: Clock, checkpoint: Path | None = None) -> Fitted:
    with clock.measure("fit"), working("Estimating") as status:
        return fit(export, ballots, fitting, status, checkpoint)


def _check_predictions(export: Export, source: Path) -> None:
    if str(source) == STANDARD_INPUT:
        raise InputError("--predictions reads the export a second time; give a file instead of standard input")
    if export.format != "label-studio":
        raise InputError(f"--predictions needs a Label Studio JSON file; the format of {source} is {export.format}")
