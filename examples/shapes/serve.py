"""Serves the quiz of hidden shapes, and lets simulated participants fill it in: `python -m examples.shapes.serve`.

Run by `make quiz`, or `make quiz BOTS=40`. Every start begins with an empty database, named by its time, under
build/quiz; `--database` names another one.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime

import numpy as np

from examples.crowd.pages import Page
from examples.crowd.participant import Participant, take_part
from examples.crowd.people import Answer, Ticks, crowd
from examples.crowd.served import NotServedError, Served, serving

from .answers import HERE, QUIZ, answers
from .draw import SHAPES

BUILD = HERE.parent.parent / "build" / "quiz"


def main() -> None:
    """Serve until interrupted."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bots", type=int, default=0, help="how many simulated participants fill it in")
    arguments.add_argument("--pace", type=float, default=1.5, help="seconds a bot looks at a question, on average")
    arguments.add_argument("--seed", type=int, default=1, help="of the bots")
    arguments.add_argument("--database", help="instead of a new one")
    arguments.add_argument("--host", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    told = arguments.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    database = told.database or f"sqlite:///{BUILD / f'shapes-{datetime.datetime.now():%Y%m%d-%H%M%S}.db'}"
    options = ["--database", database, "--host", told.host, "--port", str(told.port)]
    try:
        with serving(QUIZ, *options, log=BUILD / "log") as served:
            print(
                f"Participants: {served.participants}\nOrganiser:    {served.organiser}\nStop with Ctrl-C.", flush=True
            )
            if told.bots:
                asyncio.run(fill_in(served, told.bots, told.pace, np.random.default_rng(told.seed)))
                print(f"{told.bots} simulated participants have answered.", flush=True)
            served.process.wait()
    except NotServedError as problem:
        raise SystemExit(str(problem)) from None
    except KeyboardInterrupt:
        print()


async def fill_in(served: Served, bots: int, pace: float, rng: np.random.Generator) -> list[Participant]:
    """Let so many simulated people of mixed skill take part, a little after one another."""
    people = zip(crowd(bots, rng), rng.spawn(bots), strict=True)
    return await asyncio.gather(
        *(fill_in_one(served, number, *person, pace, own) for number, (person, own) in enumerate(people))
    )


async def fill_in_one(
    served: Served, number: int, nickname: str, answer: Answer, pace: float, rng: np.random.Generator
) -> Participant:
    """One simulated person; each comes from an address of this machine of its own, as devices do."""
    truths = answers()

    await asyncio.sleep(rng.uniform(0, 8 * pace))
    address = f"127.0.{1 + number // 250}.{1 + number % 250}"
    async with Participant(served.address, nickname, address=address) as participant:

        async def decide(page: Page) -> Ticks:
            await asyncio.sleep(rng.gamma(2.0, pace / 2))
            return answer(truths[await participant.instance(page)], len(SHAPES), rng)

        await take_part(participant, decide)
    return participant


if __name__ == "__main__":
    main()
