"""Different texts numbered by compiled loops against a dictionary, also where hashes agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote.kernels.library import loops, place
from epivote.kernels.texts import BEYOND, FIRST_BYTES, FIRST_ROOM, Texts

FACTOR = 0x9E3779B97F4A7C15  # of the hash, as in loops/texts.cpp

PIECES = st.lists(st.binary(max_size=20).filter(lambda text: b"\n" not in text), max_size=60)


def numbered(texts, pieces):
    """The numbers of these texts, told one after the other in one array of bytes."""
    text = np.frombuffer(b";".join(pieces) + bytes(BEYOND + 1), np.uint8).copy()
    ends = np.cumsum([len(piece) + 1 for piece in pieces], dtype=np.int64) - 1
    begins = ends - np.array([len(piece) for piece in pieces], np.int64)
    return texts.number(text, begins, ends).tolist()


def by_dictionary(known, pieces):
    return [known.setdefault(piece, len(known)) for piece in pieces]


@given(st.lists(PIECES, min_size=1, max_size=3))
def test_texts_are_numbered_in_order_of_first_appearance(batches):
    texts, known = Texts(), {}
    for pieces in batches:
        assert numbered(texts, pieces) == by_dictionary(known, pieces)
    assert texts.count == len(known)


@given(PIECES, PIECES)
def test_names_of_others_are_included(ours, theirs):
    texts, other, known = Texts(), Texts(), {}
    by_dictionary(known, ours)
    numbered(texts, ours)
    numbered(other, theirs)
    assert texts.include(other).tolist() == by_dictionary(known, dict.fromkeys(theirs))


@given(
    st.lists(
        st.lists(st.binary(max_size=90).filter(lambda text: b"\n" not in text), max_size=20), min_size=1, max_size=3
    )
)
def test_parts_of_texts_are_numbered_in_order_of_first_appearance(batches):
    texts, known = Texts(), {}
    for cells in batches:
        text = np.frombuffer(b",".join(cells) + bytes(BEYOND + 1), np.uint8).copy()
        ends = np.cumsum([len(cell) + 1 for cell in cells], dtype=np.int64) - 1
        begins = ends - np.array([len(cell) for cell in cells], np.int64)
        counts, numbers = texts.number_parts(text, begins, ends, "|")
        parts = [[part for part in cell.split(b"|") if part] for cell in cells]
        assert counts.tolist() == list(map(len, parts))
        assert numbers.tolist() == by_dictionary(known, [part for cell in parts for part in cell])
    assert texts.count == len(known)


@given(st.lists(st.sampled_from([b"a", b"a\0", b"a\0\0", b"\0", b"12345678", b"123456789", b"", b"b"]), max_size=40))
def test_short_parts_that_differ_in_zeros_only_are_told_apart(parts):
    text = np.frombuffer(b"|".join(parts) + bytes(BEYOND + 1), np.uint8).copy()
    size = len(b"|".join(parts))
    _, numbers = Texts().number_parts(text, np.array([0]), np.array([size]), "|")
    assert numbers.tolist() == by_dictionary({}, [part for part in parts if part])


def test_names_are_given_as_text():
    texts = Texts()
    assert texts.names() == []
    pieces = ["é", "", "a long name of many bytes", "😀", "a long name of many byteS"]
    numbered(texts, [piece.encode() for piece in pieces])
    assert texts.names() == pieces
    numbered(texts, [b"\xff"])
    with pytest.raises(UnicodeDecodeError):
        texts.names()


def test_room_grows_with_names():
    pieces = [f"name {k * 7919 % 30_011} of many".encode() for k in range(60_000)]
    assert len(set(pieces)) > 4 * FIRST_ROOM
    assert sum(map(len, set(pieces))) > 4 * FIRST_BYTES
    texts, known = Texts(), {}
    for begin in range(0, len(pieces), 10_000):
        part = pieces[begin : begin + 10_000]
        assert numbered(texts, part) == by_dictionary(known, part)
    assert [name.encode() for name in texts.names()] == list(known)


def text_with_hash(code):
    """The text of eight bytes that has this hash."""
    inverse, all_bits = pow(FACTOR, -1, 1 << 64), (1 << 64) - 1
    word = code * inverse & all_bits
    word ^= word >> 32
    return ((word * inverse & all_bits) ^ 8).to_bytes(8, "little")


def test_texts_with_the_same_slot_and_half_of_their_hash_are_told_apart():
    alike = [text_with_hash(0x1230_0000_89AB_CDEF | middle << 32) for middle in range(1, 200)]
    for text in alike[:3]:
        array = np.frombuffer(text + bytes(BEYOND), np.uint8).copy()
        assert loops().text_hash(place(array, 1), 8) & 0xFFFF_0000_FFFF_FFFF == 0x1230_0000_89AB_CDEF
    pieces = [text for text in alike if b"\n" not in text]
    pieces += pieces[::-1]
    assert numbered(Texts(), pieces) == by_dictionary({}, pieces)


def test_a_slot_past_the_last_one_is_the_first():
    last = [text_with_hash(0xFFFF_FFFF_0000_0000 | low) for low in range(1, 50)]
    pieces = [text for text in last if b"\n" not in text] * 2
    assert numbered(Texts(), pieces) == by_dictionary({}, pieces)
    texts = Texts()
    numbered(texts, pieces)
    many = [str(k).encode() for k in range(3 * FIRST_ROOM)]
    numbered(texts, many)  # so that names are put into new slots
    assert numbered(texts, pieces) == by_dictionary({}, pieces)
