"""What stands around every request: bounds on its size, a limit per address, and protective headers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address

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
STAY_ENCRYPTED = {"Strict-Transport-Security": "max-age=15552000"}
"""Behind HTTPS browsers come back by HTTPS only, for 180 days; other sites of the domain are left alone."""
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
        request = Request(scope, receive)
        guarded = _GuardedRequest(receive, send, is_encrypted=scope.get("scheme") == "https")
        wait = self.limiter.take("requests", address_of(scope), self.limits.requests)
        status = 429 if wait else _wrong_size(request)
        if status is not None:
            refused = self.refuse(request, status, wait)
            # The rest of the body may be of any length: the connection cannot be used for another request.
            refused.headers["Connection"] = "close"
            await _let_finish(receive)
            await refused(scope, receive, guarded.send)
            return
        try:
            await self.app(scope, guarded.receive, guarded.send)
        except ClientDisconnect:
            return
        except Exception:
            LOG.exception("a request failed: %s %r", request.method, scope["path"])
            # A response that has begun cannot be taken back; the server then ends the connection.
            if not guarded.response_began:
                await self.refuse(request, 500, 0.0)(scope, receive, guarded.send)


class _GuardedRequest:
    """One request: `receive` bounds the size and the time of its body, `send` adds the headers to its response."""

    def __init__(self, receive: Receive, send: Send, *, is_encrypted: bool) -> None:
        self._secure = STAY_ENCRYPTED if is_encrypted else {}
        self._receive = receive
        self._send = send
        self._deadline = asyncio.get_running_loop().time() + SECONDS_FOR_A_BODY
        self._body_read = 0  # bytes
        self._body_ended = False
        self.response_began = False

    async def receive(self) -> Message:
        """The next message from the client; raises 408 if the body takes too long and 413 if it is too large."""
        try:
            # After the body the only message left is the end of the connection, which may take as long as it likes.
            async with asyncio.timeout_at(None if self._body_ended else self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408) from None
        # Counted here as well as in _wrong_size, because a chunked body announces no length.
        self._body_read += len(message.get("body", b""))
        self._body_ended = self._body_ended or not message.get("more_body", False)
        if self._body_read > LARGEST_BODY:
            raise HTTPException(413)
        return message

    async def send(self, message: Message) -> None:
        """Pass a message on to the client; headers that a page has set itself are kept."""
        if message["type"] == "http.response.start":
            self.response_began = True
            headers = MutableHeaders(scope=message)
            for name, value in (HEADERS | self._secure).items():
                headers.setdefault(name, value)
        await self._send(message)


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
    """The address a request comes from; those of one IPv6 network (/64, what one line or phone has) count as one."""
    return _network(str((scope.get("client") or ("unknown", 0))[0]))


@lru_cache(maxsize=10_000)
def _network(host: str) -> str:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address, 64), strict=False))


def _wrong_size(request: Request) -> int | None:
    """400 if path, query and headers are too large, 413 if the announced body is, else None."""
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
