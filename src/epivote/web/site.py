"""What all views share: the task, its store, and what keeps them safe and up to date."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from epivote.web.estimation.runner import Estimation
from epivote.web.health import Health
from epivote.web.notifying import Notifier
from epivote.web.questions import settled
from epivote.web.security.limits import Limiter, Limits
from epivote.web.security.signing import Signer, new_visit, same_secret
from epivote.web.store import Secrets, Store
from epivote.web.store.credentials import credential_of, whose_secret
from epivote.web.task import Instance, Task

Gate = Literal["open", "early", "over", "closed"]


@dataclass(frozen=True)
class Settings:
    """What can be set when an app is made."""

    limits: Limits = field(default_factory=Limits)
    estimate_every: float = 1.0
    """Seconds between two looks at whether ballots have changed."""
    root: str = ""
    """The path of the public address, without a slash at its end: `/quiz1` for `https://host/quiz1/`."""
    notifier: Notifier = field(default_factory=Notifier)
    """Tells other programs who has handed in."""
    is_preview: bool = False
    """Whether the task is only tried out, which every page then says."""


def signer_of(secrets: Secrets) -> Signer:
    """Signs cookies, forms and codes of a database."""
    return Signer(secrets.cookies)


@dataclass(frozen=True)
class Site:
    """One task being served."""

    task: Task
    store: Store
    secrets: Secrets
    estimation: Estimation
    settings: Settings = field(default_factory=Settings)
    limiter: Limiter = field(default_factory=Limiter)
    started: str = field(default_factory=new_visit)
    """Differs from one start of the server to the next, before which the task may have been changed."""

    @cached_property
    def health(self) -> Health:
        """Whether ballots can be stored."""
        return Health(self.store)

    @cached_property
    def signer(self) -> Signer:
        """Signs cookies and forms."""
        return signer_of(self.secrets)

    @property
    def root(self) -> str:
        """What stands before every address on pages."""
        return self.settings.root

    def cookie(self, kind: str) -> str:
        """The name of a cookie; other tasks on the same host have others, for browsers ignore ports."""
        return self.signer.cookie_name(kind)

    def picture(self, path: str) -> str:
        """Where a file of the task is served: its own name might give the answer away."""
        return f"{self.root}/picture/{self.signer.file_key(path)}"

    @cached_property
    def pictures(self) -> dict[str, str]:
        """The files of the task by the last part of their addresses."""
        return {self.signer.file_key(path): path for path in self.task.media}

    @cached_property
    def questions(self) -> dict[str, Instance]:
        """Instances by what stands for them in forms, since a name might give the answer away."""
        return {self.signer.token("question", each.name)[:32]: each for each in self.task.instances}

    @property
    def organiser_secret(self) -> str:
        """The organiser's secret, which may be replaced while the task is served."""
        return self.store.secret("organiser")

    @property
    def interface_key(self) -> str:
        """The key of the JSON interface, likewise."""
        return self.store.secret("interface")

    @property
    def organiser_pass(self) -> str:
        """What the organiser's cookie says: made from the secret, which cannot be read from it."""
        return self.signer.token("organiser", self.organiser_secret)

    def pass_for(self, secret: str) -> str | None:
        """What the cookie of an organiser says who gave a secret; nothing if it is a wrong one."""
        if same_secret(secret, self.organiser_secret):
            return self.organiser_pass
        found = whose_secret(self.store.database, "organiser", secret)
        return None if found is None else self._named_pass(*found)

    def organiser_of(self, given: str) -> str | None:
        """The name of the organiser whose pass it is, empty for the first one; nothing if it is worth nothing now."""
        if same_secret(given, self.organiser_pass):
            return ""
        mark, _, name = given.partition(" ")
        found = credential_of(self.store.database, "organiser", name) if mark and name else None
        return name if found is not None and same_secret(given, self._named_pass(*found)) else None

    def _named_pass(self, name: str, secret_hash: str) -> str:
        return f"{self.signer.token('named organiser', secret_hash)} {name}"

    def gate(self, *, is_closed: bool) -> Gate:
        """Whether answers are taken now, and if not, why."""
        moment = datetime.now(UTC)
        if self.task.is_early(moment):
            return "early"
        if self.task.is_over(moment):
            return "over"
        return "closed" if is_closed else "open"

    def settled(self, voter: int | None = None) -> frozenset[str]:
        """Instances that need no more ballots; for a voter, others may be looking at the last ones."""
        most = self.task.most_ballots
        counts = {} if most is None else self.store.taken(most, voter)
        return settled(self.task, self.estimation.live, counts)

    def settled_alike(self) -> frozenset[str]:
        """Instances that need no more ballots, as programs are told: gold ones must not differ from the others.

        A gold set is sure from the start, so with gold in the task only numbers of ballots count.
        """
        if not self.task.gold:
            return self.settled()
        most = self.task.most_ballots
        return frozenset() if most is None else frozenset(self.store.taken(most))

    def most_ballots(self, instance: Instance) -> int | None:
        """How many people may answer an instance; gold questions are asked of everybody."""
        return None if instance.gold is not None else self.task.most_ballots
