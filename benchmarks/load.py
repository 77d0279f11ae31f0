"""Many simulated participants at once: what the server acknowledged to them, and how long every request took.

They behave like people in a hurry: one ballot in ten is changed later, some questions are skipped, some answered with
none of these, and one answer in twenty is clicked twice.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from examples.crowd.pages import Page
from examples.crowd.participant import Participant
from examples.crowd.people import Ticks, noticing

CHANGED, CLICKED_TWICE, SKIPPED = 0.1, 0.05, 0.03
Ballots = dict[tuple[str, str], frozenset[int]]  # by nickname and what the picture shows


@dataclass
class Load:
    """What happened under load."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # by kind of request
    unanswered: int = 0  # requests during which the server went away
    people: list[Participant] = field(default_factory=list)
    sent: int = 0  # ballots acknowledged, changes and withdrawals among them
    duration: float = 0.0

    def watch(self, kind: str, seconds: float, status: int) -> None:
        """Note one request."""
        if status:
            self.seconds[kind].append(seconds)
        else:
            self.unanswered += 1

    @property
    def requests(self) -> int:
        """How many were answered."""
        return sum(map(len, self.seconds.values()))

    @property
    def acknowledged(self) -> Ballots:
        """The last ballot the server acknowledged, of everyone on every question."""
        return {
            (person.nickname, picture): ticks
            for person in self.people
            for picture, ticks in person.acknowledged.items()
        }


@dataclass(frozen=True)
class Plan:
    """How many people at once, how long each looks at a question, how long each waits for a server that is away."""

    people: int
    pause: float = 0.0
    patience: float = 0.0
    alternatives: int = 6
    seed: int = 1


async def press_for(seconds: float, server: str, plan: Plan) -> Load:
    """Keep so many people busy for so long."""
    enough = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, enough.set)
    return await press(server, plan, enough, Load())


async def press(server: str, plan: Plan, enough: asyncio.Event, load: Load) -> Load:
    """Keep so many people busy until it is enough; whoever finishes is followed by somebody new."""
    began = time.monotonic()
    generators = np.random.default_rng(plan.seed).spawn(plan.people)
    async with asyncio.TaskGroup() as group:
        for seat, rng in enumerate(generators):
            group.create_task(one_seat(server, plan, load, seat, enough, rng))
    load.duration = time.monotonic() - began
    return load


async def one_seat(
    server: str, plan: Plan, load: Load, seat: int, enough: asyncio.Event, rng: np.random.Generator
) -> None:
    """One device at which one person after the other takes part."""
    address = f"127.0.{1 + seat // 250}.{1 + seat % 250}"
    await asyncio.sleep(rng.uniform(0, max(plan.pause, 0.5)))
    for turn in itertools.count(1):
        async with Participant(
            server, f"person {seat}-{turn}", address=address, patience=plan.patience, watch=load.watch
        ) as person:
            load.people.append(person)
            await one_person(person, plan, load, enough, rng)
            if enough.is_set():
                return


async def one_person(
    person: Participant, plan: Plan, load: Load, enough: asyncio.Event, rng: np.random.Generator
) -> None:
    """From joining to finishing, or until it is enough."""
    page = await person.join()
    while page.address.startswith("/question/"):
        if enough.is_set():
            return
        await person.look(page)
        await asyncio.sleep(rng.exponential(plan.pause))
        page = await answer(person, page, load, plan, rng)
        if rng.random() < CHANGED and page.address.startswith("/question/"):
            last = int(page.address.rsplit("/", 1)[1])
            page = await answer(person, await person.question(int(rng.integers(1, last + 1))), load, plan, rng)
    await person.finish()


async def answer(person: Participant, page: Page, load: Load, plan: Plan, rng: np.random.Generator) -> Page:
    """Answer at random, now and then with a double click."""
    ticks = some_ticks(plan.alternatives, rng)
    clicks = 2 if rng.random() < CLICKED_TWICE else 1
    after = await asyncio.gather(*(person.answer(page, ticks) for _ in range(clicks)))
    load.sent += 1
    return after[-1]


def some_ticks(alternatives: int, rng: np.random.Generator) -> Ticks:
    """About a third of the alternatives, sometimes none, sometimes no answer."""
    return noticing(0.3, 0.3, skip=SKIPPED)(frozenset(), alternatives, rng)


def differences(acknowledged: Ballots, kept: list[tuple[str, str, frozenset[int]]]) -> list[str]:
    """Where what was acknowledged and what is kept differ: nothing, if every ballot is there exactly once."""
    counted: dict[tuple[str, str], list[frozenset[int]]] = defaultdict(list)
    for nickname, picture, ticks in kept:
        counted[nickname, picture].append(ticks)
    found = []
    for place in sorted(acknowledged.keys() | counted.keys()):
        told = [acknowledged[place]] if place in acknowledged else []
        if counted[place] != told:
            found.append(f"{' on '.join(place)}: acknowledged {shown(told)}, kept {shown(counted[place])}")
    return found


def shown(ballots: list[frozenset[int]]) -> str:
    """Ballots as a person reads them."""
    return " and ".join(str(sorted(ticks)) for ticks in ballots) or "nothing"
