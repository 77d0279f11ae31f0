"""Which part of a long list of questions is shown, and where choosing a language leads: values in, values out."""

from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from epivote.web.views.participant import _own_path, _part


def part(count, position, asked=None):
    """The part of so many questions, all of them open, that is shown first."""
    query = {} if asked is None else {"part": asked}
    visit = SimpleNamespace(request=SimpleNamespace(query_params=query))
    return _part(visit, [(number, "open") for number in range(1, count + 1)], position)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 200, 201, 350])
def test_the_part_with_the_next_question_is_shown_unless_another_is_asked_for(count):
    last = max(0, -(-count // 100) - 1)
    for position in {1, 2, 99, 100, 101, 102, 200, 201, 301, 350} & {1, *range(1, count + 1)}:
        assert part(count, position) == (position - 1) // 100
        for asked in ("", "0", "x", "-1", "01", "1.0", "1234567"):
            assert part(count, position, asked) == (position - 1) // 100, asked
        for asked in (1, 2, 3, 4, 5, 999_999):
            assert part(count, position, str(asked)) == min(asked - 1, last)


def test_questions_that_are_not_listed_do_not_count():
    visit = SimpleNamespace(request=SimpleNamespace(query_params={}))
    every_second = [(number, "open") for number in range(2, 402, 2)]
    for position, expected in ((2, 0), (200, 0), (202, 1), (400, 1), (401, 1)):
        assert _part(visit, every_second, position) == expected


@pytest.mark.parametrize("root", ["", "/quiz"])
@pytest.mark.parametrize("here", ["http://host/x", "https://host:8000/x"])
@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/", True),
        ("/end", True),
        ("/privacy", True),
        ("/question/1", True),
        ("/question/999999", True),
        ("/question/1000000", False),
        ("/question/x", False),
        ("/question", False),
        ("/organiser", False),
        ("//evil.example", False),
        ("/end/", False),
    ],
)
def test_a_page_of_ours_is_gone_back_to_and_no_other(root, here, path, kept):
    def way_back(before):
        request = SimpleNamespace(headers={"referer": before}, url=urlsplit(here))
        return _own_path(SimpleNamespace(request=request, site=SimpleNamespace(root=root)))

    origin = here.removesuffix("/x")
    assert way_back(f"{origin}{root}{path}") == (path if kept else "/")
    assert way_back(f"{origin}{root}{path}?x=1#y") == (path if kept else "/")
    assert way_back(f"http://other{root}{path}") == "/"
    assert way_back(f"{origin}1{root}{path}") == "/"


def test_without_a_page_before_the_first_one_is_shown():
    site = SimpleNamespace(root="")
    for headers in ({}, {"referer": ""}, {"referer": "http://[x"}, {"referer": "x"}):
        request = SimpleNamespace(headers=headers, url=urlsplit("http://host/x"))
        assert _own_path(SimpleNamespace(request=request, site=site)) == "/"
