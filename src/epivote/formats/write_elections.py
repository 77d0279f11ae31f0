"""Election files, one instance each: abcvoting's `.abc.yaml` and PrefLib's `.cat`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from epivote.atomic import Write
from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.errors import FileError
from epivote.formats.elections import ABC


def election_files(ballots: AnyBallots, path: Path, kind: Literal["abcvoting", "preflib"]) -> dict[Path, Write]:
    """The file for the only instance, or one for each in a folder of that name, to be written in this order."""
    ending, text = (ABC, _abcvoting) if kind == "abcvoting" else (".cat", _preflib)
    if path.name.endswith(ending) and ballots.n_instances > 1:
        raise FileError(
            f"{path.name} holds one instance, but there are {ballots.n_instances:,}; name a folder for one file each"
        )
    files: dict[Path, Write] = {}
    texts = (text(one, one.instances[0]) for part in ballots.parts() for one in _one_by_one(part))
    for instance in ballots.instances:
        name = "".join(letter if letter.isalnum() or letter in " ._-" else "_" for letter in instance)
        target = path if path.name.endswith(ending) else path / f"{name}{ending}"
        if target in files:
            raise FileError(f"two instances would both be written to {target.name}; rename one of {instance!r}")
        files[target] = lambda place: place.write_text(next(texts), encoding="utf-8", newline="\n")
    return files


def _one_by_one(ballots: Ballots) -> Iterator[Ballots]:
    return (ballots.rows(np.array([z])) for z in range(ballots.n_instances))


def _numbered(ballots: Ballots, instance: str) -> tuple[tuple[str, ...], list[tuple[str, list[int]]]]:
    """What was offered on an instance, and who ticked which of it by number from 0."""
    offered = ballots.offered(instance)
    number = {name: c for c, name in enumerate(offered)}
    return offered, [(voter, sorted(number[name] for name in ticks)) for (voter, _), ticks in ballots.items()]


def _abcvoting(ballots: Ballots, instance: str) -> str:
    offered, cast = _numbered(ballots, instance)
    lines = [f"# candidate {c}: {json.dumps(name)}" for c, name in enumerate(offered)]
    lines += [f"# voter {position}: {json.dumps(voter)}" for position, (voter, _) in enumerate(cast)]
    lines += [
        f"# instance: {json.dumps(instance)}",
        f"description: {json.dumps(instance)}",
        f"profile: {[ticks for _, ticks in cast]}",
    ]
    times = ballots.ballot_multiplicities
    lines += [] if times is None else [f"voter_weights: {times.tolist()}"]
    return "\n".join([*lines, f"num_cand: {len(offered)}"]) + "\n"


def _preflib(ballots: Ballots, instance: str) -> str:
    offered, cast = _numbered(ballots, instance)
    for name in (instance, *offered):
        if name != name.strip() or len(name.splitlines()) > 1:
            raise FileError(
                f"{name!r} has line breaks or spaces around it, which a PrefLib file cannot hold; rename it"
            )
    merged: Counter[tuple[int, ...]] = Counter()
    for (_, ticks), times in zip(cast, _times(ballots), strict=True):
        merged[tuple(ticks)] += times
    header = {
        "FILE NAME": f"{instance}.cat",
        "TITLE": instance,
        "DESCRIPTION": "",
        "DATA TYPE": "cat",
        "MODIFICATION TYPE": "original",
        "RELATES TO": "",
        "RELATED FILES": "",
        "PUBLICATION DATE": "",
        "MODIFICATION DATE": "",
        "NUMBER ALTERNATIVES": len(offered),
        "NUMBER VOTERS": merged.total(),
        "NUMBER UNIQUE PREFERENCES": len(merged),
        "NUMBER CATEGORIES": 2,
        "CATEGORY NAME 1": "Approved",
        "CATEGORY NAME 2": "Not approved",
        **{f"ALTERNATIVE NAME {c}": name for c, name in enumerate(offered, start=1)},
    }
    lines = [f"# {key}: {value}" for key, value in header.items()]
    for members, times in merged.most_common():
        rest = [c for c in range(len(offered)) if c not in members]
        lines.append(f"{times}: {_category(members)}, {_category(rest)}")
    return "\n".join(lines) + "\n"


def _times(ballots: Ballots) -> list[int]:
    """How many voters cast each ballot."""
    times = ballots.ballot_multiplicities
    return [1] * ballots.n_ballots if times is None else times.tolist()


def _category(members: Iterable[int]) -> str:
    """A category as PrefLib writes it: one member bare, several or none in braces, counted from 1."""
    numbers = [str(c + 1) for c in members]
    return numbers[0] if len(numbers) == 1 else "{" + ", ".join(numbers) + "}"
