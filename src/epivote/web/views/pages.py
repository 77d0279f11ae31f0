"""Templates filled in; every text is escaped."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.responses import HTMLResponse

from epivote.web.languages import Language
from epivote.web.site import Site
from epivote.web.views.prose import prose

STATIC = {file.name: file.read_bytes() for file in (files("epivote.web") / "static").iterdir() if file.is_file()}


@cache
def static_address(name: str) -> str:
    """Where a file of ours is served, inside the site; the address changes when the file does."""
    return f"/static/{name}?{sha256(STATIC[name]).hexdigest()[:12]}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("epivote.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(picture=_picture, prose=prose, static=_static, when=when)
    return environment


def render(site: Site, template: str, language: Language, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A page of a site in a language; `root` is for addresses, each of which begins with it."""
    given = {"site": site, "root": site.root, "task": site.task, "say": language, "lang": language.code}
    text = _environment().get_template(template).render(given | context)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


@pass_context
def _picture(context: Context, path: str) -> str:
    site: Site = context["site"]
    return site.picture(path)


@pass_context
def _static(context: Context, name: str) -> str:
    return f"{context['root']}{static_address(name)}"


def when(moment: datetime | int, zone: tzinfo = UTC) -> str:
    """`2026-11-16 09:00 UTC`: the same in every language."""
    if isinstance(moment, int):
        moment = datetime.fromtimestamp(moment / 1e6, zone)
    return f"{moment:%Y-%m-%d %H:%M} {moment.tzname()}"
