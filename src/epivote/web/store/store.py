"""Every question and every change, each one transaction."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from epivote.web.store.counters import Stamp, count_change, count_departure, stamp_of
from epivote.web.store.database import Database
from epivote.web.store.details import NO_DETAILS, Details, add_details
from epivote.web.store.names import name_key
from epivote.web.store.rows import BallotRow, NameTakenError, NotOpenError, Secrets, Voter
from epivote.web.store.slots import give_back, hold, is_free, is_held, taken
from epivote.web.store.tables import ASKED, BALLOTS, COUNTS, SETTINGS, SKIPS, SLOTS, VOTERS

CLOSED = "closed"
ADDRESS = "address"
TRIED = "tried"
TRIAL = 16_384  # characters: the few pages that a ballot touches; where they have room, a ballot has


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Sheet:
    """Everything one participant has said, and whether anything more is taken at all."""

    voter: Voter
    ballots: Mapping[str, tuple[str, ...]]
    skips: frozenset[str]
    asked: tuple[str, ...]
    is_closed: bool


@dataclass(frozen=True)
class Participant:
    """One voter as the organiser sees them."""

    name: str
    is_person: bool
    joined_at: int
    finished_at: int | None
    ballots: int


class StoreState(NamedTuple):
    """What pages follow: the stamp of the ballots, how many voters there are and were, how many have finished."""

    stamp: Stamp
    voters: int
    last_voter: int
    finished: int
    is_closed: bool


class Store:
    """What was said, in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._insert: Any = sqlite.insert if database.is_sqlite else postgresql.insert

    # The task as a whole

    def secrets(self) -> Secrets:
        """The secrets of this database; made when first asked for."""
        with self.database.writing() as connection:
            for name in Secrets._fields:
                made = {"name": f"secret {name}", "value": secrets.token_urlsafe(32)}
                connection.execute(self._insert(SETTINGS).values(made).on_conflict_do_nothing())
            return Secrets(*(self._setting(connection, f"secret {name}") or "" for name in Secrets._fields))

    def secret(self, name: str) -> str:
        """One of the secrets, as it is now."""
        with self.database.reading() as connection:
            return self._setting(connection, f"secret {name}") or secrets.token_urlsafe(32)

    def renew_secret(self, name: str) -> str:
        """A new secret instead of the old one, which is worth nothing from now on."""
        made = secrets.token_urlsafe(32)
        self._set(f"secret {name}", made)
        return made

    def is_closed(self) -> bool:
        """Whether the organiser has closed it."""
        with self.database.reading() as connection:
            return self._setting(connection, CLOSED) is not None

    def close_task(self) -> None:
        """Take no more answers."""
        self._set(CLOSED, "yes")

    def open_task(self) -> None:
        """Take answers again."""
        with self.database.writing() as connection:
            connection.execute(delete(SETTINGS).where(SETTINGS.c.name == CLOSED))

    def remember_address(self, address: str) -> None:
        """Keep where the pages were last served."""
        self._set(ADDRESS, address)

    def address(self) -> str | None:
        """Where the pages were last served."""
        with self.database.reading() as connection:
            return self._setting(connection, ADDRESS)

    def try_writing(self, patience: float) -> None:
        """Write more than a ballot takes, to see whether that is possible."""
        with self.database.writing(patience) as connection:
            if not self.database.is_sqlite:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(1000 * patience)}")
            self._put(connection, TRIED, f"{now()} {'.' * TRIAL}")

    # Voters

    def add_person(
        self, connection: Connection, name: str, visit: str, details: Details = NO_DETAILS, *, is_new: bool = False
    ) -> Voter:
        """A new participant; unless it has to be new, the one that the same visit made before (a double click)."""
        row = self._add(connection, name, visit, is_person=True)
        if row is None and is_new:
            raise NameTakenError(name)
        if row is None:
            row = connection.execute(select(VOTERS).where(VOTERS.c.name_key == name_key(name))).first()
            if row is None or not row.is_person or row.visit != visit:
                raise NameTakenError(name)
        add_details(connection, row.id, details)
        return voter_of(row)

    def join(self, name: str, visit: str, details: Details = NO_DETAILS) -> Voter:
        """A new participant, or the one that the same visit made before."""
        with self.database.writing() as connection:
            return self.add_person(connection, name, visit, details)

    def sheet(self, token: str) -> Sheet | None:
        """All that the participant with this token has said."""
        with self.database.reading() as connection:
            row = connection.execute(select(VOTERS).where(VOTERS.c.token == token)).first()
            if row is None:
                return None
            skips = select(SKIPS.c.instance).where(SKIPS.c.voter_id == row.id)
            asked = select(ASKED.c.instance).where(ASKED.c.voter_id == row.id).order_by(ASKED.c.position)
            return Sheet(
                voter_of(row),
                _ballots(connection, row.id),
                frozenset(connection.scalars(skips)),
                tuple(connection.scalars(asked)),
                self._setting(connection, CLOSED) is not None,
            )

    def finish(self, voter: int) -> bool:
        """Let a participant change nothing any more; whether that is new."""
        with self.database.writing() as connection:
            unfinished = (VOTERS.c.id == voter) & VOTERS.c.finished_at.is_(None)
            changed = connection.execute(update(VOTERS).where(unfinished).values(finished_at=now()))
            give_back(connection, voter)
            return bool(changed.rowcount)

    def leave(self, voter: int) -> None:
        """Forget from which visit a participant came, so that nobody after them on the same device goes on as them."""
        with self.database.writing() as connection:
            connection.execute(update(VOTERS).where(VOTERS.c.id == voter).values(visit=""))
            give_back(connection, voter)

    def forget(self, voter: int) -> None:
        """Delete a voter with all ballots."""
        with self.database.writing() as connection:
            self._lock(connection, voter)
            count_departure(connection, voter)
            connection.execute(delete(VOTERS).where(VOTERS.c.id == voter))

    # Ballots

    def answer(self, voter: int, instance: str, ticks: Iterable[str], most: int | None = None) -> None:
        """Keep a ballot, in place of an earlier one; the same ballot again changes nothing.

        With `most` a new ballot is refused where there are as many, counting questions that others look at.
        """
        moment = now()
        with self.database.writing() as connection:
            self._check_open(connection, voter)
            if most is not None:
                self._check_free(connection, voter, instance, most, moment)
                give_back(connection, voter, instance)
            self._keep(connection, voter, instance, ticks, moment)
            connection.execute(delete(SKIPS).where(SKIPS.c.voter_id == voter, SKIPS.c.instance == instance))

    def skip(self, voter: int, instance: str) -> None:
        """Withdraw a ballot, if there is one, and remember that the question was skipped."""
        with self.database.writing() as connection:
            self._check_open(connection, voter)
            self._remove(connection, voter, instance)
            give_back(connection, voter, instance)
            row = {"voter_id": voter, "instance": instance}
            connection.execute(self._insert(SKIPS).values(row).on_conflict_do_nothing())

    def ask(self, voter: int, position: int, instance: str) -> None:
        """Give a participant the next question; a second request at the same time changes nothing."""
        with self.database.writing() as connection:
            row = {"voter_id": voter, "position": position, "instance": instance}
            connection.execute(self._insert(ASKED).values(row).on_conflict_do_nothing())

    def reserve(self, voter: int, instance: str, most: int) -> bool:
        """Keep a slot for a voter who is about to see a question; whether one was free."""
        moment = now()
        own = (SLOTS.c.voter_id == voter) & (SLOTS.c.instance == instance) & is_held(moment, share=0.5)
        with self.database.reading() as connection:
            if connection.scalar(select(SLOTS.c.until).where(own)) is not None:
                return True
        with self.database.writing() as connection:
            if self._lock(connection, voter) is None or not is_free(connection, voter, instance, most, moment):
                return False
            hold(connection, voter, instance, moment)
            return True

    def taken(self, most: int, voter: int | None = None) -> dict[str, int]:
        """Instances with `most` ballots, and how many they have; for a voter, slots of others count as well."""
        complete = select(COUNTS.c.instance, COUNTS.c.ballots).where(COUNTS.c.ballots >= most)
        wanted = complete if voter is None else taken(most, voter, now())
        with self.database.reading() as connection:
            return {row.instance: row[1] for row in connection.execute(wanted)}

    def counts(self) -> dict[str, int]:
        """Ballots per instance that has any."""
        with self.database.reading() as connection:
            counted = select(COUNTS.c.instance, COUNTS.c.ballots).where(COUNTS.c.ballots > 0)
            return {row.instance: row.ballots for row in connection.execute(counted)}

    def state(self) -> StoreState:
        """Something that differs whenever ballots, voters or the gate do; it never goes back to what it was."""
        people = select(func.count(), func.coalesce(func.max(VOTERS.c.id), 0), func.count(VOTERS.c.finished_at))
        with self.database.reading() as connection:
            voters = connection.execute(people).one()
            is_closed = self._setting(connection, CLOSED) is not None
            return StoreState(stamp_of(connection), voters[0], voters[1], voters[2], is_closed)

    def stamp(self) -> Stamp:
        """How many ballots there are, and how often one came, changed or went: it differs whenever they do."""
        with self.database.reading() as connection:
            return stamp_of(connection)

    def snapshot(self) -> tuple[Stamp, list[BallotRow]]:
        """All ballots at one moment, those of the first voter first, and the stamp of that moment."""
        joined = (
            select(VOTERS.c.name, VOTERS.c.is_person, BALLOTS.c.instance, BALLOTS.c.ticks, BALLOTS.c.cast_at)
            .join(BALLOTS, BALLOTS.c.voter_id == VOTERS.c.id)
            .order_by(VOTERS.c.id, BALLOTS.c.instance)
        )
        with self.database.reading() as connection:
            rows = connection.execute(joined)
            found = [BallotRow(name, person, instance, _ticks(ticks), at) for name, person, instance, ticks, at in rows]
            return stamp_of(connection), found

    def participants(self) -> list[Participant]:
        """Everybody, first come first."""
        columns = (VOTERS.c.name, VOTERS.c.is_person, VOTERS.c.joined_at, VOTERS.c.finished_at, VOTERS.c.ballots)
        with self.database.reading() as connection:
            return [Participant(*row) for row in connection.execute(select(*columns).order_by(VOTERS.c.id))]

    # Programs that vote

    def program(self, name: str) -> Voter | None:
        """The voter with this name; an error if it is a person, for whom no program acts."""
        with self.database.reading() as connection:
            row = connection.execute(select(VOTERS).where(VOTERS.c.name_key == name_key(name))).first()
        if row is not None and row.is_person:
            raise NameTakenError(name)
        return None if row is None else voter_of(row)

    def program_ballots(self, voter: int) -> dict[str, tuple[str, ...]]:
        """All ballots of a program."""
        with self.database.reading() as connection:
            return _ballots(connection, voter)

    def answer_as_program(self, name: str, instance: str, ticks: Iterable[str]) -> None:
        """Keep a ballot of a program, which is listed with its first ballot."""
        moment = now()
        with self.database.writing() as connection:
            row = self._add(connection, name, "", is_person=False)
            if row is None:
                row = connection.execute(select(VOTERS).where(VOTERS.c.name_key == name_key(name))).one()
                if row.is_person:
                    raise NameTakenError(name)
            self._check_open(connection, row.id)
            self._keep(connection, row.id, instance, ticks, moment)

    def withdraw(self, voter: int, instance: str) -> bool:
        """Delete a ballot; whether there was one."""
        with self.database.writing() as connection:
            self._lock(connection, voter)
            return self._remove(connection, voter, instance)

    # Inside a transaction

    def _set(self, name: str, value: str) -> None:
        with self.database.writing() as connection:
            self._put(connection, name, value)

    def _put(self, connection: Connection, name: str, value: str) -> None:
        row = self._insert(SETTINGS).values(name=name, value=value)
        connection.execute(row.on_conflict_do_update(index_elements=[SETTINGS.c.name], set_={"value": value}))

    def _setting(self, connection: Connection, name: str) -> str | None:
        return connection.scalar(select(SETTINGS.c.value).where(SETTINGS.c.name == name))

    def _add(self, connection: Connection, name: str, visit: str, *, is_person: bool) -> Row[Any] | None:
        """A new voter, or nothing if the name is taken."""
        row = {
            "name": name,
            "name_key": name_key(name),
            "is_person": is_person,
            "token": secrets.token_urlsafe(24),
            "visit": visit,
            "joined_at": now(),
        }
        added = connection.execute(self._insert(VOTERS).values(row).on_conflict_do_nothing().returning(VOTERS))
        found: Row[Any] | None = added.first()
        return found

    def _check_open(self, connection: Connection, voter: int) -> None:
        """Refuse where nothing more is taken; until the transaction ends, the voter can neither finish nor leave."""
        row = self._lock(connection, voter)
        if row is None or row.finished_at is not None:
            raise NotOpenError("finished")
        if self._setting(connection, CLOSED) is not None:
            raise NotOpenError("closed")

    def _check_free(self, connection: Connection, voter: int, instance: str, most: int, moment: int) -> None:
        """Refuse a new ballot of a locked voter where no slot is left."""
        own = (BALLOTS.c.voter_id == voter) & (BALLOTS.c.instance == instance)
        is_new = connection.scalar(select(BALLOTS.c.voter_id).where(own)) is None
        if is_new and not is_free(connection, voter, instance, most, moment):
            raise NotOpenError("enough")

    def _lock(self, connection: Connection, voter: int) -> Row[Any] | None:
        """A voter, whom nobody else changes until the transaction ends; nothing if there is none."""
        row = connection.execute(select(VOTERS.c.finished_at).where(VOTERS.c.id == voter).with_for_update())
        return row.first()

    def _keep(self, connection: Connection, voter: int, instance: str, ticks: Iterable[str], moment: int) -> None:
        """A ballot of a locked voter."""
        told = json.dumps(list(ticks), ensure_ascii=False)
        own = (BALLOTS.c.voter_id == voter) & (BALLOTS.c.instance == instance)
        before = connection.scalar(select(BALLOTS.c.ticks).where(own))
        if before == told:
            return
        if before is None:
            row = {"voter_id": voter, "instance": instance, "ticks": told, "cast_at": moment, "changed_at": moment}
            connection.execute(insert(BALLOTS).values(row))
        else:
            connection.execute(update(BALLOTS).where(own).values(ticks=told, changed_at=moment))
        count_change(connection, voter, instance, more=int(before is None))

    def _remove(self, connection: Connection, voter: int, instance: str) -> bool:
        """Delete a ballot of a locked voter; whether there was one."""
        own = (BALLOTS.c.voter_id == voter) & (BALLOTS.c.instance == instance)
        if not connection.execute(delete(BALLOTS).where(own)).rowcount:
            return False
        count_change(connection, voter, instance, more=-1)
        return True


def voter_of(row: Row[Any]) -> Voter:
    """A row of the table of voters."""
    return Voter(row.id, row.name, bool(row.is_person), row.token, row.joined_at, row.finished_at, row.visit)


def _ballots(connection: Connection, voter: int) -> dict[str, tuple[str, ...]]:
    wanted = select(BALLOTS.c.instance, BALLOTS.c.ticks).where(BALLOTS.c.voter_id == voter)
    return {instance: _ticks(ticks) for instance, ticks in connection.execute(wanted)}


def _ticks(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
