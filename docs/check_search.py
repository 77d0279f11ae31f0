"""Check that the search of the built documentation leads to where people want to go; run by `make docs` after building.

The index has a section of a page per entry. A word must stand in a section of every page that it should lead to.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

INDEX = Path(__file__).parent.parent / "site" / "search.json"
SOUGHT = {
    "correlated": ("explanation/confidence/", "how-to/people-and-models/", "how-to/explain/", "faq/"),
    "overconfident": ("explanation/confidence/", "how-to/explain/", "faq/", "glossary/"),
    "annotator": ("", "glossary/", "how-to/from-label-studio/"),
    "multi-label": ("", "how-to/size/", "glossary/"),
    "threshold": ("how-to/size/", "how-to/explain/", "faq/"),
}
"""Words that people type, and the pages that they should find; the start page has no name."""


def missing(sections: Iterable[Mapping[str, str]], sought: Mapping[str, tuple[str, ...]] = SOUGHT) -> list[str]:
    """Words and the pages on which the search would not find them."""
    texts: dict[str, str] = {}
    for section in sections:
        page = section["location"].partition("#")[0]
        plain = re.sub("<[^>]*>", " ", f"{section['title']} {section['text']}")
        texts[page] = f"{texts.get(page, '')} {plain.lower()}"
    return [
        f"{word!r} in {page or 'the start page'}"
        for word, pages in sought.items()
        for page in pages
        if not re.search(rf"\b{word}", texts.get(page, ""))
    ]


if __name__ == "__main__":
    lost = missing(json.loads(INDEX.read_text(encoding="utf-8"))["items"])
    if lost:
        raise SystemExit(f"the search does not find {', '.join(lost)}")
