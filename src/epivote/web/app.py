"""The app as a value: a task, a store, and what should be set differently."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from epivote.web.estimation.runner import Estimation
from epivote.web.routes import routes_of
from epivote.web.security.headers import Guard
from epivote.web.security.prefix import Prefix
from epivote.web.site import Settings, Site
from epivote.web.store import Store
from epivote.web.task import Task
from epivote.web.views.errors import HANDLERS, refusal


def collect_app(task: Task, store: Store, settings: Settings | None = None) -> Starlette:
    """Pages, organiser's pages and JSON interface for a task whose ballots go to a store."""
    chosen = settings or Settings()
    site = Site(task, store, store.secrets(), Estimation(store, task, every=chosen.estimate_every), chosen)

    @contextlib.asynccontextmanager
    async def lifespan(_app: ASGIApp) -> AsyncIterator[None]:
        beside = [asyncio.create_task(site.estimation.run()), asyncio.create_task(site.health.watch())]
        yield
        for each in beside:
            each.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await each

    guard = Middleware(Guard, limiter=site.limiter, limits=chosen.limits, refuse=refusal)
    around = [Middleware(Prefix, root=chosen.root), guard]
    app = Starlette(routes=routes_of(site), lifespan=lifespan, middleware=around, exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    app.state.site = site
    return app
