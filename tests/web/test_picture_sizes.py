"""How large pictures are, by their bytes: every kind, every byte of a size, and pictures that were cut short."""

import itertools
import os
import struct

import pytest

from epivote.web.views.measure import picture_size

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 0x01020304, 0x05060708)
GIF = b"GIF87a" + struct.pack("<HH", 0x0102, 0x0304)
WEBP = b"RIFF\x11\x12\x13\x14WEBP"
EXTENDED = WEBP + b"VP8X" + bytes(range(0x31, 0x39)) + bytes([1, 2, 3, 4, 5, 6])
EXTENDED_SIZE = (0x030201 + 1, 0x060504 + 1)
LOSSLESS = WEBP + b"VP8L" + b"\x31\x32\x33\x34\x2f" + bytes([0x01, 0xC2, 0xF3, 0x34]) + b"\x71\x72\x73\x74\x75"
LOSSLESS_SIZE = (0x0201 + 1, (0x34F3C201 >> 14) % 0x4000 + 1)
LOSSY = WEBP + b"VP8 " + bytes(range(0x31, 0x3B)) + struct.pack("<HH", 0xC000 | 0x3FFE, 0x8000 | 0x1234)
LOSSY_SIZE = (0x3FFE, 0x1234)
JFIF = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
PREVIEW = b"\xff\xe2" + struct.pack(">H", 0x0205) + b"\xff" * 0x0203


def frame(marker):
    """The part of a JPEG that says how wide (0x0304) and high (0x0102) the picture is, and the first byte after it."""
    return bytes([0xFF, marker]) + struct.pack(">HBHH", 17, 8, 0x0102, 0x0304) + b"\x03"


JPEG = b"\xff\xd8" + JFIF + PREVIEW + frame(0xC0)
JPEG_SIZE = (0x0304, 0x0102)
KINDS = {
    "png": (PNG, (0x01020304, 0x05060708)),
    "gif": (GIF, (0x0102, 0x0304)),
    "extended": (EXTENDED, EXTENDED_SIZE),
    "lossless": (LOSSLESS, LOSSLESS_SIZE),
    "lossy": (LOSSY, LOSSY_SIZE),
    "jpeg": (JPEG, JPEG_SIZE),
}


@pytest.fixture
def size_of(tmp_path):
    """The size of a picture with these bytes; every one is another file."""
    numbers = itertools.count()

    def measured(content):
        path = tmp_path / str(next(numbers))
        path.write_bytes(content)
        return picture_size(path)

    return measured


@pytest.mark.parametrize("kind", KINDS)
def test_every_byte_of_a_size_counts_and_none_beside_it(size_of, kind):
    content, size = KINDS[kind]
    assert size_of(content) == size
    assert size_of(content + b"\xee" * 40) == size


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_that_was_cut_short_has_no_size(size_of, kind):
    content, _ = KINDS[kind]
    lengths = range(max(0, len(content) - 12), len(content))
    assert {length: size_of(content[:length]) for length in lengths} == dict.fromkeys(lengths)


@pytest.mark.parametrize("kind", KINDS)
def test_what_begins_otherwise_is_another_kind_of_file(size_of, kind):
    content, _ = KINDS[kind]
    signature = {"png": 8, "gif": 6, "jpeg": 2}.get(kind, 4)
    for place in range(signature):
        other = content[:place] + b"!" + content[place + 1 :]
        assert size_of(other) is None, place
    if kind in ("extended", "lossless", "lossy"):
        assert size_of(content.replace(b"WEBP", b"WAVE")) is None


def test_the_largest_and_smallest_sizes(size_of):
    lossy = LOSSY[:26]
    assert size_of(lossy + struct.pack("<HH", 0x3FFF, 0xFFFF)) == (0x3FFF, 0x3FFF)
    assert size_of(lossy + struct.pack("<HH", 1, 0x4001)) == (1, 1)
    assert size_of(lossy + struct.pack("<HH", 0x4000, 1)) is None
    lossless = LOSSLESS[:21]
    assert size_of(lossless + b"\xff" * 4 + bytes(5)) == (0x4000, 0x4000)
    assert size_of(lossless + b"\0" * 4 + bytes(5)) == (1, 1)
    assert size_of(b"GIF89a" + struct.pack("<HH", 1, 1)) == (1, 1)
    assert size_of(b"GIF89a" + struct.pack("<HH", 0, 1)) is None
    assert size_of(b"GIF89a" + struct.pack("<HH", 1, 0)) is None


@pytest.mark.parametrize("marker", range(0xBE, 0xD2))
def test_a_jpeg_says_its_size_in_a_frame_of_any_kind(size_of, marker):
    """0xC4, 0xC8 and 0xCC stand among the frames but are tables."""
    is_frame = 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC)
    other = bytes([0xFF, marker]) + struct.pack(">HBHH", 10, 8, 5, 6) + b"\x03" * 3
    assert size_of(b"\xff\xd8" + JFIF + other + frame(0xC2)) == ((6, 5) if is_frame else JPEG_SIZE)


def test_a_jpeg_that_is_broken_has_no_size(size_of):
    assert size_of(b"\xff\xd8" + JFIF + b"\x00" + frame(0xC0)) is None
    assert size_of(b"\xff\xd8" + b"\xfe" + frame(0xC0)[1:] + bytes(20)) is None
    assert size_of(b"\x01\x02" + frame(0xC0) + bytes(20)) is None


def test_a_jpeg_that_may_be_stored_turned_has_no_size(size_of):
    def with_word_at(place):
        filling = bytes(place - 6) + b"Exif\0" + bytes(60)
        return size_of(b"\xff\xd8\xff\xe1" + struct.pack(">H", len(filling) + 2) + filling + frame(0xC0))

    assert with_word_at(6) is None
    assert with_word_at(24) is None, "behind the part of 16 bytes that older programs expect"
    assert with_word_at(35) is None
    assert with_word_at(36) == JPEG_SIZE, "so far behind, it is not about the picture itself"


@pytest.mark.parametrize(
    ("tag", "size"),
    [
        (b'<svg width="90" height="60">', (90, 60)),
        (b"<svg height='60px' width = ' 90.6 px '>", (91, 60)),
        (b'<svg width="90" viewBox="1 2 40 30">', (40, 30)),
        (b'<svg height="60" viewBox="1,2,40.4,30.6">', (40, 31)),
        (b'<svg width="90">', None),
        (b'<svg height="60">', None),
        (b'<svg width="0" height="60">', None),
        (b'<svg><rect width="90" height="60"/></svg>', None),
        (b'<svg data-width="90" data-height="60">', None),
    ],
)
def test_drawings_say_their_size_by_sides_or_by_a_box(size_of, tag, size):
    assert size_of(tag) == size


def test_only_the_first_64_kilobytes_are_read(size_of):
    tag = b'<svg width="90" height="60"'
    assert size_of(b" " * (65_536 - len(tag)) + tag) == (90, 60)
    assert size_of(b" " * (65_537 - len(tag)) + tag) is None


def test_a_picture_that_was_replaced_is_measured_again(tmp_path):
    path = tmp_path / "x.gif"
    path.write_bytes(b"GIF89a" + struct.pack("<HH", 30, 20))
    os.utime(path, ns=(1, 1))
    assert picture_size(path) == (30, 20)
    path.write_bytes(b"GIF89a" + struct.pack("<HH", 50, 40))
    os.utime(path, ns=(2, 2))
    assert picture_size(path) == (50, 40)
