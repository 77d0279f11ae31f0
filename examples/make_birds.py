"""Makes the bird quiz of `epivote demo`: birds.csv and birds-gold.csv beside this file and in the package, seed 2022.

Twenty-four pictures, each with one or two of five birds. Eight people know birds well, fourteen guess, two tick every
bird on every picture, and about one ballot in ten is missing. Everything is drawn by `epivote.simulate`; nobody was
asked. The mix of people was settled on after trying harder ones, so that a demonstration shows the method at work: it
is an easy case, and docs/explanation/methods.md has averages over many crowds.
"""

from pathlib import Path

import numpy as np

from epivote import Ballots, Truths, simulate, write_ballots, write_truths

SEED = 2022
BIRDS = ["blackbird", "robin", "sparrow", "starling", "wren"]
PICTURES = 24


def make(folder: Path) -> None:
    """Write both files into a folder."""
    rng = np.random.default_rng(SEED)
    kinds = {
        "expert": (rng.uniform(0.7, 0.9, 8), rng.uniform(0.02, 0.1, 8)),
        "guesser": (rng.uniform(0.35, 0.6, 14), rng.uniform(0.3, 0.55, 14)),
        "everything": (np.full(2, 0.999999), np.full(2, 0.999999)),
    }
    drawn = simulate(
        instances=PICTURES,
        voters=sum(len(hits) for hits, _ in kinds.values()),
        alternatives=BIRDS,
        bounds=(1, 2),
        hit_rates=np.concatenate([hits for hits, _ in kinds.values()]),
        false_alarm_rates=np.concatenate([alarms for _, alarms in kinds.values()]),
        priors=0.3,
        coverage=0.9,
        seed=rng,
    )
    names = [f"{kind}-{number}" for kind, (hits, _) in kinds.items() for number in range(1, len(hits) + 1)]
    voters = dict(zip(drawn.ballots.voters, names, strict=True))
    pictures = {f"i{z}": f"picture {z}" for z in range(1, PICTURES + 1)}
    renamed = {(voters[v], pictures[z]): ticks for (v, z), ticks in drawn.ballots.items()}
    write_ballots(Ballots.from_mapping(renamed, alternatives=BIRDS), folder / "birds.csv")
    gold = Truths.from_mapping({pictures[z]: birds for z, birds in drawn.gold.items()}, alternatives=BIRDS)
    write_truths(gold, folder / "birds-gold.csv")


if __name__ == "__main__":
    here = Path(__file__).parent
    make(here)
    make(here.parent / "src" / "epivote" / "cli" / "demo_quiz")
