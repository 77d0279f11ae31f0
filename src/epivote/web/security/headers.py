"""What stands around every request: bounds on its size, a limit per address, and protective headers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from epivote.web.security.limits import Limiter, Limits

LOG = logging.getLogger("epivote.collect")
LARGEST_BODY = 65_536  # bytes; a form with all its ticks needs far less
LARGEST_HEAD = 32_768  # bytes, address and headers; browsers send at most a few thousand
SECONDS_FOR_A_BODY = 30.0  # a slow phone needs a few; a round number
LARGEST_TO_THROW_AWAY = 8 << 20  # bytes read of a refused body, so that the refusal reaches the sender
SECONDS_TO_THROW_AWAY = 5.0  # likewise; a round number
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
Refuse = Callable[[Request, int, float], Response]


class Guard:
    """Refuses floods and oversized bodies before anything else looks at them; every answer, also one to a request that
    failed, gets the headers.
    """

    def __init__(self, app: ASGIApp, limiter: Limiter, limits: Limits, refuse: Refuse) -> None:
        self.app = app
        self.limiter = limiter
        self.limits = limits
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, is_whole, seen = False, False, 0
        deadline = asyncio.get_running_loop().time() + SECONDS_FOR_A_BODY

        async def counted() -> Message:
            nonlocal seen, is_whole
            try:
                async with asyncio.timeout_at(None if is_whole else deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408) from None
            seen += len(message.get("body", b""))
            is_whole = is_whole or not message.get("more_body", False)
            if seen > LARGEST_BODY:
                raise HTTPException(413)
            return message

        async def with_headers(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        wait = self.limiter.take("requests", address_of(scope), self.limits.requests)
        status = 429 if wait else _wrong_size(request)
        if status is not None:
            refused = self.refuse(request, status, wait)
            refused.headers["Connection"] = "close"
            await _let_finish(receive)
            await refused(scope, receive, with_headers)
            return
        try:
            await self.app(scope, counted, with_headers)
        except ClientDisconnect:
            return
        except Exception:
            LOG.exception("a request failed: %s %r", request.method, scope["path"])
            if not began:
                await self.refuse(request, 500, 0.0)(scope, receive, with_headers)


async def _let_finish(receive: Receive) -> None:
    """Read and throw away what is still being sent, within reason: else the answer may be lost with the connection."""
    seen = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_TO_THROW_AWAY):
            while seen < LARGEST_TO_THROW_AWAY:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def address_of(scope: Scope) -> str:
    """The address a request comes from; those of one IPv6 network count as one."""
    host = str((scope.get("client") or ("unknown", 0))[0])
    return ":".join(host.split(":")[:4]) if ":" in host and "." not in host else host


def _wrong_size(request: Request) -> int | None:
    """The status for a request whose head, or whose body by its own account, is too large."""
    head = len(request.scope["path"]) + len(request.scope["query_string"])
    if head + sum(len(name) + len(text) for name, text in request.scope["headers"]) > LARGEST_HEAD:
        return 400
    length = request.headers.get("content-length", "0")
    return 413 if length.isascii() and length.isdigit() and int(length[:20]) > LARGEST_BODY else None


def sent_from_here(request: Request) -> bool:
    """Whether a form comes from a page of ours, as far as the browser tells; programs tell nothing."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or origin.partition("://")[2] == request.headers.get("host")
