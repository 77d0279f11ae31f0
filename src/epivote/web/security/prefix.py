"""A site under a path of a shared host: `https://host/quiz1/`."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Prefix:
    """Takes the prefix off incoming paths and puts it before redirects; inside, every address begins at `/`.

    Some proxies pass the whole path on, others without the prefix; both work.
    """

    def __init__(self, app: ASGIApp, root: str) -> None:
        self.app = app
        self.root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not self.root:
            await self.app(scope, receive, send)
        elif scope["path"] == self.root:
            await RedirectResponse(f"{self.root}/", 308)(scope, receive, send)
        else:
            inside = {**scope, "path": self._inside(scope["path"])}
            await self.app(inside, receive, self._redirecting(send))

    def _inside(self, path: str) -> str:
        return path.removeprefix(self.root) if path.startswith(f"{self.root}/") else path

    def _redirecting(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("location", "").startswith("/"):
                    headers["location"] = self.root + headers["location"]
            await send(message)

        return sending
