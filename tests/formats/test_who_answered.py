"""A form without a usual column for respondents: a column of names is recognised, a question is not taken for one."""

import pytest

from epivote import read_export

TICKS = ("a, b", "b, c", "a", "c")


def form(rows, names, **more):
    header = ["Timestamp", "Q1", "Q2", "Pseudo", *more]
    lines = [
        ["t", TICKS[k % 4], TICKS[k % 3], name, *(cells[k] for cells in more.values())] for k, name in enumerate(names)
    ]
    return "\n".join(",".join(f'"{cell}"' for cell in line) for line in [header, *lines][: rows + 1]) + "\n"


def names_of(count):
    return [f"p{k}" for k in range(count)]


def read(write, text, **options):
    return read_export(write(text), format="forms", **options)


@pytest.fixture
def write(tmp_path):
    def to_file(text):
        (tmp_path / "f.csv").write_text(text, encoding="utf-8")
        return tmp_path / "f.csv"

    return to_file


@pytest.mark.parametrize(("rows", "recognised"), [(9, False), (10, True), (30, True)])
def test_a_column_of_names_tells_who_answered(write, rows, recognised):
    found = read(write, form(rows, names_of(rows)))
    named = (
        "column 'Pseudo' was taken as the names of respondents, because all its cells differ (override with --voter)"
    )
    assert (named in found.notes) == recognised
    assert found.ballots.voters == tuple(names_of(rows) if recognised else [f"row {k + 1}" for k in range(rows)])
    assert ("Pseudo" in found.ballots.instances) == (not recognised)


@pytest.mark.parametrize("spoilt", ["", " ", "p3", " p3 ", "x, p3", "p3;y", "p3|y", "p3\nz"])
def test_cells_that_are_blank_or_have_a_part_in_common_are_no_names(write, spoilt):
    found = read(write, form(12, [*names_of(11), spoilt]))
    assert found.ballots.voters[0] == "row 1"
    assert "Pseudo" in found.ballots.instances


def test_names_may_hold_marks_if_no_part_comes_twice(write):
    names = [*names_of(11), "Doe, Jane"]
    assert read(write, form(12, names)).ballots.voters == tuple(names)


def test_of_two_columns_of_names_none_is_taken(write):
    found = read(write, form(12, names_of(12), Nickname=[f"n{k}" for k in range(12)]))
    assert found.ballots.voters[0] == "row 1"


def test_a_usual_name_and_the_option_come_first(write):
    text = form(12, names_of(12), Email=["one@example.org"] * 6 + ["two@example.org"] * 6)
    assert read(write, text, duplicates="last").ballots.voters == ("one@example.org", "two@example.org")
    by_hand = read(write, form(12, names_of(12)), voter="Pseudo")
    assert by_hand.ballots.voters == tuple(names_of(12))
    assert not any("all its cells differ" in note for note in by_hand.notes)


@pytest.mark.parametrize("option", ["question", "instances"])
def test_a_column_that_is_asked_for_is_a_question(write, option):
    found = read(write, form(12, names_of(12)), **{option: "Pseudo"})
    assert found.ballots.instances == ("Pseudo",)
    others = read(write, form(12, names_of(12)), **{option: "Q*"})
    assert others.ballots.instances == ("Q1", "Q2")
    assert others.ballots.voters == tuple(names_of(12))
