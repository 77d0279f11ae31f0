"""What a browser without JavaScript sees of a page: its forms and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser


@dataclass
class Form:
    """A form: where it goes, what it already holds, its boxes and its buttons."""

    action: str
    name: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, bool] = field(default_factory=dict)  # value of each `tick`: is it ticked
    buttons: set[str] = field(default_factory=set)  # values of `action`

    @property
    def ticked(self) -> frozenset[int]:
        """Places of the ticked boxes on the page, from 0."""
        return frozenset(place for place, ticked in enumerate(self.boxes.values()) if ticked)

    def values(self, places: Iterable[int]) -> list[str]:
        """What ticking the boxes at these places sends."""
        values = list(self.boxes)
        return [values[place] for place in sorted(places)]


@dataclass
class Page:
    """The forms and pictures of a page."""

    address: str
    forms: list[Form] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def form(self, action: str) -> Form:
        """The form that is sent to an address."""
        found = next((form for form in self.forms if form.action == action), None)
        if found is None:
            there = ", ".join(form.action for form in self.forms) or "none"
            raise LookupError(f"{self.address} has no form for {action} (its forms: {there})")
        return found


def fingerprint(content: bytes) -> str:
    """What tells one picture from another, whatever its address is."""
    return sha256(content).hexdigest()[:16]


def parse(address: str, html: str) -> Page:
    """The page at an address; a form without an action is sent to the page itself."""
    reader = _Reader(address)
    reader.feed(html)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.page = Page(address)
        self.open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.open = Form(told.get("action") or self.page.address, told.get("id", ""))
            self.page.forms.append(self.open)
        elif tag == "img":
            self.page.pictures.append(told.get("src", ""))
        elif tag == "a":
            self.page.links.append(told.get("href", ""))
        elif self.open is not None and tag == "button" and told.get("name") == "action":
            self.open.buttons.add(told.get("value", ""))
        elif self.open is not None and tag == "input" and told.get("name") == "tick":
            self.open.boxes[told["value"]] = "checked" in told
        elif self.open is not None and tag == "input" and "name" in told:
            self.open.fields[told["name"]] = told.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open = None
