"""Pieces of work are computed once, kept whole, and the same on one core or two."""

import json

import pytest

from experiments import pieces
from experiments.measure.batches import batch_numbers, batch_pieces, every, fit_batches
from experiments.measure.crowds import crowd_accuracies
from experiments.page.plan import Extent, Section
from experiments.pieces import joined, piece, work_through
from experiments.reproduce import reproduce

COMPUTED = []


def squares(upto: int, stop_at: int = -1) -> pieces.Columns:
    COMPUTED.append(upto)
    if upto == stop_at:
        raise KeyboardInterrupt
    return {"square": [float(k * k) for k in range(upto)]}


@pytest.fixture(autouse=True)
def nothing_computed():
    COMPUTED.clear()


def test_a_kept_piece_is_not_computed_again(tmp_path):
    wanted = [piece(squares, upto=3), piece(squares, upto=4), piece(squares, upto=3)]
    first = work_through(wanted, tmp_path, 1, "once")
    again = work_through(wanted, tmp_path, 1, "twice")
    assert COMPUTED == [3, 4]
    assert first == again
    assert joined(first, wanted[:2])["square"] == [0, 1, 4, 0, 1, 4, 9]


def test_an_interrupt_loses_nothing_that_was_finished(tmp_path):
    wanted = [piece(squares, upto=upto, stop_at=3) for upto in (1, 2, 3, 4)]
    with pytest.raises(KeyboardInterrupt):
        work_through(wanted, tmp_path, 1, "stopped")
    assert COMPUTED == [1, 2, 3]
    work_through([wanted[0], wanted[1], wanted[3]], tmp_path, 1, "going on")
    assert COMPUTED == [1, 2, 3, 4]
    assert not list(tmp_path.glob("*.part"))


def test_other_settings_or_other_code_are_computed_again(tmp_path, monkeypatch):
    work_through([piece(squares, upto=3)], tmp_path, 1, "before")
    work_through([piece(squares, upto=3, stop_at=9)], tmp_path, 1, "other settings")
    monkeypatch.setattr(pieces, "code_fingerprint", lambda measure: "another")
    work_through([piece(squares, upto=3)], tmp_path, 1, "other code")
    assert COMPUTED == [3, 3, 3]


def test_a_piece_says_what_made_it(tmp_path):
    work_through([piece(squares, upto=2)], tmp_path, 1, "kept")
    (path,) = tmp_path.glob("*.json")
    kept = json.loads(path.read_text())
    assert kept["settings"] == {"upto": 2}
    assert kept["source"] == pieces.code_fingerprint(squares)
    assert kept["result"]["columns"] == {"square": [0.0, 1.0]}
    assert kept["result"]["seconds"] >= 0


@pytest.mark.slow
def test_one_core_or_two_the_numbers_are_the_same(tmp_path):
    wanted = every("birds", ("AMLE", "AMLE, random start"), (8,), 4)
    wanted.append(piece(crowd_accuracies, mix="polarised", answers="dense", ballots_each=4, first=0, last=2))
    alone = work_through(wanted, tmp_path / "one", 1, "one core")
    together = work_through(wanted, tmp_path / "two", 2, "two cores")
    assert alone == together


def test_a_shorter_run_is_the_beginning_of_a_longer_one(tmp_path):
    short, long = batch_pieces("birds", "AMLE", 8, 3), batch_pieces("birds", "AMLE", 8, 22)
    found = work_through([*short, *long], tmp_path, 1, "both")
    whole = batch_numbers(found, "birds", "AMLE", 8, 22)["zero_one"]
    assert len(whole) == 22
    assert joined(found, short)["zero_one"] == whole[:3]


def test_batches_differ_and_rules_see_the_same_ones():
    majority = fit_batches("birds", "Majority", 6, 0, 8)
    again = fit_batches("birds", "Majority", 6, 4, 8)
    assert majority["hamming"][4:] == again["hamming"]
    assert len(set(majority["hamming"])) > 2


def test_a_section_without_pieces_is_written_into_a_folder_that_is_not_there_yet(tmp_path):
    section = Section("small", lambda _, __, sheet: sheet.numbers("small", ["x"], [[1]]))
    reproduce([section], Extent(), tmp_path / "new", 1, "small")
    assert (tmp_path / "new" / "small.csv").read_text() == "x\n1\n"
