"""Cookies that only this server can have made, and tokens that tie a form to them."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

from itsdangerous import BadSignature, URLSafeSerializer


class Signer:
    """Signs what cookies say and what forms carry, with the key of the database."""

    def __init__(self, key: str) -> None:
        self._key = key

    def seal(self, kind: str, value: str) -> str:
        """A cookie of one kind; it is worth nothing as one of another kind."""
        return str(self._serializer(kind).dumps(value))

    def unseal(self, kind: str, cookie: str | None) -> str | None:
        """What a cookie of this kind says; nothing if it was not made here."""
        if not cookie:
            return None
        try:
            value = self._serializer(kind).loads(cookie)
        except BadSignature:
            return None
        return value if isinstance(value, str) and same_secret(cookie, self.seal(kind, value)) else None

    def token(self, kind: str, value: str) -> str:
        """What only somebody with the key can work out of a value, such as what the forms of one visit carry."""
        return hmac.new(self._key.encode(), f"{kind}\n{value}".encode(), sha256).hexdigest()

    def cookie_name(self, kind: str) -> str:
        """A name that no other database gives to a cookie of this kind."""
        return f"{kind}_{self.token('cookie', kind)[:8]}"

    def file_key(self, path: str) -> str:
        """What stands for a file in addresses: it tells nothing about the file's name, and nobody can guess it."""
        return self.token("file", path)[:32]

    def _serializer(self, kind: str) -> URLSafeSerializer:
        return URLSafeSerializer(self._key, salt=f"epivote {kind}", signer_kwargs={"digest_method": sha256})


def new_visit() -> str:
    """A name for somebody's visit that nobody can guess."""
    return secrets.token_urlsafe(18)


def same_secret(given: str | None, right: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell how far they agree."""
    return hmac.compare_digest((given or "").encode("utf-8", "replace"), right.encode())
