"""What all estimators share: parameters as in scikit-learn, ballots or dataframes in, results by name."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from html import escape
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.html import html_table
from epivote.data.names import FloatArray, listing, suggestion, sums
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.engines.gold import Gold
from epivote.errors import CrowdWarning, InputError, NotFittedError
from epivote.estimate.checkpoint import Checkpoint, fingerprint
from epivote.estimate.climb import Progress
from epivote.estimate.explain import Explanation, explain
from epivote.estimate.history import History, Record
from epivote.estimate.model import Model
from epivote.estimate.reliability import VoterReport, upside_down, voter_reports
from epivote.estimate.review import SURE, Doubt, check_threshold, review
from epivote.estimate.workload import InMemoryWorkload, workload
from epivote.model.set_odds import SetOdds
from epivote.model.utilities import Utility

UPSIDE_DOWN = (
    "most ballots come from voters who seem to be worse than chance, as if they ticked what is wrong: the crowd may be "
    "upside down; check that a tick means 'right', and give some gold sets if you can"
)


def _silent(_iteration: int, _objective: float) -> None:
    """Nobody is watching."""


class Estimator(ABC):
    """Base of all estimators: the constructor only stores, `fit` returns self, what was found ends in `_`."""

    _estimate: Estimate | None = None
    _progress: Progress = staticmethod(_silent)
    _frame_kind: Any = "polars"
    _checkpoint = Checkpoint()

    def fit(
        self,
        ballots: AnyBallots | Any,
        gold: Gold | None = None,
        history: History | None = None,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Estimate from ballots, or from a dataframe with one ballot per row (`Ballots.from_frame`).

        `gold` gives the right sets of some instances: they are kept as they are and teach voters and priors.
        `history` gives earlier counts of some voters, as `voter_history_` returns them.
        `progress` is called after every iteration with its number and the objective.
        `checkpoint` names a file that is kept up to date after every iteration; if it already exists, the fit that
        wrote it is continued.
        If it is interrupted (KeyboardInterrupt), what was reached so far is kept in `estimate_`, labelled so.
        """
        ballots = self._as_ballots(ballots)
        self._progress = progress or _silent
        self._checkpoint = Checkpoint()
        if checkpoint is not None:
            self._checkpoint = Checkpoint(Path(checkpoint), fingerprint(self, ballots, gold, history))
        self._estimate = self._run(ballots, gold, history)
        if upside_down(self._estimate.counts, ballots.multiplicities):
            warnings.warn(UPSIDE_DOWN, CrowdWarning, stacklevel=2)
        if self._estimate.status == "interrupted":
            raise KeyboardInterrupt
        return self

    def fit_predict(
        self, ballots: AnyBallots | Any, gold: Gold | None = None, history: History | None = None
    ) -> Truths:
        """The estimated sets."""
        return self.fit(ballots, gold, history).truth_

    @abstractmethod
    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        """The work of `fit`."""

    def _as_ballots(self, ballots: AnyBallots | Any) -> AnyBallots:
        if isinstance(ballots, AnyBallots):
            self._frame_kind = "polars"
            return ballots
        from epivote.data.frames import eager_frame

        self._frame_kind = eager_frame(ballots).implementation
        return Ballots.from_frame(ballots)

    # Results

    @property
    def estimate_(self) -> Estimate:
        """Everything that was found, as one value."""
        if self._estimate is None:
            raise NotFittedError(f"this {type(self).__name__} has seen no ballots yet; call fit first")
        return self._estimate

    @property
    def truth_(self) -> Truths:
        """The estimated sets, a mapping from instance to set."""
        return self.estimate_.truths

    @property
    def parameters_(self) -> Parameters:
        """Hit rates, false-alarm rates and priors as arrays."""
        return self.estimate_.parameters

    @property
    def voters_(self) -> Any:
        """Voters as a dataframe of the kind given to `fit` (else Polars): rates, weight, ballots."""
        return self._frame(self.estimate_.voter_table())

    @property
    def alternatives_(self) -> Any:
        """Alternatives as a dataframe: priors."""
        return self._frame(self.estimate_.alternative_table())

    @property
    def inclusion_(self) -> Any:
        """Probability of every offered alternative to be right, as a dataframe; no rows for rules without rates."""
        return self._frame(self.estimate_.inclusion_table())

    @property
    def truth_table_(self) -> Any:
        """Sets as a dataframe of the kind given to `fit` (else Polars): instance, alternatives, confidence."""
        return self._frame(self.estimate_.truth_table())

    @property
    def confidence_table_(self) -> Any:
        """`confidence_` by instance, as a dataframe; missing values for rules without rates."""
        columns = self.estimate_.truth_table()
        return self._frame({name: column for name, column in columns.items() if name != "alternatives"})

    @property
    def confidence_(self) -> FloatArray | None:
        """Probability that each returned set is exactly right, in the order of the instances; None without rates."""
        return self.estimate_.confidence

    @property
    def model_confidence_(self) -> FloatArray | None:
        """The probability of each returned set under the model; the same as `confidence_` unless that is calibrated."""
        return self.estimate_.model_confidence

    @property
    def log_likelihoods_(self) -> tuple[float, ...]:
        """The objective after every iteration, which never falls.

        It is the log-likelihood plus what is believed about voters beforehand (shrinkage, a history);
        `log_likelihood_` leaves that out.
        """
        return self.estimate_.log_likelihoods

    @property
    def log_likelihood_(self) -> float | None:
        """The log-likelihood of the ballots at the end; None for rules that do not iterate."""
        return self.estimate_.log_likelihood

    @property
    def n_iter_(self) -> int:
        """Number of iterations."""
        return self.estimate_.n_iterations

    @property
    def converged_(self) -> bool:
        """Whether the last iteration changed nothing beyond the tolerance; `estimate_.status` says why not."""
        return self.estimate_.converged

    def _frame(self, columns: dict[str, list[object]]) -> Any:
        import narwhals as nw

        return nw.from_dict(columns, backend=self._frame_kind).to_native()

    # Parameters, as in scikit-learn

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """The constructor's arguments and their values."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **values: Any) -> Self:
        """Change constructor arguments by name."""
        known = self._parameter_names()
        for name, value in values.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}{suggestion(name, known)}; "
                    f"it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The constructor call, without arguments that have their usual value."""
        usual = {
            name: parameter.default for name, parameter in inspect.signature(type(self).__init__).parameters.items()
        }
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(usual[name])
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """Before `fit` the constructor call; after it, also the first sets, as a table for notebooks."""
        if self._estimate is None:
            return f"<pre>{escape(repr(self))}</pre>"
        title = f"{self!r}: {self._estimate!r}"
        total = self._estimate.ballots.n_instances
        return html_table(title, ("instance", "set", "confidence"), self._estimate.first_rows(), total)

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


