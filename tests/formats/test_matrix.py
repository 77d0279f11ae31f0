"""Pasted matrices: titles, headers, names of voters, signs for nothing, and what is a table instead."""

import pytest
from trying import refused

from epivote import read_export


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(text, name="m.txt"):
        (tmp_path / name).write_text(text)
        return name

    return to_file


def ballots_of(path, **options):
    found = read_export(path, **options)
    assert found.format == "matrix"
    return {key: set(ticks) for key, ticks in found.ballots.items()}


@pytest.mark.parametrize("name", ["voter", "Worker", "ANNOTATOR", "name", "Respondent", ""])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_words_above_the_voters(write, name, mark):
    text = f"{name},a,b\n1,1,0\n0,0,0\n".replace(",", mark)
    path = write(text)
    assert ballots_of(path) == {("1", "instance 1"): {"a"}, ("0", "instance 1"): set()}
    assert read_export(path).ballots.alternatives == ("a", "b")


def test_an_unknown_word_above_the_voters_is_seen_from_the_marks(write):
    path = write("bird a b\nann 1 0\nbo 0 1\n")
    assert ballots_of(path) == {("ann", "instance 1"): {"a"}, ("bo", "instance 1"): {"b"}}
    assert read_export(path).ballots.alternatives == ("a", "b")
    path = write("a b\nann 1 0\n")
    assert ballots_of(path) == {("ann", "instance 1"): {"a"}}
    path = write("a b c\n1 0 1\n")
    assert ballots_of(path) == {("voter 1", "instance 1"): {"a", "c"}}


def test_blocks_are_instances_and_voters_count_anew_in_each(write):
    path = write("\n\n1 0\n0 1\n\n\n# second\n1 1\n\n0 0\n1 0\n\n")
    assert ballots_of(path) == {
        ("voter 1", "instance 1"): {"a1"},
        ("voter 2", "instance 1"): {"a2"},
        ("voter 1", "second"): {"a1", "a2"},
        ("voter 1", "instance 3"): set(),
        ("voter 2", "instance 3"): {"a1"},
    }
    path = write("#  first title \n\nv a b\nann 1 0\n#second\nann 0 1\n \nann 1 1\n")
    assert ballots_of(path) == {
        ("ann", "first title"): {"a"},
        ("ann", "second"): {"b"},
        ("ann", "instance 2"): {"a", "b"},
    }


def test_a_header_stands_on_top_only(write):
    path = write("a b\n1 0\n\nc d\n0 1\n")
    assert refused(path) == "m.txt, line 4: 'c d' is not a row of 0 and 1, with or without a name before it"


@pytest.mark.parametrize("sign", ["?", "-", "na", "NaN", "NA", "nan", "."])
def test_signs_for_nothing(write, sign):
    path = write(f"1 0\n{sign} {sign}\n0 0\n")
    assert ballots_of(path) == {("voter 1", "instance 1"): {"a1"}, ("voter 3", "instance 1"): set()}
    path = write(f"{sign} {sign}\n0 1\n")
    assert ballots_of(path, format="matrix")
    path = write(f"\n1 0\n0 {sign}\n")
    assert refused(path) == (
        f"m.txt, line 3: {sign!r} is mixed with 0 and 1; write 0 for no tick, "
        f"or {sign!r} in every cell of a missing ballot"
    )


def test_cells_may_be_quoted_and_padded(write):
    path = write('  "v" , "a x" ;"b"\t"c" \n "ann" , "1"; 0\t1 \n')
    assert ballots_of(path) == {("ann", "instance 1"): {"a x", "c"}}


def test_alternatives_given_by_the_user(write):
    path = write("1 0 1\n")
    assert ballots_of(path, alternatives=["x", "y", "z"]) == {("voter 1", "instance 1"): {"x", "z"}}
    assert refused(path, alternatives=["x", "y"]) == (
        "m.txt, line 1: 3 cells where there are 2 alternatives; give every line the same number of cells"
    )


def test_long_lines_are_shown_in_part(write):
    words = "v 1 " + " ".join(f"word{number}" for number in range(20))
    assert refused(write(f"1 0\n{words}\n"), format="matrix") == (
        f"m.txt, line 2: {words[:40]!r} is not a row of 0 and 1, with or without a name before it"
    )
    assert refused(write("1 0 1\n1 0\n")) == (
        "m.txt, line 2: 2 cells where there are 3 alternatives; give every line the same number of cells"
    )


@pytest.mark.parametrize("header", ["voter,instance,a", "voter,Task,a", "worker,item,a", "voter,instance,alternatives"])
def test_a_table_whose_names_are_0_and_1_is_no_matrix(write, header):
    path = write(f"{header}\nann,1,1\nbo,0,0\nann,2,1\n", "t.csv")
    found = read_export(path)
    assert found.format == ("ballots" if header.endswith("alternatives") else "indicators")
    assert set(found.ballots.instances) == {"1", "0", "2"}


def test_a_column_that_the_user_calls_that_of_the_instances_makes_a_table(write):
    path = write("voter,Motif,a\nann,1,1\nbo,0,0\n", "t.csv")
    assert read_export(path).format == "matrix"
    for name in ("Motif", "motif"):
        assert read_export(path, instances=name).format == "indicators"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ann 1 0\n", "matrix"),
        ("1 0\n", "matrix"),
        ("1\n0\n", "matrix"),
        ("# title\n\nv a b\nann 1 0\n", "matrix"),
        ("a b\n1 0\n", "matrix"),
        ("voter,instance,alternatives\nann,q1,a\n", "ballots"),
        ("voter,instance,alternatives\nann,q1,1\n", "ballots"),
    ],
)
def test_what_looks_like_a_matrix(write, text, kind):
    assert read_export(write(text)).format == kind


def test_two_cells_of_which_one_is_a_mark_are_not_enough(write):
    assert "there is no column 'voter'" in refused(write("ann 1\nbo 0\n"))
    assert ballots_of(write("ann 1\nbo 0\n"), format="matrix") == {
        ("ann", "instance 1"): {"a1"},
        ("bo", "instance 1"): set(),
    }
    assert "no column" in refused(write("a b\n"))
    assert "no column" in refused(write("a b\nc d\n1 0\n"))
    assert "is empty" in refused(write("\n"))
