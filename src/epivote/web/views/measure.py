"""How wide and high a picture is, read from its first bytes, so that pages can keep its place free before it comes."""

from __future__ import annotations

import re
import struct
from functools import lru_cache
from pathlib import Path

HEAD = 65_536  # bytes in which a picture says its size; that of a JPEG stands behind its small preview
SVG_SIDES = [
    re.compile(rb"<svg\b[^>]*?\s" + side + rb"\s*=\s*[\"']\s*(\d+(?:\.\d+)?)\s*(?:px)?\s*[\"']")
    for side in (b"width", b"height")
]
SVG_BOX = re.compile(rb"<svg\b[^>]*?\sviewBox\s*=\s*[\"']\s*\S+[\s,]+\S+[\s,]+(\d+(?:\.\d+)?)[\s,]+(\d+(?:\.\d+)?)")


def picture_size(path: Path) -> tuple[int, int] | None:
    """Width and height; nothing where they are unknown."""
    try:
        return _size_of(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=10_000)
def _size_of(path: Path, _changed: int) -> tuple[int, int] | None:
    with path.open("rb") as file:
        head = file.read(HEAD)
    for kind in (_png, _gif, _webp, _jpeg, _svg):
        size = kind(head)
        if size is not None and min(size) > 0:
            return size
    return None


def _png(head: bytes) -> tuple[int, int] | None:
    if len(head) < 24 or not head.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _gif(head: bytes) -> tuple[int, int] | None:
    if len(head) < 10 or head[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    width, height = struct.unpack("<HH", head[6:10])
    return width, height


def _webp(head: bytes) -> tuple[int, int] | None:
    """Lossy, lossless and extended files say it in three different ways."""
    if len(head) < 30 or head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    if head[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """The first frame; pictures that are stored turned (EXIF) are left alone, for browsers turn them."""
    if not head.startswith(b"\xff\xd8") or b"Exif\x00" in head[:40]:
        return None
    place = 2
    while place + 9 < len(head) and head[place] == 0xFF:
        marker, length = head[place + 1], int.from_bytes(head[place + 2 : place + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[place + 5 : place + 9])
            return width, height
        place += 2 + length
    return None


def _svg(head: bytes) -> tuple[int, int] | None:
    width, height = (side.search(head) for side in SVG_SIDES)
    if width and height:
        return round(float(width[1])), round(float(height[1]))
    box = SVG_BOX.search(head)
    return (round(float(box[1])), round(float(box[2]))) if box else None
