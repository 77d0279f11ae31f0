"""Whole pages as last accepted: every word, every bar and every number that scripts get, for fits of all kinds."""

import json
import re
from importlib.resources import files

import numpy as np
import pytest

from accepted import GOLDEN, cast, check_accepted
from epivote import AMLE, EM, Auto, Ballots, Calibrated, Majority, SizeBounds, write_report
from reading import numbers


def _lines(source) -> list[str]:
    """A line per row, sentence or shape, without what is the same wherever such an element stands."""
    source = re.sub(
        r' (?:role="(?:row|cell|columnheader|rowheader|region)"|scope="\w+"|data-label="[^"]*"|class="(?:value|number|unseen)")|</[^>]*>',
        "",
        source,
    )
    parts = re.sub(r" ?(?=<(?!td|th|span|bdi|i |i>|a |div|strong|title|dd))", "\n", source).splitlines()
    return [part.strip() for part in parts if part.strip()]


ACCEPTED = GOLDEN / "pages"
SAME = set(_lines((files("epivote.report") / "template" / "page.html").read_text(encoding="utf-8")))
SMALL, SMALL_RIGHT = cast(9, 5, ["cat", "dog", "owl", "fox"], 1)
MANY, MANY_RIGHT = cast(
    18, 9, ["ash", "elm", "fir", "oak", "yew"], 3, hits=0.6, alarms=0.2, asked=0.6, noise=(6, 7), copies=(8, 9)
)
SOME = dict(list(MANY_RIGHT.items())[:6])
MENUS = {f"q{z}": ["cat", "dog", "owl", "fox", *["elk"] * (z % 2)] for z in range(1, 10)}
TIED = {(v, f"q{z}"): {"a", "b"} for z in range(1, 8) for v in "xy"} | {
    ("x", "r"): {"a"},
    ("y", "r"): set(),
    ("x", "s"): {"b"},
}
UPSIDE_DOWN = {
    key: [each for each in ("cat", "dog", "owl", "fox") if each not in ticks] for key, ticks in SMALL.items()
}


def small(**options):
    return Ballots.from_mapping(SMALL, **options)


def many(**options):
    return Ballots.from_mapping(MANY, **options)


PAGES = {
    "plain": (lambda: EM((1, 2)).fit(small()), {}),
    "told": (
        lambda: EM((1, 2)).fit(small()),
        {
            "title": "Birds & bees",
            "notes": ["look out", "quiz.csv has 3 lines", "Why not?"],
            "settings": {"File": "/home/ann/quiz.csv", "Long": "x" * 700},
            "gold": SMALL_RIGHT,
        },
    ),
    "nameless": (lambda: AMLE((1, 2)).fit(many()), {"anonymize": True, "settings": {"File": "/home/ann/quiz.csv"}}),
    "learnt": (lambda: EM((1, 2)).fit(many(), gold=SOME), {}),
    "majority": (lambda: Majority((1, 2)).fit(many()), {"gold": SOME}),
    "ties": (lambda: EM(1).fit(Ballots.from_mapping(TIED)), {}),
    "menus": (lambda: EM(SizeBounds(1, 2, {"q1": (2, 2), "q3": (0, 3)})).fit(small(menu=MENUS)), {}),
    "upside-down": (lambda: EM((1, 2)).fit(Ballots.from_mapping(UPSIDE_DOWN)), {}),
    "single": (lambda: EM(1).fit(Ballots.from_mapping({("v", "q"): {"a"}, ("w", "q"): {"a", "b"}})), {}),
    "limit": (lambda: EM((1, 2), max_iterations=2).fit(small()), {}),
}
LONGER = {
    "calibrated": (lambda: Calibrated(EM((1, 2))).fit(many(), gold=SOME), {}),
    "halves": (lambda: Auto((1, 2)).fit(many()), {"gold": SOME}),
}


def shown(path) -> str:
    """What differs between pages, an element per line, and the numbers that scripts get in plain text."""
    source = path.read_text(encoding="utf-8")
    data = re.search(r'<script[^>]* id="data">(.*?)</script>', source, re.DOTALL).group(1)
    source = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", source, flags=re.DOTALL)
    source = re.sub(r"version \d[\w.]*", "version VERSION", source)
    told = json.dumps(_plain(json.loads(data)), indent=1, ensure_ascii=False)
    told = re.sub(r"\[[^][{}]*\]", lambda found: " ".join(found.group().split()), told)
    return "\n".join([*(line for line in _lines(source) if line not in SAME), told, ""])


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and re.fullmatch(r"[fiu]\d", value[0]):
        return [value[0], *_plain(numbers(value).tolist())]
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return float(np.format_float_positional(value, 5, fractional=False)) if isinstance(value, float) else value


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_was_accepted(name, tmp_path):
    fitted, options = PAGES[name]
    check_accepted(ACCEPTED / f"{name}.txt", shown(write_report(fitted(), tmp_path / "page.html", **options)))


@pytest.mark.parametrize("name", LONGER)
def test_a_page_that_takes_longer_is_what_was_accepted(name, tmp_path):
    fitted, options = LONGER[name]
    check_accepted(ACCEPTED / f"{name}.txt", shown(write_report(fitted(), tmp_path / "page.html", **options)))


def test_every_accepted_page_belongs_to_a_test():
    assert {path.stem for path in ACCEPTED.glob("*.txt")} == {*PAGES, *LONGER}
