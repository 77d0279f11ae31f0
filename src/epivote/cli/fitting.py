"""From what was read to an estimate, with all that a reader should know about how it came about."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from epivote.cli.console import StatusLine, UsageError
from epivote.cli.options import Fitting
from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import SizeBounds
from epivote.data.names import counted, listing
from epivote.data.truths import Truths
from epivote.errors import CrowdWarning, InputError
from epivote.estimate.amle import AMLE
from epivote.estimate.auto import Auto
from epivote.estimate.base import Estimator
from epivote.estimate.baselines import Approval, Majority, Modal
from epivote.estimate.calibrated import Calibrated
from epivote.estimate.em import EM
from epivote.evaluate.sizes import suggest_size
from epivote.formats.canonical import count_open, read_sizes, read_truths
from epivote.formats.export import Export
from epivote.kernels.library import why_no_loops
from epivote.summary import Summary, summarize, weighed_sizes

RULES: dict[str, Callable[[SizeBounds], Estimator]] = {
    "em": EM,
    "amle": AMLE,
    "majority": Majority,
    "modal": Modal,
    "approval": Approval,
    "size-approval": partial(Approval, weights="jaccard"),
}
LARGE = 1_000_000  # approvals from which a fit without compiled loops takes seconds longer; a round number


@dataclass(frozen=True)
class Fitted:
    """An estimator that has done its work; `kept_aside` are gold sets it was not given, only to compare with."""

    estimator: Estimator
    source: Path
    export: Export
    method: str
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    interrupted: bool
    kept_aside: Truths | None

    @cached_property
    def summary(self) -> Summary:
        """What there is to say about it."""
        return summarize(self.estimator, self.kept_aside)

    def check_gold(self) -> None:
        """Refuse gold sets that cannot be scored against, before anything is written."""
        if self.kept_aside is not None and self.summary.held_back is None:
            raise InputError(
                f"no gold instance has a ballot; gold has {listing(list(self.kept_aside), 3)}, "
                f"the ballots {listing(self.estimator.estimate_.ballots.blocks[0].instances, 3)}"
            )


@dataclass
class Clock:
    """Seconds spent by name, in the order the work was done."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time spent inside."""
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def fit(export: Export, source: Path, options: Fitting, status: StatusLine, checkpoint: Path | None = None) -> Fitted:
    """Ballots estimated; gold sets of the file count if none are given."""
    right = export.gold if options.gold is None else read_truths(options.gold)
    export = replace(export, ballots=_with_names_of(right, export))
    ballots = export.ballots
    if options.size is None:
        suggested = suggest_size(ballots)
        raise UsageError(
            f"--size is missing; add --size {suggested.bounds} if that is what the task allows ({suggested.reason})"
        )
    bounds = SizeBounds.parse(options.size)
    bounds = bounds if options.sizes is None else read_sizes(options.sizes, bounds)
    if right is None and options.gold_use != "auto":
        raise InputError(f"--gold-use {options.gold_use} needs gold sets, but none are given and the file holds none")
    score_only = options.gold_use == "score" or (options.gold_use == "auto" and _all_known(right, ballots))
    gold, kept_aside = (None, right) if score_only else (right, None)
    estimator = _estimator(options, bounds, with_gold=gold is not None)
    interrupted = False
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", CrowdWarning)
        try:
            estimator.fit(
                ballots,
                gold=gold,
                checkpoint=checkpoint,
                progress=lambda iteration, value: status.say(
                    f"Iteration {iteration}, objective {value:,.3f}; Ctrl-C keeps the best so far"
                ),
            )
        except KeyboardInterrupt:
            if not hasattr(estimator, "estimate_"):
                raise
            interrupted = True
    notes = [str(warning.message) for warning in noticed if issubclass(warning.category, CrowdWarning)]
    still_open = 0 if options.gold is None else count_open(options.gold)
    if still_open:
        notes.append(
            f"{counted(still_open, 'set')} in {options.gold} {'is' if still_open == 1 else 'are'} not filled in"
        )
    if ballots.total_approvals >= LARGE and (reason := why_no_loops()) is not None:
        notes.append(f"{reason}, so large fits take longer; install epivote from a wheel for your platform")
    doubtful = weighed_sizes(ballots, estimator.estimate_.bounds).warning
    notes += [] if doubtful is None else [doubtful]
    for what, names in (("gold set", right or ()), ("size", estimator.estimate_.bounds.per_instance)):
        known = ballots.places(names)
        strangers = [name for name in names if name not in known]
        if strangers:
            have = "has" if len(strangers) == 1 else "have"
            notes.append(
                f"{counted(len(strangers), 'instance')} with a {what} {have} no ballots: {listing(strangers, 3)}"
            )
    name, reasons = str(options.method), tuple[str, ...]()
    if isinstance(estimator, Auto):
        name, reasons = estimator.method_, estimator.choices_
    return Fitted(estimator, source, export, name, reasons, tuple(notes), interrupted, kept_aside)


def _estimator(options: Fitting, bounds: SizeBounds, *, with_gold: bool) -> Estimator:
    """What the options ask for; gold calibrates whatever is not a rule of its own for whole ballots."""
    if options.method == "auto":
        return Auto(bounds, quick=options.quick)
    rule: Estimator = RULES[str(options.method)](bounds)
    return Calibrated(rule) if with_gold and options.method != "modal" else rule


def _with_names_of(gold: Truths | None, export: Export) -> AnyBallots:
    """Ballots whose alternatives, where they were only gathered from ticks, hold those of the gold sets too."""
    new = [name for name in gold.alternatives if name not in export.ballots.alternatives] if gold is not None else []
    if not new or not export.inferred:
        return export.ballots
    return replace(export.ballots.in_memory(), alternatives=(*export.ballots.alternatives, *new))


def _all_known(gold: Truths | None, ballots: AnyBallots) -> bool:
    return (
        gold is not None
        and len(gold) >= ballots.n_instances
        and all(name in gold.instance_index for block in ballots.blocks for name in block.instances)
    )
