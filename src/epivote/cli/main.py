"""The commands."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import typer

from epivote.cli import show
from epivote.data.bounds import SizeBounds
from epivote.data.names import listing
from epivote.data.parameters import Parameters
from epivote.errors import CrowdWarning, EpivoteError, InputError
from epivote.estimate.amle import AMLE
from epivote.estimate.auto import suggest_method
from epivote.estimate.base import RatedEstimator
from epivote.estimate.baselines import Approval, Majority, Modal
from epivote.estimate.em import EM
from epivote.evaluate.calibration import calibration
from epivote.evaluate.metrics import score
from epivote.formats.canonical import read_confidence, read_menu, read_sizes, read_truths, write_estimate
from epivote.formats.detect import Format, read_export
from epivote.formats.export import Export
from epivote.plan import plan as make_plan
from epivote.plan import typical_parameters
from epivote.report.plots import check_picture, save_plan, save_waterfall

app = typer.Typer(
    help="From tick-all-that-apply ballots to the most likely sets of right answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Method = Literal["auto", "em", "amle", "majority", "modal", "approval"]
RULES: dict[str, type[AMLE] | type[EM] | type[Majority] | type[Modal] | type[Approval]] = {
    "em": EM,
    "amle": AMLE,
    "majority": Majority,
    "modal": Modal,
    "approval": Approval,
}
INTERRUPTED = 130

Alternatives = Annotated[
    str | None, typer.Option(help="All alternatives, joined by |, when not all of them appear in the file.")
]
MenuFile = Annotated[
    Path | None, typer.Option("--menu", help="CSV instance,alternatives: what was offered where, if that differs.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"epivote {version('epivote')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """From tick-all-that-apply ballots to the most likely sets of right answers."""


BallotFile = Annotated[
    Path,
    typer.Argument(help="CSV with columns voter,instance,alternatives (joined by |), or an export of a known tool."),
]
FileFormat = Annotated[
    Format | None, typer.Option("--format", help="What the file is, if that cannot be told from its name and content.")
]
Question = Annotated[str | None, typer.Option(help="The question to read, where an export holds several.")]
Size = Annotated[str, typer.Option(help="How many alternatives are right: 2, 1..2, or 1.. for no upper bound.")]
HowFound = Annotated[Method, typer.Option(help="How sets are found; auto says which it took and why.")]
GoldFile = Annotated[
    Path | None, typer.Option("--gold", help="CSV instance,alternatives with known right sets; they teach the rest.")
]
VoterColumn = Annotated[str | None, typer.Option(help="Forms: the column that names the respondent.")]
QuestionColumns = Annotated[str | None, typer.Option(help="Forms: a pattern for the question columns, such as 'Q*'.")]
GoldRow = Annotated[str | None, typer.Option(help="Forms: the respondent whose row holds the right answers.")]
BlankCell = Annotated[Literal["missing", "empty"], typer.Option(help="Forms: what an empty cell means.")]
SizeFile = Annotated[
    Path | None, typer.Option("--sizes", help="CSV instance,size for instances whose size differs from --size.")
]
WhichCounts = Annotated[
    Literal["error", "first", "last"], typer.Option(help="Which of two ballots of a voter on an instance counts.")
]


@app.command()
def aggregate(
    ballots: BallotFile,
    size: Size,
    sizes: SizeFile = None,
    method: HowFound = "auto",
    gold: GoldFile = None,
    alternatives: Alternatives = None,
    menu: MenuFile = None,
    duplicates: WhichCounts = "error",
    file_format: FileFormat = None,
    question: Question = None,
    voter: VoterColumn = None,
    instances: QuestionColumns = None,
    gold_row: GoldRow = None,
    blank: BlankCell = "missing",
    out: Annotated[Path | None, typer.Option(help="Folder for truth.csv, voters.csv, alternatives.csv, ...")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the most likely set of every instance and the reliability of every voter.

    Example: epivote aggregate ballots.csv --size 1..2 --out result
    """
    with _one_sentence_per_error():
        options = Reading(file_format, question, voter, instances, gold_row, blank, alternatives, menu, duplicates)
        read = options.read(ballots)
        fitted = _fitted(read, size, method, gold, sizes)
        files = [] if out is None else write_estimate(fitted.estimator.estimate_, out)
        if as_json:
            show.aggregate_json(fitted)
        else:
            show.aggregate_tables(fitted, ballots, files)
        if fitted.interrupted:
            raise typer.Exit(INTERRUPTED)


