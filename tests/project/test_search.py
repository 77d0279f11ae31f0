"""What `make docs` says of a search that does not find what people look for."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"


def missing(*sections, sought):
    spec = importlib.util.spec_from_file_location("check_search", DOCS / "check_search.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.missing(sections, sought)


def test_words_are_looked_for_in_every_section_of_a_page():
    size = {"location": "how-to/size/#start", "title": "Start", "text": "<p>A <b>Threshold</b>s' place</p>"}
    other = {"location": "faq/", "title": "Annotators", "text": ""}
    sought = {"threshold": ("how-to/size/", "faq/"), "annotator": ("faq/", "")}
    assert missing(size, other, sought=sought) == ["'threshold' in faq/", "'annotator' in the start page"]


def test_a_word_within_another_or_in_a_tag_does_not_count():
    page = {"location": "faq/", "title": "", "text": '<i class="label">relabelled</i>'}
    assert missing(page, sought={"label": ("faq/",)}) == ["'label' in faq/"]
