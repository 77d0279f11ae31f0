"""What the pages look like as far as it can be told without a browser: texts in Markdown, room for pictures, words for numbers."""

import struct
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote.web.views.measure import picture_size
from epivote.web.views.prose import SCHEMES, prose
from in_process import filled_in, joined
from one_moment import still_app
from small_quiz import QUIZ

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)
JPEG = (
    b"\xff\xd8\xff\xe0"
    + struct.pack(">H", 16)
    + b"JFIF\0"
    + bytes(9)
    + b"\xff\xc2\0\x11\x08"
    + struct.pack(">HH", 30, 40)
)
WEBP = b"RIFF\0\0\0\0WEBP"
EXTENDED = (123).to_bytes(3, "little") + (45).to_bytes(3, "little")


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (PNG, (640, 480)),
        (b"GIF89a" + struct.pack("<HH", 30, 20), (30, 20)),
        (JPEG + bytes(20), (40, 30)),
        (JPEG.replace(b"JFIF\0", b"Exif\0") + bytes(20), None),
        (WEBP + b"VP8X" + bytes(8) + EXTENDED, (124, 46)),
        (WEBP + b"VP8L" + bytes(5) + (99 | 199 << 14).to_bytes(4, "little") + bytes(5), (100, 200)),
        (WEBP + b"VP8 " + bytes(10) + struct.pack("<HH", 320, 200), (320, 200)),
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60.4px">', (90, 60)),
        (b'<svg width="100%" viewBox="0 0 400 100" height="100%">', (400, 100)),
        (b'<svg viewBox="0 0 0 100">', None),
        (b"<svg>", None),
        (PNG[:20], None),
        (b"\xff\xd8", None),
        (b"", None),
    ],
)
def test_pictures_tell_their_size(tmp_path, content, size):
    (tmp_path / "x").write_bytes(content)
    assert picture_size(tmp_path / "x") == size


def test_a_picture_that_is_gone_has_no_size(tmp_path):
    assert picture_size(tmp_path / "x") is None


def test_markdown_of_an_organiser():
    told = prose("Tick **all**.\n\n- one\n- [two](https://example.org/?a=1&b=2)\n\n<https://example.org>")
    assert "<strong>all</strong>" in told
    assert (
        '<li><a href="https://example.org/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">two</a></li>' in told
    )
    assert told.count('rel="noopener noreferrer"') == 2


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <b onclick='x'>b</b>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,y)",
        "[x](/organiser/close)",
        "[x]: https://example.org\n",
        "# no heading",
        "no heading\n===",
    ],
)
def test_markdown_that_is_left_as_it_is_written(text):
    told = prose(text)
    for tag in ("<script", "<b ", "<img", "<a ", "<h1", "<h2"):
        assert tag not in told


PIECES = [
    "<",
    ">",
    "&",
    '"',
    "'",
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "javascript:",
    "https://x/",
    "data:",
    "<script>",
    "`",
    "*",
    "_",
]
PIECES += ["- ", "1. ", "> ", "# ", "\n", "\n\n", "    ", "<!--", "<a href=", " onclick=x", "\\", "&lt;", "word", " "]
ALLOWED = {"p", "br", "strong", "em", "a", "ul", "ol", "li", "blockquote", "code", "pre"}


class Tags(HTMLParser):
    """Every tag with what it says."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_markdown_makes_only_harmless_tags(text):
    tags = Tags()
    tags.feed(prose(text))
    for tag, attributes in tags.found:
        assert tag in ALLOWED, text
        assert set(attributes) <= {"a": {"href", "target", "rel", "title"}, "ol": {"start"}, "code": {"class"}}.get(
            tag, set()
        )
        assert attributes.get("href", SCHEMES[0]).startswith(SCHEMES)


def test_markdown_shows_no_picture_from_elsewhere():
    assert "<img" not in prose("![x](https://example.org/x.png)")


def test_room_is_kept_for_a_picture_of_known_size(tmp_path):
    with still_app(tmp_path) as app:
        ann = joined(app, "ann")
        dot = app.state.site.picture("dot.svg")
        pages = [ann.get(f"/question/{position}").text for position in range(1, 5)]
        assert sum('width="90" height="60"' in page for page in pages) == 2
        assert sum(f'<a class="zoom" href="{dot}" target="_blank" rel="noopener">' in page for page in pages) == 2


@pytest.mark.parametrize("is_tiled", [True, False])
def test_alternatives_that_are_pictures_are_shown_as_tiles(tmp_path, is_tiled):
    text = QUIZ.replace('name = "cat"', 'name = "cat"\npicture = "dot.svg"').replace(
        'help = "It barks."', 'picture = "dot.svg"' if is_tiled else 'picture = "dot.svg"\nhelp = "It barks."'
    )
    with still_app(tmp_path, text) as app:
        assert ('class="boxes tiled"' in joined(app, "ann").get("/question/1").text) == is_tiled


def test_a_script_that_sends_an_answer_is_told_where_to_go(tmp_path):
    with still_app(tmp_path) as app:
        ann = joined(app, "ann")
        fields = filled_in(ann.get("/question/1"), "none")
        told = ann.post("/question/1", data=fields, headers={"accept": "application/json"})
        assert (told.status_code, told.json()) == (200, {"next": "/question/2"})
        assert len(app.state.site.store.snapshot()[1]) == 1