@app.command()
def explain(
    ballots: BallotFile,
    instance: Annotated[str, typer.Argument(help="The instance to explain.")],
    size: Size,
    sizes: SizeFile = None,
    method: HowFound = "auto",
    gold: GoldFile = None,
    alternatives: Alternatives = None,
    menu: MenuFile = None,
    duplicates: WhichCounts = "error",
    file_format: FileFormat = None,
    question: Question = None,
    voter: VoterColumn = None,
    instances: QuestionColumns = None,
    gold_row: GoldRow = None,
    blank: BlankCell = "missing",
    plot: Annotated[Path | None, typer.Option(help="Write a waterfall picture (.png or .svg) as well.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say why one instance got its set: prior, every voter's push, the size bounds, runners-up.

    Example: epivote explain ballots.csv "picture 4" --size 1..2
    """
    with _one_sentence_per_error():
        if method not in ("auto", "em", "amle"):
            raise InputError(f"method {method} counts approvals and has nothing to explain; use em or amle")
        if plot is not None:
            check_picture(plot)
        options = Reading(file_format, question, voter, instances, gold_row, blank, alternatives, menu, duplicates)
        read = options.read(ballots)
        fitted = _fitted(read, size, method, gold, sizes)
        assert isinstance(fitted.estimator, RatedEstimator)
        told = fitted.estimator.explain(instance)
        if plot is not None:
            save_waterfall(told, plot)
        show.explanation(told, as_json=as_json)


@app.command()
def evaluate(
    truth: Annotated[Path, typer.Argument(help="CSV instance,alternatives, such as the truth.csv of aggregate.")],
    gold: Annotated[Path, typer.Argument(help="CSV instance,alternatives with the right sets.")],
    alternatives: Alternatives = None,
    menu: MenuFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare estimated sets with right ones.

    Example: epivote evaluate result/truth.csv gold.csv
    """
    with _one_sentence_per_error():
        if menu is not None and alternatives is not None:
            raise InputError("--menu and --alternatives both say what was offered; give one of them")
        found, right = read_truths(truth), read_truths(gold)
        names = _split(alternatives) or sorted({*found.alternatives, *right.alternatives})
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


@app.command()
def plan(
    size: Size,
    ballots: Annotated[
        Path | None, typer.Option("--ballots", help="CSV of ballots: plan with the voters found in it.")
    ] = None,
    hit_rate: Annotated[float, typer.Option(help="Without --ballots: chance to tick a right alternative.")] = 0.7,
    false_alarm_rate: Annotated[float, typer.Option(help="Without --ballots: chance to tick a wrong one.")] = 0.15,
    n_alternatives: Annotated[int, typer.Option(help="Without --ballots: how many alternatives are offered.")] = 5,
    prior: Annotated[float, typer.Option(help="Without --ballots: how often an alternative is right.")] = 0.3,
    alternatives: Alternatives = None,
    menu: MenuFile = None,
    target: Annotated[float, typer.Option(help="Share of sets that should be exactly right.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (.png or .svg) as well.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many voters per question are needed, by simulation.

    Example: epivote plan --size 1..2 --ballots ballots.csv --target 0.95
    """
    with _one_sentence_per_error():
        if plot is not None:
            check_picture(plot)
        if ballots is None:
            if n_alternatives < 1:
                raise InputError(f"--n-alternatives {n_alternatives} must be at least 1")
            alike = Parameters(np.array([hit_rate]), np.array([false_alarm_rate]), np.full(n_alternatives, prior))
        else:
            read = read_export(ballots, alternatives=_split(alternatives), menu=menu)
            alike = typical_parameters(_fitted(read, size, "auto", None).estimator.estimate_)
        found = make_plan(alike, SizeBounds.parse(size), target=target)
        if plot is not None:
            save_plan(found, plot)
        show.plan(found, as_json=as_json)


class Reading(NamedTuple):
    """How a file of ballots is to be understood, as the command was told."""

    format: Format | None
    question: str | None
    voter: str | None
    instances: str | None
    gold_row: str | None
    blank: Literal["missing", "empty"]
    alternatives: str | None
    menu: Path | None
    duplicates: Literal["error", "first", "last"]

    def read(self, path: Path) -> Export:
        """The file, read so."""
        return read_export(path, **{**self._asdict(), "alternatives": _split(self.alternatives)})


def _fitted(export: Export, size: str, method: Method, gold: Path | None, sizes: Path | None = None) -> show.Fitted:
    """Ballots estimated, with what a reader should know about how; gold sets of the export count if none are given."""
    ballots = export.ballots
    reason = ""
    name: str = method
    if method == "auto":
        name, reason = suggest_method(ballots)
    bounds = SizeBounds.parse(size)
    estimator = RULES[name](bounds if sizes is None else read_sizes(sizes, bounds))
    right = export.gold if gold is None else read_truths(gold)
    interrupted = False
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", CrowdWarning)
        try:
            estimator.fit(ballots, gold=right)
        except KeyboardInterrupt:
            if not hasattr(estimator, "estimate_"):
                raise
            interrupted = True
    notes = [str(warning.message) for warning in noticed if issubclass(warning.category, CrowdWarning)]
    for what, names in (("gold set", right or ()), ("size", estimator.estimate_.bounds.per_instance)):
        strangers = [name for name in names if name not in ballots.instance_index]
        if strangers:
            notes.append(f"{len(strangers):,} instances with a {what} have no ballots: {listing(strangers, 3)}")
    return show.Fitted(estimator, name, reason, export.notes, tuple(notes), interrupted, right)


def _split(alternatives: str | None) -> list[str] | None:
    if alternatives is None:
        return None
    names = alternatives.split("|")
    if "" in names:
        raise InputError(f"--alternatives {alternatives!r} has an empty name; write them as 'a|b|c'")
    return names


@contextmanager
def _one_sentence_per_error() -> Iterator[None]:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except EpivoteError as error:
        print(f"epivote: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"epivote: cannot write the output: {error.strerror or error}", file=sys.stderr)
        raise typer.Exit(1) from None
