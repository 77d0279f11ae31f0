"""Packing: where it works, what it says, and what it does with names."""

import pytest

from epivote import EpivoteError, pack_files, read_export

HEADER = "voter,instance,alternatives\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return to_file


def test_rows_are_dealt_out_beside_the_target_and_nothing_is_left_there(write, tmp_path):
    seen = []
    folder = tmp_path / "deep" / "down"
    told = []

    def look(text):
        told.append(text)
        seen.append({path.name[:8] for path in folder.iterdir()})

    pack_files([write("b.csv", f"{HEADER}v,q,a\n")], folder / "packed", told=look)
    assert told == ["Reading b.csv: 1 rows so far", "Packing part 1 of 1"]
    assert seen[0] == {".packed."}
    assert [path.name for path in folder.iterdir()] == ["packed"]
    with pytest.raises(EpivoteError, match=r"^deep already exists; remove it or choose another folder$"):
        pack_files(["b.csv"], "deep")


def test_what_was_assumed_is_noted_once(write):
    noted = []
    names = [write("a.csv", "rater,item,tags\nv,q,a;b\nw,q,b\n"), write("b.csv", "rater,item,tags\nx,q,a; b\n")]
    packed = pack_files(names, "packed", noted=noted.append)
    assert noted == [
        "judging by column names, voters are in 'rater', instances are in 'item', ticks are in 'tags'; --voter, "
        "--instances and --ticks choose other columns",
        "cells such as 'a;b' were split at ';' (override with --separator)",
    ]
    assert {key: set(ticks) for key, ticks in packed.in_memory().items()} == {
        ("v", "q"): {"a", "b"},
        ("w", "q"): {"b"},
        ("x", "q"): {"a", "b"},
    }
    noted.clear()
    write("m.txt", "1 0\n0 1\n")
    pack_files(["m.txt"], "matrix", noted=noted.append)
    assert noted == list(read_export("m.txt").notes)
    assert len(noted) == 1


def test_voters_whose_ballots_are_missing_are_not_packed(write):
    path = write("b.csv", f"{HEADER}v,q,a\nw,q,NA\nx,q,\ny,q, NA\n")
    packed = pack_files([path], "packed", missing="NA", blank="missing")
    assert packed.voters == ("v",)
    empty = pack_files([path], "empty", missing="NA")
    assert empty.voters == ("v", "x")
    assert read_export(path, missing="NA").ballots.voters == ("v", "x")


def test_alternatives_come_sorted_stated_or_from_menus(write):
    path = write("b.csv", f"{HEADER}v,q,b\nw,r,a|c\n")
    assert pack_files([path], "p1").alternatives == ("a", "b", "c")
    assert pack_files([path], "p2", alternatives=["c", "b", "a", "d"]).alternatives == ("c", "b", "a", "d")
    menu = {"q": ["b", "x"], "r": ["c", "a"]}
    assert pack_files([path], "p3", menu=menu).alternatives == read_export(path, menu=menu).ballots.alternatives
    without = pack_files([path], "p4", none="c")
    assert without.alternatives == ("a", "b")
    assert dict(without.in_memory().items()) == dict(read_export(path, none="c").ballots.items())
