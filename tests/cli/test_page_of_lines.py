"""Sentences and tables as lines of a page: against a simple rule for widths, and letter by letter where they are cut."""

import itertools
import random

import pytest
from rich.console import Console
from rich.text import Text

from epivote.cli.screen import GAP, NARROWEST, SCREEN, Page, ScreenColumn


def plain(lines):
    return [line.plain for line in lines]


def page(width):
    return Page(Console(width=width))


# Sentences


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (None, ["one two", "three four", "five six", "seven"]),
        (4, ["one two", "three four", "five six", "seven"]),
        (3, ["one two", "three four", "five six…"]),
        (2, ["one two", "three fou…"]),
        (1, ["one two…"]),
    ],
)
def test_a_sentence_takes_as_many_lines_as_it_may(most, expected):
    assert plain(page(10).wrapped("one two three four five six seven", most)) == expected


def test_a_sentence_is_cut_where_a_letter_ends_and_no_blank_stands_before_the_sign():
    assert plain(page(10).wrapped("abcdefgh ij klmno", 1)) == ["abcdefgh…"]
    assert plain(page(10).wrapped("abcdefghi klmno", 1)) == ["abcdefghi…"]
    assert plain(page(10).wrapped("abcdefghij klmno", 1)) == ["abcdefghi…"]
    assert plain(page(10).wrapped("  abcdefg klmno", 1)) == ["  abcdefg…"], "only blanks at the end go"
    assert plain(page(10).wrapped("ab klmno", 1)) == ["ab klmno"]
    assert plain(page(10).wrapped("a   ")) == ["a"]


# Tables


def expected_widths(columns, rows, width, has_head):
    """Take a letter from the first of the widest columns that may be cut, until all fit or none can be cut further."""
    widths = [max(len(row[k]) for row in [*[[c.name for c in columns]] * has_head, *rows]) for k in range(len(columns))]
    cut = [k for k, column in enumerate(columns) if column.is_cut]
    while sum(widths) + 2 * (len(columns) - 1) > width and max(widths[k] for k in cut) > 4:
        widths[max(cut, key=lambda k: (widths[k], -k))] -= 1
    return widths


def expected_lines(columns, rows, widths, has_head):
    lines = []
    for row in [*[[c.name for c in columns]] * has_head, *rows]:
        cells = []
        for column, cell, wide in zip(columns, row, widths, strict=True):
            shown = cell if len(cell) <= wide else f"{cell[: wide - 1]}…"
            cells.append(shown.rjust(wide) if column.justify == "right" else shown.ljust(wide))
        lines.append("  ".join(cells).rstrip())
    return lines


@pytest.mark.parametrize("has_head", [True, False])
def test_the_widest_columns_are_cut_first_and_numbers_never(has_head):
    rng = random.Random(1)
    columns = (
        ScreenColumn("first"),
        ScreenColumn("number", "right", is_cut=False),
        ScreenColumn("second"),
        ScreenColumn("right", "right"),
    )
    for width in (34, 36, 40, 44, 50, 60, 80):
        for _ in range(6):
            rows = [
                [
                    "a" * rng.randint(4, 30),
                    str(rng.randint(1, 10**6)),
                    "b" * rng.randint(4, 20),
                    "c" * rng.randint(4, 9),
                ]
                for _ in range(2)
            ]
            widths = expected_widths(columns, rows, width, has_head)
            assert sum(widths) + 6 <= width
            lines = plain(page(width).table(columns, rows, has_head=has_head))
            assert lines == expected_lines(columns, rows, widths, has_head)


def test_columns_keep_four_letters_however_narrow_the_page():
    columns = (ScreenColumn("first"), ScreenColumn("second"))
    lines = plain(page(20).table(columns, [["a" * 30, "b" * 30]]))
    assert lines == ["first      second", "aaaaaaaa…  bbbbbbbb…"]
    narrow = page(9)
    assert narrow._widths(columns, [["a" * 30, "b" * 30]], True) == [4, 4]
    assert narrow._widths(columns, [["a" * 30, "b" * 4]], True) == [4, 4]
    assert page(10)._widths(columns, [["a" * 30, "b" * 30]], True) == [4, 4]
    assert page(11)._widths(columns, [["a" * 30, "b" * 30]], True) == [4, 5]
    assert (GAP, NARROWEST, SCREEN) == (2, 4, 39)


def test_where_nothing_is_cut_long_cells_are_folded_and_blanks_stay():
    columns = (ScreenColumn("first"), ScreenColumn("second"))
    rows = [["one  two", "x" * 12]]
    assert plain(page(18).table(columns, rows, is_cut=False)) == [
        "first     second",
        "one  two  xxxxxxxx",
        "          xxxx",
    ]
    assert plain(page(18).table(columns, rows)) == ["first    second", "one two  xxxxxxxx…"]


def test_heads_are_bold_and_cells_are_plain_text():
    head, row = page(40).table((ScreenColumn("a"), ScreenColumn("b")), [["[red]x[/red]", "y"]])
    assert row.plain == "[red]x[/red]  y", "names are never markup"
    assert any("bold" in str(span.style) for span in head.spans)
    assert not any("bold" in str(span.style) for span in row.spans)


# Pages


@pytest.mark.parametrize(("letters", "lines"), [(0, 1), (1, 1), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
def test_a_line_that_is_too_wide_takes_several(letters, lines):
    assert page(10).height([Text("x" * letters)]) == lines
    assert page(10).height([Text("x" * letters), Text("y"), Text("")]) == lines + 2


def test_parts_stand_a_line_apart_and_empty_ones_are_left_out(capsys):
    shown = Page(Console(width=10))
    parts = [[], [Text("one"), Text("two")], [], [Text("three " * 4)], []]
    for order in itertools.islice(itertools.permutations(parts), 3):
        shown.show(order)
        assert capsys.readouterr().out == f"one\ntwo\n\n{'three ' * 4}\n", "lines are not folded again"
