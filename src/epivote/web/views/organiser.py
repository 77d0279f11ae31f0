"""The organiser's pages; each needs the secret, which a link leaves in a cookie."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from epivote import EpivoteError
from epivote.web.addresses import is_local, qr_svg
from epivote.web.exporting import export as export_of
from epivote.web.exporting import participants_table, task_files, truth_table
from epivote.web.languages import language
from epivote.web.site import Site
from epivote.web.store.columns import reading
from epivote.web.timing import TIMES, times_table
from epivote.web.views.board import board_of
from epivote.web.views.completion import further_columns
from epivote.web.views.errors import PageError
from epivote.web.views.looking import SORTS, Look
from epivote.web.views.pages import render
from epivote.web.views.visit import ORGANISER, Visit, see

DAY = 86_400  # in seconds, the unit of cookies
UNABLE = "Open, but ballots cannot be stored at the moment."
COMPRESSION = 5  # of 9: beyond it, the live page gets hardly smaller but takes longer
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)


def board(visit: Visit) -> Response:
    """The live page; a link with the secret lets the organiser in and takes it out of the address."""
    given = visit.request.query_params.get("secret")
    if given is not None:
        return _let_in(visit, given)
    if not visit.is_organiser:
        return _ask_secret(visit, wrong=False)
    return render(
        visit.site,
        "organiser.html",
        language("en"),
        board=_board(visit),
        look=Look.of(visit.request.query_params),
        sorts=SORTS,
        csrf=visit.csrf,
        languages=[],
        address=_address(visit),
        is_local=is_local(_address(visit)),
        organiser=visit.organiser,
    )


def live(visit: Visit) -> Response:
    """What the live page asks for every two seconds; nothing is worked out, or sent, where nothing is new."""
    check_organiser(visit)
    tag = _tag(visit)
    if visit.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    told = json.dumps(_board(visit), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    headers = {"ETag": tag, "Vary": "Accept-Encoding"}
    if "gzip" in visit.request.headers.get("accept-encoding", ""):
        told, headers["Content-Encoding"] = gzip.compress(told, COMPRESSION), "gzip"
    return Response(told, media_type="application/json", headers=headers)


def export(visit: Visit) -> Response:
    """One of the files."""
    check_organiser(visit)
    site, name = visit.site, visit.request.path_params["name"]
    if name == "participants.csv":
        return _file(
            name,
            participants_table(site.store.participants(), further_columns(site.task, site.store.database, site.signer)),
        )
    if name == TIMES:
        return _streamed(name, (piece.encode("utf-8", "replace") for piece in times_table(site.store.database)))
    if name == "truth.csv":
        return _file(name, truth_table(site.estimation.live))
    if name == "ballots.csv":
        return _streamed(name, _ballots(site))
    files = task_files(site.task)
    if name not in files:
        raise PageError(404, "error.404")
    return _file(name, files[name])


def qr(visit: Visit) -> Response:
    """The participants' address as a QR code."""
    check_organiser(visit)
    return Response(qr_svg(_address(visit)), media_type="image/svg+xml")


async def report(request: Request) -> Response:
    """The full report, made in the process that estimates."""
    visit = Visit(request, FormData())
    await run_in_threadpool(check_organiser, visit)
    try:
        page = await visit.site.estimation.report()
    except EpivoteError as error:
        raise PageError(409, "error.report", reason=str(error)) from None
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def enter(visit: Visit) -> Response:
    """Sign in with the secret in a form, which leaves it in no address, history or log."""
    return _let_in(visit, visit.text("secret"))


def leave(visit: Visit) -> Response:
    """Sign out on this device."""
    response = see("/organiser")
    visit.delete_cookie(response, ORGANISER)
    return response


def ask_close(visit: Visit) -> Response:
    """Whether to close the task."""
    check_organiser(visit)
    return render(
        visit.site,
        "confirm.html",
        language("en"),
        title="Close this task?",
        sentences=[
            "No more ballots are taken, from people and from programs, not even on pages that are open now.",
            "You can open it again at any time.",
        ],
        action="/organiser/close",
        button="Close",
        is_danger=True,
        who="",
        back="/organiser",
        csrf=visit.csrf,
        languages=[],
    )


def close(visit: Visit) -> Response:
    """Take no more answers."""
    check_organiser(visit)
    visit.site.store.close_task()
    return see("/organiser")


def reopen(visit: Visit) -> Response:
    """Take answers again."""
    check_organiser(visit)
    visit.site.store.open_task()
    return see("/organiser")


def check_organiser(visit: Visit) -> None:
    """Refuse everybody else."""
    if not visit.is_organiser:
        raise PageError(403, "error.organiser")


def _ask_secret(visit: Visit, *, wrong: bool) -> Response:
    page = {"wrong": wrong, "csrf": visit.csrf, "languages": []}
    return render(visit.site, "enter.html", language("en"), status=403, **page)


def _let_in(visit: Visit, given: str) -> Response:
    """A right secret always passes; wrong ones from one address are counted, each kind for itself."""
    site = visit.site
    allowed = site.pass_for(given)
    if allowed is None:
        visit.limit("organiser's secrets", visit.address, site.settings.limits.wrong_secrets)
        return _ask_secret(visit, wrong=True)
    response = see("/organiser")
    visit.set_cookie(response, ORGANISER, allowed, 30 * DAY)
    return response


def _address(visit: Visit) -> str:
    """Where participants go: as `serve` said, else where the organiser came to."""
    here = visit.request.url
    return visit.site.store.address() or f"{here.scheme}://{here.netloc}{visit.site.root}/"


def _board(visit: Visit) -> dict[str, Any]:
    site = visit.site
    gate = site.gate(is_closed=site.store.is_closed())
    look = Look.of(visit.request.query_params)
    people = site.store.participants()
    board = board_of(site.task, site.estimation.live, people, site.settled(), gate, site.picture, look)
    trouble = site.health.check()
    if trouble is not None:
        board["problem"] = f"Ballots cannot be stored: {trouble.reason}."
        board["gate_words"] = UNABLE if gate == "open" else board["gate_words"]
    return board


def _tag(visit: Visit) -> str:
    """Differs whenever what the live page shows does: from counters of the database and the moment of the estimate."""
    site, live = visit.site, visit.site.estimation.live
    state = site.store.state()
    trouble = site.health.check()
    seen = (
        trouble and trouble.kind,
        state,
        site.gate(is_closed=state.is_closed),
        live.stamp,
        live.moment,
        live.problem,
        live.counts_gold,
    )
    told = f"{site.started} {seen} {Look.of(visit.request.query_params)}"
    return f'"{sha256(told.encode("utf-8", "replace")).hexdigest()[:32]}"'


def _ballots(site: Site) -> Iterator[bytes]:
    """The table of ballots at one moment, in pieces."""
    with reading(site.store) as source:
        for piece in export_of(source, site.task).ballots:
            yield piece.encode("utf-8", "replace")


def _streamed(name: str, pieces: Iterator[bytes]) -> Response:
    """A file sent while it is read; trouble before its first piece is still an error page."""
    first = next(pieces)
    return StreamingResponse(chain([first], pieces), media_type="text/csv", headers=_attached(name))


def _file(name: str, text: str) -> Response:
    return Response(text.encode("utf-8", "replace"), media_type="text/csv", headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
