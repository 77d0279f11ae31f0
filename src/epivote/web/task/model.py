"""A task as frozen values."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

from epivote import SURE, SizeBounds
from epivote.web.languages import CODES

Order = Literal["shuffled", "doubtful"]
Join = Literal["nickname", "invitation"]
LiveMethod = Literal["em", "amle", "auto"]


@dataclass(frozen=True)
class Alternative:
    """One thing that can be ticked."""

    name: str
    help: str = ""
    picture: str = ""
    picture_text: str = ""

    @cached_property
    def key(self) -> str:
        """What stands for it in forms: it depends on its name only, not on its place among the others."""
        return sha256(self.name.encode()).hexdigest()[:16]

    def told(self) -> list[str]:
        """All that participants see of it."""
        return [str(getattr(self, each.name)) for each in fields(self)]


@dataclass(frozen=True)
class Instance:
    """One question; `offered` are the alternatives to tick from, `gold` the right ones where they are known."""

    name: str
    offered: tuple[Alternative, ...]
    size: SizeBounds
    text: str = ""
    picture: str = ""
    picture_text: str = ""
    audio: str = ""
    video: str = ""
    link: str = ""
    gold: frozenset[str] | None = None

    @cached_property
    def menu(self) -> tuple[str, ...]:
        """The names of what is offered."""
        return tuple(alternative.name for alternative in self.offered)

    @cached_property
    def version(self) -> str:
        """Another one whenever what is asked has changed; neither gold nor the order of the alternatives counts."""
        own = [str(getattr(self, each.name)) for each in fields(self) if each.name not in ("offered", "gold")]
        offered = sorted(alternative.told() for alternative in self.offered)
        return sha256(json.dumps([own, offered]).encode()).hexdigest()


@dataclass(frozen=True)
class Task:
    """All that an organiser said; paths of pictures, sounds and videos are relative to `folder`."""

    title: str
    folder: Path
    size: SizeBounds
    alternatives: tuple[Alternative, ...]
    instances: tuple[Instance, ...]
    instructions: str = ""
    privacy: str = ""
    consent: str = ""
    theme_colour: str = ""
    logo: str = ""
    participant_parameter: str = ""
    completion_code: str = ""
    completion_link: str = ""
    database: str = ""
    show_size: bool = True
    shuffle_alternatives: bool = False
    order: Order = "shuffled"
    most_ballots: int | None = None
    confidence: float | None = None
    ranking: bool = False
    join: Join = "nickname"
    opens: datetime | None = None
    closes: datetime | None = None
    languages: tuple[str, ...] = CODES
    method: LiveMethod = "em"

    @property
    def threshold(self) -> float:
        """Confidence from which a set counts as sure: as the organiser said, or as everywhere else."""
        return self.confidence or SURE

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the instances."""
        return tuple(self.by_name)

    @cached_property
    def by_name(self) -> dict[str, Instance]:
        """Instances by their names."""
        return {instance.name: instance for instance in self.instances}

    @cached_property
    def gold(self) -> dict[str, frozenset[str]]:
        """The right sets that are known."""
        return {each.name: each.gold for each in self.instances if each.gold is not None}

    @cached_property
    def menus(self) -> dict[str, tuple[str, ...]] | None:
        """What is offered where, if that differs."""
        everything = tuple(alternative.name for alternative in self.alternatives)
        menus = {instance.name: instance.menu for instance in self.instances}
        return None if all(menu == everything for menu in menus.values()) else menus

    @cached_property
    def bounds(self) -> SizeBounds:
        """How many alternatives are right, for all instances and for those that differ."""
        own = {each.name: (each.size.lower, each.size.upper) for each in self.instances if each.size != self.size}
        return SizeBounds(self.size.lower, self.size.upper, own)

    @cached_property
    def media(self) -> frozenset[str]:
        """Every picture, sound and video the task names."""
        named = [self.logo, *(each.picture for each in self.alternatives)]
        named += [path for each in self.instances for path in (each.picture, each.audio, each.video)]
        return frozenset(path for path in named if path)

    def in_order(self, names: Collection[str]) -> tuple[str, ...]:
        """Names of alternatives in the order of the task."""
        return tuple(each.name for each in self.alternatives if each.name in names)

    def is_early(self, now: datetime) -> bool:
        """Whether it has not opened yet."""
        return self.opens is not None and now < self.opens

    def is_over(self, now: datetime) -> bool:
        """Whether its closing time has passed."""
        return self.closes is not None and now >= self.closes
