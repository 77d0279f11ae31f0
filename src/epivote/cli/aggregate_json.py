"""What `aggregate --json` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from epivote.cli.console import print_json
from epivote.cli.fitting import Fitted
from epivote.evaluate.inspection import oddities
from epivote.formats.write import inclusion_blocks
from epivote.summary import Summary


def aggregate_json(fitted: Fitted, seconds: dict[str, float] | None) -> None:
    """Everything as one JSON object."""
    summary, estimate = fitted.summary, fitted.summary.estimate
    history, check = estimate.log_likelihoods, summary.held_back or summary.taught
    print_json(
        {
            "format": fitted.export.format,
            "method": fitted.method,
            "reasons": list(fitted.reasons),
            "remarks": list(fitted.export.notes),
            "odd": list(oddities(fitted.export.ballots)),
            "notes": list(fitted.notes),
            "size": str(estimate.bounds),
            "status": estimate.status,
            "iterations": estimate.n_iterations,
            "log_likelihood": estimate.log_likelihood,
            "objective": history[-1] if history else None,
            "ties": list(estimate.ties),
            "own_sizes": {name: list(pair) for name, pair in estimate.bounds.per_instance.items()},
            "gold": sorted(estimate.gold),
            "confidence": confidence_json(summary),
            "accuracy": accuracy_json(summary),
            "calibration": [] if check is None else [asdict(each) for each in check.bins],
            "truth": records(estimate.truth_table()),
            "voters": records(estimate.voter_table()),
            "reliability": map(asdict, summary.voters),
            "erring_together": [list(group) for group in summary.erring_together],
            "review": map(asdict, summary.review() if summary.is_rated else ()),
            "alternatives": records(estimate.alternative_table()),
            "inclusion": (row for block in inclusion_blocks(estimate) for row in block.iter_rows(named=True)),
            "seconds": seconds,
        }
    )


def confidence_json(summary: Summary) -> dict[str, object] | None:
    """What confidence rests on, and what halves of the voters and gold say about it."""
    if not summary.is_rated:
        return None
    known, check, effect = summary.estimate.calibration, summary.reproducibility, summary.gold_effect
    return {
        "meaning": summary.meaning,
        "source": "model" if known is None else known.source,
        "calibration": None if known is None else known.state(),
        "reproducibility": None if check is None else {**asdict(check), "is_too_sure": check.is_too_sure},
        "gold_effect": None if effect is None else asdict(effect),
    }


def accuracy_json(summary: Summary) -> dict[str, object] | None:
    """Scores against gold that was kept aside."""
    check = summary.held_back
    return None if check is None or check.scores is None else asdict(check.scores)


def records(columns: dict[str, list[object]]) -> Iterator[dict[str, object]]:
    """Rows as JSON objects, one by one."""
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
