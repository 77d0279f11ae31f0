"""A page of the report taken apart: its elements, its tables, its charts and the numbers its scripts get."""

import base64
import json
from html.parser import HTMLParser

import numpy as np

VOID = {"meta", "link", "br", "input", "img", "hr"}


class Node:
    """One element: its attributes, and inside it other elements and texts."""

    def __init__(self, tag="", attributes=()):
        self.tag, self.attributes, self.inside = tag, dict(attributes), []

    def __getitem__(self, name):
        return self.attributes[name]

    def number(self, name) -> float:
        return float(self.attributes[name])

    def all(self, tag, cls=None) -> list["Node"]:
        """Elements of this kind anywhere inside, those of exactly this class if one is named."""
        found = []
        for each in self.inside:
            if isinstance(each, Node):
                if each.tag == tag and (cls is None or each.attributes.get("class") == cls):
                    found.append(each)
                found += each.all(tag, cls)
        return found

    def one(self, tag, cls=None) -> "Node":
        (found,) = self.all(tag, cls)
        return found

    def text(self) -> str:
        whole = "".join(each.text() if isinstance(each, Node) else each for each in self.inside)
        return " ".join(whole.split())

    def chips(self) -> list[str]:
        return [chip.text() for chip in self.all("span", "chip")]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Node()]

    def handle_starttag(self, tag, attributes):
        node = Node(tag, attributes)
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].inside.append(data)


def parsed(text) -> Node:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    (root,) = reader.open
    return root


class Page:
    """A written page."""

    def __init__(self, path):
        self.source = path.read_text(encoding="utf-8")
        self.root = parsed(self.source)
        self.data = json.loads(next(each.text() for each in self.root.all("script") if each.attributes.get("id")))

    def section(self, name) -> Node | None:
        return next((each for each in self.root.all("section") if each["id"] == name), None)

    def card(self, number) -> Node:
        """One of the four answers of the first screen, from 0."""
        return [each for each in self.root.all("div") if "card" in each.attributes.get("class", "").split()][number]

    def bars(self, node) -> list[tuple[str, str, float]]:
        """Labels, texts and lengths of labelled bars."""
        return [
            (row.one("dt").text(), row.one("dd").all("span")[-1].text(), percent_of(row.all("i")[0]))
            for bars in node.all("dl", "bars")
            for row in bars.all("div")
        ]

    def warnings(self) -> list[str]:
        return [each.text() for box in self.root.all("div", "careful") for each in box.all("li")]

    def settings(self) -> dict[str, str]:
        return {each.one("dt").text(): each.one("dd").text() for each in self.root.one("dl", "settings").all("div")}

    def charts(self, section) -> list[Node]:
        return self.section(section).all("svg")


def percent_of(bar) -> float:
    """The length of a bar."""
    return float(bar["style"].removeprefix("width:").removesuffix("%"))


def rows(table) -> list[list[str]]:
    """What the cells of a table's body say."""
    body = table.one("tbody")
    return [[each.text() for each in row.inside if isinstance(each, Node)] for row in body.all("tr")]


def numbers(column) -> np.ndarray:
    return np.frombuffer(base64.b64decode(column[1]), f"<{column[0]}")


def sets_of(data) -> list[list[str]]:
    """The sets by their numbers; number 0 means that there is none."""
    sizes, members = numbers(data["sets"]["sizes"]).tolist(), numbers(data["sets"]["members"]).tolist()
    names, found = data["alternatives"]["names"], []
    for size in sizes:
        found.append([names[j] for j in members[:size]])
        members = members[size:]
    assert members == []
    return found


def places(nodes, *names) -> list[tuple]:
    """Attributes of elements, the numbers among them as numbers."""
    return [tuple(_value(node.attributes[name]) for name in names) for node in nodes]


def _value(text):
    try:
        return float(text)
    except ValueError:
        return text
