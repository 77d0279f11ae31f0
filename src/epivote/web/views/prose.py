"""Texts of the organiser, written in Markdown, as safe HTML: no tags of theirs, no pictures, only links to the web."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

LEFT_OUT = ("html_block", "html_inline", "image", "heading", "lheading", "hr", "reference")
"""What a text inside a page does not need: it has a heading, and its pictures are named in the task."""
SCHEMES = ("https://", "http://", "mailto:")


def prose(text: str) -> Markup:
    """A text as HTML; a line break in it stays one."""
    return Markup(_markdown().render(text).rstrip("\n"))


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 (called so there)
        """Whether a link leads to the web."""
        return url.lower().startswith(SCHEMES)


@cache
def _markdown() -> MarkdownIt:
    markdown = _Markdown("commonmark", {"html": False, "breaks": True}).disable(LEFT_OUT)
    markdown.add_render_rule("link_open", _link)
    return markdown


def _link(renderer: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: Any) -> str:
    """A link opens in a window of its own, so that no tick is lost, and learns nothing about this page."""
    if not tokens[number].attrGet("href"):
        return "<a>"
    tokens[number].attrSet("target", "_blank")
    tokens[number].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, number, options, env))
