"""Whether ballots can be stored: found out by storing something, said once in the log, and shown on the live page."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError

from epivote.web.store import Store, TroubleError

LOG = logging.getLogger("epivote.collect")
FRESH = 1.0  # seconds for which an answer is believed; a round number
EVERY = 5.0  # seconds between two looks when nobody asks; a round number
PATIENCE = 2.0  # seconds that a look waits for another writer; a round number


class Health:
    """What is known of the database. What requests notice is known at once; that it is well again, after a look."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self.fresh, self.patience = FRESH, PATIENCE
        self._looked = -FRESH
        self._looking = threading.Lock()
        self._changing = threading.Lock()
        self.trouble: TroubleError | None = None

    def check(self) -> TroubleError | None:
        """Look by writing, unless that was done a moment ago or is being done; what is wrong, if anything."""
        if self._clock() - self._looked >= self.fresh and self._looking.acquire(blocking=False):
            try:
                self._store.try_writing(self.patience)
            except TroubleError as trouble:
                self.note(trouble)
            except DBAPIError:
                self.note(TroubleError("refusing", str(self._store.database)))
            else:
                self.note(None)
            finally:
                self._looked = self._clock()
                self._looking.release()
        return self.trouble

    async def watch(self) -> None:
        """Look now and then, so that trouble is logged although nobody asks."""
        while True:
            await asyncio.to_thread(self.check)
            await asyncio.sleep(EVERY)

    def note(self, trouble: TroubleError | None) -> None:
        """Remember what was noticed; a change is logged, once."""
        with self._changing:
            before, self.trouble = self.trouble, trouble
        if trouble is not None and (before is None or before.kind != trouble.kind):
            LOG.error("ballots are refused: %s", trouble)
        elif trouble is None and before is not None:
            LOG.warning("ballots are stored again")
