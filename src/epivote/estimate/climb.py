"""The one loop of all estimators that iterate: a step is repeated until it changes nothing any more.

A step is a function from a `State` to the next one. What surrounds it is written here and nowhere else: the checkpoint,
the progress that is told, the interruption that keeps what was reached, and what "converged" means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from epivote.data.estimate import Status
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters
from epivote.estimate.ahead import Ahead
from epivote.estimate.checkpoint import Checkpoint, SavedRun, as_arrays, parameters_in
from epivote.model.pseudo import GroupBelief, PseudoCounts
from epivote.model.statistics import Statistics

Progress = Callable[[int, float], None]
"""Is told the number of every iteration and the objective after it."""


@dataclass(frozen=True)
class State:
    """Where a run has got to.

    `statistics` were counted under `previous`, and `parameters` are the most likely ones given them and what is
    `believed`. The `objectives` are those since what is believed has settled, which took `settling` iterations; of the
    last one `belief` is what is believed, the rest is the log-likelihood. The next iteration starts at `parameters`,
    or `ahead` of them.
    """

    first: Parameters
    parameters: Parameters
    believed: PseudoCounts
    settled: bool = True
    previous: Parameters | None = None
    statistics: Statistics | None = None
    objectives: tuple[float, ...] = ()
    belief: float = 0.0
    settling: int = 0
    ahead: Ahead | None = None
    status: Status = "iteration limit"

    @classmethod
    def at(cls, start: Parameters, believed: PseudoCounts, *, settled: bool = True) -> State:
        """Before the first iteration."""
        return cls(start, start, believed, settled)

    @classmethod
    def known(cls, parameters: Parameters, statistics: Statistics, objective: float) -> State:
        """Where nothing is to be found by iterating."""
        believed = PseudoCounts.none(len(parameters.hit_rates))
        at = cls.at(parameters, believed)
        return replace(at, previous=parameters, statistics=statistics, objectives=(objective,), status="converged")

    @property
    def n_iterations(self) -> int:
        """How many iterations were made."""
        return self.settling + len(self.objectives)

    @property
    def log_likelihood(self) -> float:
        """Of the ballots alone, under the parameters before the last iteration."""
        return self.objectives[-1] - self.belief

    def moved(
        self, parameters: Parameters, statistics: Statistics, log_likelihood: float, belief: float, tolerance: float
    ) -> State:
        """One iteration later; converged if no rate and no prior changed by more than the tolerance."""
        converged = self.settled and parameters.distance(self.parameters) <= tolerance
        return State(
            first=self.first,
            parameters=parameters,
            believed=self.believed,
            settled=self.settled,
            previous=self.parameters,
            statistics=statistics,
            objectives=(*self.objectives, log_likelihood + belief),
            belief=belief,
            settling=self.settling,
            ahead=self.ahead,
            status="converged" if converged else "iteration limit",
        )


Step = Callable[[State], State]
Count = Callable[[Parameters], Statistics]


@dataclass(frozen=True)
class Run:
    """A run in a checkpoint, and who is told how far it is."""

    checkpoint: Checkpoint
    name: str
    progress: Progress

    @property
    def is_kept(self) -> bool:
        """Whether an earlier fit has got somewhere."""
        return self.checkpoint.get(self.name) is not None

    def resumed(self, start: State, count: Count) -> State:
        """Where the run had got to, with what was `count`ed there; else where it starts."""
        kept = self.checkpoint.get(self.name)
        if kept is None:
            return start
        first, previous, parameters = (parameters_in(kept, name) for name in ("first", "previous", "current"))
        settling, settled, converged = kept["progress"].astype(int).tolist()
        return State(
            first=first,
            parameters=parameters,
            believed=_believed(kept),
            settled=bool(settled),
            previous=previous,
            statistics=count(previous),
            objectives=tuple(kept["objectives"].tolist()),
            belief=float(kept["belief"][0]),
            settling=settling,
            ahead=_ahead(kept),
            status="converged" if converged else "iteration limit",
        )

    def reached(self, state: State) -> None:
        """Keep the state, then say so."""
        if self.checkpoint.path is not None:
            self.checkpoint.put(self.name, **_kept(state))
        self.progress(state.n_iterations, state.objectives[-1])


def _kept(state: State) -> dict[str, FloatArray]:
    """A state as arrays."""
    assert state.previous is not None
    kept: dict[str, FloatArray] = {}
    for name, parameters in (("first", state.first), ("previous", state.previous), ("current", state.parameters)):
        kept |= as_arrays(name, parameters)
    believed = state.believed
    kept["believed"] = np.concatenate([believed.hits, believed.misses, believed.false_alarms, believed.rejections])
    kept["believed_priors"] = np.array([believed.prior_in, believed.prior_out])
    if believed.groups is not None:
        kept["believed_groups"] = np.concatenate([[believed.groups.weight], believed.groups.priors])
    kept["objectives"] = np.array(state.objectives)
    kept["belief"] = np.array([state.belief])
    if state.ahead is not None:
        kept |= as_arrays("ahead", state.ahead.start)
        kept |= {"ahead_starts": state.ahead.starts, "ahead_results": state.ahead.results}
    kept["progress"] = np.array([state.settling, state.settled, state.status == "converged"], float)
    return kept


def _believed(kept: SavedRun) -> PseudoCounts:
    believed = PseudoCounts(*kept["believed"].reshape(4, -1), *kept["believed_priors"].tolist())
    if "believed_groups" not in kept:
        return believed
    weight, *priors = kept["believed_groups"].tolist()
    return replace(believed, groups=GroupBelief(np.array(priors), weight))


def _ahead(kept: SavedRun) -> Ahead | None:
    if "ahead_starts" not in kept:
        return None
    return Ahead(parameters_in(kept, "ahead"), kept["ahead_starts"], kept["ahead_results"])


def climb(state: State, step: Step, limit: int) -> Iterator[State]:
    """The states after every iteration, until nothing changes or `limit` iterations are made."""
    while state.status != "converged" and state.n_iterations < limit:
        state = step(state)
        yield state


def top(state: State, step: Step, limit: int, run: Run | None = None) -> State:
    """The last state; where a run is interrupted after its first iteration, the one it had reached."""
    try:
        for reached in climb(state, step, limit):
            state = reached
            if run is not None:
                run.reached(state)
    except KeyboardInterrupt:
        if state.statistics is None:
            raise
        return replace(state, status="interrupted")
    return state
