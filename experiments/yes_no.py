"""Ballots as yes/no questions, one per instance and offered alternative: the form in which other tools can read them.

An approval is a yes, an offered alternative that was left unticked a no. Alternatives that were not offered and ballots
that were not cast are no answers at all. An empty ballot is a no to every offered alternative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from epivote import Ballots

Bounds = tuple[int, int | None]


@dataclass(frozen=True)
class Questions:
    """All questions of some ballots, instance by instance, and one entry of the three arrays for every answer."""

    instances: tuple[str, ...]
    start: npt.NDArray[np.int64]
    """Instance z asks the questions start[z] to start[z + 1]."""
    alternatives: tuple[str, ...]
    """The alternative that each question is about."""
    n_voters: int
    voter: npt.NDArray[np.int64]
    question: npt.NDArray[np.int64]
    yes: npt.NDArray[np.int64]
    """1 for an approval, else 0."""

    @property
    def table(self) -> npt.NDArray[np.float64]:
        """A row per question, a column per voter, NaN where there is no answer."""
        cells = np.full((len(self.alternatives), self.n_voters), np.nan)
        cells[self.question, self.voter] = self.yes
        return cells

    @property
    def frame(self) -> Any:
        """A pandas dataframe with columns worker, task and label, a row per answer."""
        import pandas as pd

        return pd.DataFrame({"worker": self.voter, "task": self.question, "label": self.yes})

    def only(self, kept: npt.NDArray[np.bool_]) -> Questions:
        """The questions marked in `kept`, as if nothing else had been asked; voters keep their numbers."""
        number = np.cumsum(kept) - 1
        answers = kept[self.question]
        return Questions(
            self.instances,
            np.concatenate([[0], np.cumsum(kept)])[self.start],
            tuple(name for name, keep in zip(self.alternatives, kept, strict=True) if keep),
            self.n_voters,
            self.voter[answers],
            number[self.question[answers]],
            self.yes[answers],
        )


class Answers(NamedTuple):
    """What a tool says: yes or no to every question and, if it states one, the probability of yes."""

    yes: npt.NDArray[np.bool_]
    probability: npt.NDArray[np.float64] | None


Tool = Callable[[Questions], Answers]


def questions_of(ballots: Ballots) -> Questions:
    """The questions that the ballots answer."""
    menus = [tuple(ballots.offered(instance)) for instance in ballots.instances]
    start = np.concatenate([[0], np.cumsum([len(menu) for menu in menus])])
    numbers = dict(zip(ballots.voters, range(ballots.n_voters), strict=True))
    voter, question, yes = list[int](), list[int](), list[bool]()
    for (name, instance), approved in ballots.items():
        place = ballots.instance_index[instance]
        voter += [numbers[name]] * len(menus[place])
        question += range(start[place], start[place + 1])
        yes += [alternative in approved for alternative in menus[place]]
    asked = tuple(alternative for menu in menus for alternative in menu)
    return Questions(
        ballots.instances, start, asked, ballots.n_voters, np.array(voter), np.array(question), np.array(yes, np.int64)
    )


def per_label(tool: Tool) -> Tool:
    """The same tool on the questions about one alternative at a time, as if each were a task of its own."""

    def fit(questions: Questions) -> Answers:
        about = np.array(questions.alternatives)
        yes = np.zeros(len(about), bool)
        probability = np.full(len(about), np.nan)
        for alternative in dict.fromkeys(questions.alternatives):
            kept = about == alternative
            found = tool(questions.only(kept))
            yes[kept] = found.yes
            if found.probability is not None:
                probability[kept] = found.probability
        return Answers(yes, None if np.isnan(probability).any() else probability)

    return fit


def sets_of(questions: Questions, yes: npt.NDArray[np.bool_]) -> dict[str, frozenset[str]]:
    """For every instance the alternatives that are answered yes."""
    return {
        instance: frozenset(questions.alternatives[number] for number in range(begin, end) if yes[number])
        for instance, (begin, end) in zip(questions.instances, pairwise(questions.start), strict=True)
    }


def confidence_of(
    questions: Questions, yes: npt.NDArray[np.bool_], probability: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """For every instance the probability that all its answers are right, if questions are independent of each other."""
    each = np.where(yes, probability, 1 - probability)
    return np.array([each[begin:end].prod() for begin, end in pairwise(questions.start)])


def within_bounds(questions: Questions, probability: npt.NDArray[np.float64], bounds: Bounds) -> npt.NDArray[np.bool_]:
    """The answers of the most probable set whose size lies in the bounds, for every instance."""
    lower, upper = bounds
    yes = np.zeros(len(probability), bool)
    for begin, end in pairwise(questions.start):
        likely = np.argsort(-probability[begin:end], kind="stable")
        more_likely_than_not = int((probability[begin:end] > 0.5).sum())
        size = min(max(more_likely_than_not, lower), end - begin if upper is None else upper)
        yes[begin + likely[:size]] = True
    return yes
