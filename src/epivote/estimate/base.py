"""What all estimators share: parameters as in scikit-learn, ballots or dataframes in, results by name."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import Estimate, Status, VoterCounts
from epivote.data.names import FloatArray, suggestion
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.errors import InputError, NotFittedError
from epivote.estimate.history import History
from epivote.estimate.task import Chosen, Gold, Task
from epivote.model.statistics import Statistics


class Estimator(ABC):
    """Base of all estimators: the constructor only stores, `fit` returns self, what was found ends in `_`."""

    _estimate: Estimate | None = None
    _frame_kind: Any = "polars"

    def fit(self, ballots: Ballots | Any, gold: Gold | None = None, history: History | None = None) -> Self:
        """Estimate from ballots, or from a dataframe with one ballot per row (`Ballots.from_frame`).

        `gold` gives the right sets of some instances: they are kept as they are and teach voters and priors.
        `history` gives earlier counts of some voters, as `voter_history_` returns them.
        If it is interrupted (KeyboardInterrupt), what was reached so far is kept in `estimate_`, labelled so.
        """
        ballots = self._as_ballots(ballots)
        self._estimate = self._run(ballots, gold, history)
        if self._estimate.status == "interrupted":
            raise KeyboardInterrupt
        return self

    def fit_predict(self, ballots: Ballots | Any, gold: Gold | None = None, history: History | None = None) -> Truths:
        """The estimated sets."""
        return self.fit(ballots, gold, history).truth_

    @abstractmethod
    def _run(self, ballots: Ballots, gold: Gold | None, history: History | None) -> Estimate:
        """The work of `fit`."""

    def _as_ballots(self, ballots: Ballots | Any) -> Ballots:
        if isinstance(ballots, Ballots):
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
    def confidence_(self) -> FloatArray | None:
        """Probability that each returned set is exactly right, in the order of the instances; None without rates."""
        posterior = self.estimate_.posterior
        return None if posterior is None else posterior.set_probabilities

    @property
    def log_likelihoods_(self) -> tuple[float, ...]:
        """The objective after every iteration."""
        return self.estimate_.log_likelihoods

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
        shown = [f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(usual[name])]
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


class RatedEstimator(Estimator):
    """An estimator that knows rates, and so can answer for new ballots and say how sure it is."""

    bounds: Any

    def predict(self, ballots: Ballots | Any) -> Truths:
        """The most likely sets for other ballots, with the rates found in `fit`.

        A voter or alternative that `fit` has not seen gets the crowd's rate: the mean over those it has seen.
        """
        known = self.estimate_
        ballots = ballots if isinstance(ballots, Ballots) else Ballots.from_frame(ballots)
        task = Task(ballots, SizeBounds.of(self.bounds))
        rates = known.parameters
        parameters = Parameters(
            _look_up(ballots.voters, known.ballots.voters, rates.hit_rates),
            _look_up(ballots.voters, known.ballots.voters, rates.false_alarm_rates),
            _look_up(ballots.alternatives, known.ballots.alternatives, rates.priors),
        )
        return task.truths(task.truth_step(parameters))


def rated_estimate(
    task: Task,
    chosen: Chosen,
    parameters: Parameters,
    statistics: Statistics,
    log_likelihoods: tuple[float, ...],
    status: Status,
    *earlier: tuple[Parameters, Chosen],
) -> Estimate:
    """An estimate whose posterior and ties (those of `earlier` steps too) are worked out when first asked for."""
    return Estimate(
        task.ballots,
        task.bounds,
        task.truths(chosen),
        parameters,
        voter_counts(statistics),
        log_likelihoods,
        status,
        frozenset(task.gold),
        partial(task.posterior, parameters, chosen),
        partial(task.ties, (parameters, chosen), *earlier),
    )


def voter_counts(statistics: Statistics) -> VoterCounts:
    """The part of the statistics that is about voters."""
    return VoterCounts(statistics.hits, statistics.winners_seen, statistics.false_alarms, statistics.losers_seen)


def _look_up(names: tuple[str, ...], known: tuple[str, ...], values: FloatArray) -> FloatArray:
    by_name = dict(zip(known, values.tolist(), strict=True))
    return np.array([by_name.get(name, float(values.mean())) for name in names])
