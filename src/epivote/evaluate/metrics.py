"""Accuracies of estimated sets against gold ones.

Only instances with a gold set count, and on each only the alternatives offered there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.html import html_table
from epivote.data.names import BoolArray, FloatArray, IntArray, as_names, counted, listing
from epivote.errors import InputError
from epivote.evaluate.intervals import Interval, mean_interval, share_interval

OfferedLike = AnyBallots | Mapping[str, Iterable[str]] | Iterable[str]
Weights = Callable[[int], FloatArray]


@dataclass(frozen=True)
class Comparison:
    """Per instance: alternatives offered, right and wrong members, and members missed; per alternative the same."""

    instances: tuple[str, ...]
    alternatives: tuple[str, ...]
    widths: IntArray
    hits: IntArray
    false_alarms: IntArray
    misses: IntArray
    alternative_hits: IntArray
    alternative_errors: IntArray

    @classmethod
    def joined(cls, parts: Iterable[Comparison]) -> Comparison:
        """Comparisons of different instances with the same alternatives as one."""
        every = list(parts)
        if len(every) == 1:
            return every[0]
        return cls(
            tuple(name for part in every for name in part.instances),
            every[0].alternatives,
            np.concatenate([part.widths for part in every]),
            np.concatenate([part.hits for part in every]),
            np.concatenate([part.false_alarms for part in every]),
            np.concatenate([part.misses for part in every]),
            np.sum([part.alternative_hits for part in every], axis=0),
            np.sum([part.alternative_errors for part in every], axis=0),
        )

    @cached_property
    def correct(self) -> IntArray:
        """How many of the offered alternatives were decided rightly, in or out."""
        return self.widths - self.false_alarms - self.misses

    @cached_property
    def hamming(self) -> FloatArray:
        """Share of offered alternatives decided rightly, per instance."""
        share: FloatArray = np.divide(self.correct, self.widths, out=np.ones(len(self.widths)), where=self.widths > 0)
        return share

    @cached_property
    def zero_one(self) -> FloatArray:
        """1 where the whole set is right, else 0."""
        right: BoolArray = self.correct == self.widths
        return right.astype(float)

    @cached_property
    def harmonic(self) -> FloatArray:
        """The paper's harmonic accuracy, divided by its largest value so that 1 is best, for any number offered."""
        return self.weighted(harmonic_weights)

    @cached_property
    def jaccard(self) -> FloatArray:
        """Members in both sets among members of either; 1 where both are empty."""
        either = self.hits + self.false_alarms + self.misses
        overlap: FloatArray = np.divide(self.hits, either, out=np.ones(len(either)), where=either > 0)
        return overlap

    def weighted(self, weights: Weights) -> FloatArray:
        """The appendix's general class: w[c] for c right decisions, where `weights(m)` gives w[0..m] for m offered.

        Hamming is `linspace(0, 1, m + 1)`, 0/1 is all zeros but the last, harmonic lies between.
        """
        tables = {int(width): np.asarray(weights(int(width)), float) for width in np.unique(self.widths)}
        for width, table in tables.items():
            if table.shape != (width + 1,):
                raise InputError(
                    f"weights({width}) has {table.size} entries; it needs {width + 1}: for 0..{width} right"
                )
        return np.array([tables[int(m)][c] for m, c in zip(self.widths, self.correct, strict=True)])

    @property
    def micro_f1(self) -> float:
        """F1 of all members of all sets together; 1 if there is none anywhere."""
        hits, wrong = int(self.hits.sum()), int((self.false_alarms + self.misses).sum())
        return 2 * hits / (2 * hits + wrong) if hits + wrong else 1.0

    @property
    def macro_f1(self) -> float:
        """Mean F1 of the alternatives that are in some estimated or gold set; 1 if none is."""
        total = 2 * self.alternative_hits + self.alternative_errors
        present = total > 0
        return float(np.mean(2 * self.alternative_hits[present] / total[present])) if present.any() else 1.0


@dataclass(frozen=True)
class Scores:
    """Mean accuracies over instances, with 0.95 intervals where instances are averaged."""

    n_instances: int
    hamming: Interval
    zero_one: Interval
    harmonic: Interval
    jaccard: Interval
    micro_f1: float
    macro_f1: float

    def _repr_html_(self) -> str:
        """The same as a table for notebooks."""
        title = f"Scores on {counted(self.n_instances, 'instance')}"
        return html_table(title, ("accuracy", "mean", "95 % CI", "meaning"), self.rows())

    def rows(self) -> tuple[tuple[str, str, str, str], ...]:
        """Name, mean, interval and meaning of every accuracy, in words."""
        averaged = (
            ("0/1", self.zero_one, "sets exactly right"),
            ("Hamming", self.hamming, "alternatives decided correctly, in or out"),
            ("harmonic", self.harmonic, "in between: nearly right sets count more"),
            ("Jaccard", self.jaccard, "overlap of estimated and true set"),
        )
        return (
            *((name, f"{x.mean:.3f}", f"{x.low:.3f}-{x.high:.3f}", meaning) for name, x, meaning in averaged),
            ("micro F1", f"{self.micro_f1:.3f}", "", "over all members of all sets"),
            ("macro F1", f"{self.macro_f1:.3f}", "", "mean over alternatives"),
        )