class RatedEstimator(Estimator):
    """An estimator that knows rates, and so can answer for new ballots and say how sure it is."""

    bounds: Any
    _model: Model | None = None
    _turn: bool | None = None  # whether the last fit took the crowd to be upside down; only EM asks
    _given_turn: bool | None = None  # the same as a fit to more ballots has found, so that a copy need not ask

    def predict(self, ballots: AnyBallots | Any) -> Truths:
        """The most likely sets for other ballots, with the rates found in `fit`.

        A voter or alternative that `fit` has not seen gets the crowd's rate: the mean over those it has seen.
        """
        ballots = ballots if isinstance(ballots, AnyBallots) else Ballots.from_frame(ballots)
        parameters, calibration = self.model_.parameters_for(ballots), self.model_.calibration_for(ballots)
        parts = (InMemoryWorkload(part, SizeBounds.of(self.bounds)) for part in ballots.parts())
        return Truths.joined(work.truths(work.best_sets(parameters, calibration)) for work in parts)

    @property
    def model_(self) -> Model:
        """What was learnt, by name: enough to predict, to save, and to explain voters to later fits."""
        if self._estimate is None and self._model is not None:
            return self._model
        return Model.of(self.estimate_)

    @property
    def voter_history_(self) -> dict[str, Record]:
        """Counts of every voter in this fit (or stream), to be given as `history` to a fit on other ballots.

        They do not include a history that was given; add the records up if there are several. The counts of a voter who
        stands for several are those of each.
        """
        counts = np.stack(self.model_.counts).T.tolist()
        return {voter: Record(*row) for voter, row in zip(self.model_.voters, counts, strict=True)}

    # How sure, and why

    def best_sets(self, instance: str, count: int = 5) -> list[tuple[frozenset[str], float]]:
        """The most probable sets of one instance with their probabilities."""
        if not isinstance(count, int) or count < 1:
            raise InputError(f"count={count!r} must be a whole number of at least 1")
        odds, offered = self._one(instance)
        found = odds.best_sets(0, count)
        return [(frozenset(offered[c] for c in members), probability) for probability, members in found]

    @property
    def expected_sizes_(self) -> FloatArray:
        """Expected number of right alternatives on every instance."""
        found = []
        for part in self.estimate_.parts():
            assert part.posterior is not None
            instance = np.repeat(np.arange(part.ballots.n_instances), part.ballots.menu_sizes)
            found.append(sums(instance, part.posterior.inclusion, part.ballots.n_instances))
        return np.concatenate(found)

    def decide(self, utility: Utility = "exact") -> Truths:
        """Sets of highest expected utility: `exact` (the default), `hamming`, `f1` or `jaccard`; gold ones stay."""
        if utility not in get_args(Utility):
            raise InputError(f"utility={utility!r} is not one of {listing(get_args(Utility))}")
        known, found = self.estimate_, []
        work = workload(known.ballots, known.bounds, known.gold_sets)
        for part in work.parts():
            tables = [odds.decide(utility) for odds in part.set_odds(known.parameters, known.calibration)]
            found.append(part.truths(part.with_gold(tables)))
        return Truths.joined(found)

    def explain(self, instance: str) -> Explanation:
        """Why this set: prior, every voter's push, what the size bounds changed, runners-up."""
        return explain(self.estimate_, instance)

    def reliability(self) -> list[VoterReport]:
        """Every voter's rates and weight with intervals, and reasons to look closer.

        Near-copies are looked for in a sample of packed ballots, or of more than two million.
        """
        return voter_reports(self.estimate_, self.model_)

    def review(
        self, threshold: float = SURE, *, most: int = 100, limit: int | None = None, seed: int | np.random.Generator = 0
    ) -> list[Doubt]:
        """Instances less sure than `threshold`, most doubtful first; the first `most` with ballots that should settle
        them. With `limit` no more than so many are returned.
        """
        check_threshold(threshold)
        return review(self.estimate_, threshold, most, seed, limit)

    def pick_gold(self, count: int = 20, *, seed: int | np.random.Generator = 0) -> list[str]:
        """Instances to answer oneself, so that confidence can be calibrated; those with gold sets are left out.

        All of them if there are fewer than `count`.

        Instances are sorted by confidence and cut into `count` equal parts, and one is drawn from each at random. So
        all degrees of confidence are seen, and every instance is as likely to be drawn as any other: gold answers need
        no weights.
        """
        confidence, ballots = self.confidence_, self.estimate_.ballots
        assert confidence is not None
        taught = np.array(list(ballots.places(self.estimate_.gold).values()), np.int64)
        order = np.argsort(confidence, kind="stable")
        open_ = order[~np.isin(order, taught)]
        if not isinstance(count, int) or count < 1:
            raise InputError(f"count={count!r} must be a whole number of instances, at least 1")
        if not len(open_):
            raise InputError("every instance has a gold set already; there is none left to choose")
        count = min(count, len(open_))
        edges = np.linspace(0, len(open_), count + 1)
        places = edges[:-1] + np.random.default_rng(seed).random(count) * np.diff(edges)
        return ballots.names_at(open_[places.astype(np.int64)])

    def gold_check(self) -> tuple[Truths, FloatArray]:
        """What the ballots alone say of the gold instances under the rates found, and how sure that is.

        The rates were learnt with these gold sets, so scores from this are optimistic; leave some gold out of the fit
        to judge it.
        """
        known = self.estimate_
        if not known.gold:
            raise InputError("no gold sets were given to fit, so there is nothing to check")
        places = np.array(sorted(known.ballots.places(known.gold).values()), np.int64)
        found, stated = [], []
        for part in known.ballots.parts(places):
            work = InMemoryWorkload(part, known.bounds)
            chosen = work.best_sets(known.parameters, known.calibration)
            found.append(work.truths(chosen))
            stated.append(work.posterior(known.parameters, chosen, known.calibration).set_probabilities)
        return Truths.joined(found), np.concatenate(stated)

    def _one(self, instance: str) -> tuple[SetOdds, tuple[str, ...]]:
        known = self.estimate_
        ballots = known.ballots.select(instances=[instance])
        work = InMemoryWorkload(ballots, known.bounds)
        return work.set_odds(known.parameters, known.calibration)[0], ballots.offered(instance)
