"""epivote: from tick-all-that-apply ballots to the most likely sets of right answers.

Examples
--------
>>> from epivote import AMLE, Ballots
>>> ballots = Ballots.from_mapping({
...     ("ann", "picture 1"): {"PSG", "Inter"}, ("ann", "picture 2"): {"Real"},
...     ("bo", "picture 1"): {"PSG"},           ("bo", "picture 2"): {"Real", "PSG"},
...     ("cy", "picture 1"): {"PSG", "Inter"},  ("cy", "picture 2"): {"Real"},
... })
>>> AMLE(bounds=(1, 2)).fit(ballots).truth_
Truths(picture 1: {Inter, PSG}, picture 2: {Real})
"""

from typing import TYPE_CHECKING, Any

from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.estimate import Estimate, Posterior
from epivote.data.exchange import (
    ballots_from_indicators,
    ballots_from_pandas,
    ballots_from_records,
    ballots_to_indicators,
    ballots_to_pandas,
    ballots_to_records,
    truths_to_indicators,
)
from epivote.data.numbers import in_percent
from epivote.data.packed import PackedBallots
from epivote.data.packing import write_packed
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.engines.where import open_packed
from epivote.errors import (
    BallotError,
    BoundsError,
    ClusterError,
    ColumnError,
    CrowdWarning,
    EpivoteError,
    FileError,
    InputError,
    NotFittedError,
    RateError,
)
from epivote.estimate.amle import AMLE
from epivote.estimate.auto import Auto, suggest_method
from epivote.estimate.baselines import Approval, Majority, Modal
from epivote.estimate.calibrated import Calibrated, GoldTrial
from epivote.estimate.em import EM
from epivote.estimate.explain import Explanation
from epivote.estimate.flags import Flag, FlagKind
from epivote.estimate.history import Record
from epivote.estimate.maximum_likelihood import MaximumLikelihood
from epivote.estimate.objectives import log_likelihood, marginal_log_likelihood
from epivote.estimate.reliability import VoterReport
from epivote.estimate.reproducibility import Reproducibility, reproducibility
from epivote.estimate.review import SURE, Doubt
from epivote.estimate.saving import load_model, save_model
from epivote.evaluate.agreement import Agreement, agreement
from epivote.evaluate.calibration import CalibrationBin, calibration, calibration_error
from epivote.evaluate.confusion import confusions
from epivote.evaluate.incentive import Standing, rank_participants
from epivote.evaluate.inspection import Inspection, Spread, inspect_ballots
from epivote.evaluate.intervals import Interval, PairedTest, mean_interval, share_interval, wilcoxon
from epivote.evaluate.metrics import (
    Comparison,
    Scores,
    compare,
    hamming,
    harmonic,
    harmonic_weights,
    jaccard,
    score,
    zero_one,
)
from epivote.evaluate.sizes import SizeCheck, SizeSuggestion, check_sizes, suggest_size
from epivote.planning import Plan, PlanCheck, PlanPoint, check_plan, plan
from epivote.simulation import Beta, Simulation, reference_crowd, simulate
from epivote.summary import FoundSet, GoldCheck, GoldEffect, Stated, Summary, summarize

if TYPE_CHECKING:
    from epivote.formats.canonical import (
        read_ballots,
        read_confidence,
        read_menu,
        read_sizes,
        read_truths,
    )
    from epivote.formats.detect import read_export
    from epivote.formats.export import Export
    from epivote.formats.pack import pack_files
    from epivote.formats.predictions import write_predictions
    from epivote.formats.write import write_ballots, write_estimate, write_menu, write_truths
    from epivote.report.page import write_report

__version__ = "0.1.0"

__all__ = [
    "AMLE",
    "EM",
    "SURE",
    "Agreement",
    "Approval",
    "Auto",
    "BallotError",
    "Ballots",
    "Beta",
    "BoundsError",
    "Calibrated",
    "Calibration",
    "CalibrationBin",
    "ClusterError",
    "ColumnError",
    "Comparison",
    "CrowdWarning",
    "Doubt",
    "EpivoteError",
    "Estimate",
    "Explanation",
    "Export",
    "FileError",
    "Flag",
    "FlagKind",
    "FoundSet",
    "GoldCheck",
    "GoldEffect",
    "GoldTrial",
    "InputError",
    "Inspection",
    "Interval",
    "Majority",
    "MaximumLikelihood",
    "Modal",
    "NotFittedError",
    "PackedBallots",
    "PairedTest",
    "Parameters",
    "Plan",
    "PlanCheck",
    "PlanPoint",
    "Posterior",
    "RateError",
    "Record",
    "Reproducibility",
    "Scores",
    "Simulation",
    "SizeBounds",
    "SizeCheck",
    "SizeSuggestion",
    "Spread",
    "Standing",
    "Stated",
    "Summary",
    "Truths",
    "VoterReport",
    "__version__",
    "agreement",
    "ballots_from_indicators",
    "ballots_from_pandas",
    "ballots_from_records",
    "ballots_to_indicators",
    "ballots_to_pandas",
    "ballots_to_records",
    "calibration",
    "calibration_error",
    "check_plan",
    "check_sizes",
    "compare",
    "confusions",
    "hamming",
    "harmonic",
    "harmonic_weights",
    "in_percent",
    "inspect_ballots",
    "jaccard",
    "load_model",
    "log_likelihood",
    "marginal_log_likelihood",
    "mean_interval",
    "open_packed",
    "pack_files",
    "plan",
    "rank_participants",
    "read_ballots",
    "read_confidence",
    "read_export",
    "read_menu",
    "read_sizes",
    "read_truths",
    "reference_crowd",
    "reproducibility",
    "save_model",
    "score",
    "share_interval",
    "simulate",
    "suggest_method",
    "suggest_size",
    "summarize",
    "truths_to_indicators",
    "wilcoxon",
    "write_ballots",
    "write_estimate",
    "write_menu",
    "write_packed",
    "write_predictions",
    "write_report",
    "write_truths",
    "zero_one",
]

_LATER = {
    "Export": "formats.export",
    "pack_files": "formats.pack",
    "read_ballots": "formats.canonical",
    "read_confidence": "formats.canonical",
    "read_export": "formats.detect",
    "read_menu": "formats.canonical",
    "read_sizes": "formats.canonical",
    "read_truths": "formats.canonical",
    "write_ballots": "formats.write",
    "write_estimate": "formats.write",
    "write_menu": "formats.write",
    "write_predictions": "formats.predictions",
    "write_report": "report.page",
    "write_truths": "formats.write",
}


def __dir__() -> list[str]:
    """Public names only; packages are reached by importing them."""
    return __all__


def __getattr__(name: str) -> Any:
    """Files and pages load what costs more than everything else together (Polars): only when first used."""
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"epivote.{_LATER[name]}"), name)
    raise AttributeError(f"module 'epivote' has no attribute {name!r}")