def score(truths: Mapping[str, Iterable[str]], gold: Mapping[str, Iterable[str]], offered: OfferedLike) -> Scores:
    """All accuracies of `truths` against `gold`.

    `offered` says which alternatives there were: ballots, a list of names, or a mapping from instance to names.
    """
    return scores_of(compare(truths, gold, offered))


def scores_of(found: Comparison) -> Scores:
    """All accuracies of a comparison."""
    return Scores(
        n_instances=len(found.instances),
        hamming=mean_interval(found.hamming).within(0, 1),
        zero_one=share_interval(int(found.zero_one.sum()), len(found.instances)),
        harmonic=mean_interval(found.harmonic).within(0, 1),
        jaccard=mean_interval(found.jaccard).within(0, 1),
        micro_f1=found.micro_f1,
        macro_f1=found.macro_f1,
    )


def compare(truths: Mapping[str, Iterable[str]], gold: Mapping[str, Iterable[str]], offered: OfferedLike) -> Comparison:
    """Estimated against gold sets, instance by instance; every gold instance needs an estimated set."""
    instances = as_names(gold, "instance")
    if not instances:
        raise InputError("there is no gold set to compare with")
    lacking = [instance for instance in instances if instance not in truths]
    if lacking:
        raise InputError(
            f"{len(lacking):,} of {len(instances):,} gold instances have no estimated set: {listing(lacking, 3)}; "
            "check that both files are about the same instances"
        )
    menus, alternatives = _menus(instances, offered)
    number = {name: j for j, name in enumerate(alternatives)}
    per_alternative = np.zeros((2, len(alternatives)), np.int64)
    counts = np.zeros((4, len(instances)), np.int64)
    for z, instance in enumerate(instances):
        mine, right, menu = set(truths[instance]), set(gold[instance]), menus[instance]
        for what, names in (("estimated", mine), ("gold", right)):
            if not names <= menu:
                raise InputError(
                    f"the {what} set of {instance!r} has {min(names - menu)!r}, which is not among the alternatives "
                    f"offered there ({listing(sorted(menu))})"
                )
        counts[:, z] = len(menu), len(mine & right), len(mine - right), len(right - mine)
        per_alternative[0, [number[name] for name in mine & right]] += 1
        per_alternative[1, [number[name] for name in mine ^ right]] += 1
    return Comparison(instances, alternatives, *counts, *per_alternative)


def hamming(truths: Mapping[str, Iterable[str]], gold: Mapping[str, Iterable[str]], offered: OfferedLike) -> float:
    """Mean share of alternatives decided rightly."""
    return float(compare(truths, gold, offered).hamming.mean())


def zero_one(truths: Mapping[str, Iterable[str]], gold: Mapping[str, Iterable[str]], offered: OfferedLike) -> float:
    """Share of sets that are exactly right."""
    return float(compare(truths, gold, offered).zero_one.mean())


def harmonic(truths: Mapping[str, Iterable[str]], gold: Mapping[str, Iterable[str]], offered: OfferedLike) -> float:
    """Mean harmonic accuracy, between Hamming and 0/1 in strictness."""
    return float(compare(truths, gold, offered).harmonic.mean())


def jaccard(truths: Mapping[str, Iterable[str]], gold: Mapping[str, Iterable[str]], offered: OfferedLike) -> float:
    """Mean Jaccard similarity of estimated and gold sets."""
    return float(compare(truths, gold, offered).jaccard.mean())


def harmonic_weights(m: int) -> FloatArray:
    """w[c] = sum over k = 1..c of 1/(m + 1 - k), divided by w[m] = 1 + 1/2 + ... + 1/m."""
    if m == 0:
        return np.ones(1)
    steps = 1 / np.arange(m, 0, -1)
    weights: FloatArray = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    return weights


def _menus(instances: tuple[str, ...], offered: OfferedLike) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    if isinstance(offered, str):
        raise InputError(f"offered is the text {offered!r}; give a list of names")
    if isinstance(offered, AnyBallots):
        places = offered.places(instances)
        unknown = [name for name in instances if name not in places]
        if unknown:
            raise InputError(f"instance {unknown[0]!r} has a gold set but is not in the ballots; leave it out")
        if not offered.has_menus:
            everything = set(offered.alternatives)
            return dict.fromkeys(instances, everything), offered.alternatives
        parts = offered.parts(np.array(sorted(places.values())))
        return {name: set(part.offered(name)) for part in parts for name in part.instances}, offered.alternatives
    if isinstance(offered, Mapping):
        unknown = [name for name in instances if name not in offered]
        if unknown:
            raise InputError(f"instance {unknown[0]!r} has a gold set but no menu; add its menu")
        menus = {name: {str(one) for one in offered[name]} for name in instances}
        return menus, tuple(sorted(set().union(*menus.values())))
    alternatives = as_names(offered, "alternative")
    everything = set(alternatives)
    return dict.fromkeys(instances, everything), alternatives
