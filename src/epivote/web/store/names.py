"""Names of voters: which can be read at all, and which two people would take for the same."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 40  # characters of a participant's name; a round number
FORMULAS = "=+-@＝＋－＠"
KEPT = "\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Not seen, but needed: joiners of some scripts and emoji, and variants of emoji and ideographs."""
REFUSED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""What else Unicode calls default-ignorable: fonts show nothing for it."""
BLANK = "\u2800\U0001d159"  # a Braille cell without dots and a note without a head: characters that look like a space
UNSEEN = re.compile(f"[{KEPT}{REFUSED}]")
NOT_IN_NAMES = re.compile(f"[{REFUSED}{BLANK}\ufffd]")
ALIKE = str.maketrans(
    # Small letters after case folding; where small and capital letters look like different ones, the capital counts.
    "авекмнорстухѕіјһԁԛԝѵӏαβεζηικμνορτυχγωıɑɡ01|",
    "abekmhopctyxsijhdqwvlabezhikmnoptyxywiagoll",
)
"""Cyrillic, Greek and other characters that look like Latin letters; only those that most fonts draw alike."""


def clean_name(text: str) -> str | None:
    """A name as it is kept: white space made single; nothing if it is blank, too long, unprintable, or if spreadsheets
    would take it for a formula.
    """
    name = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
    seen = UNSEEN.sub("", name)
    if len(name) > LONGEST_NAME or NOT_IN_NAMES.search(name) or not seen.isprintable() or not _is_seen(seen):
        return None
    return None if seen[0] in FORMULAS else name


def name_key(name: str) -> str:
    """What two names share that people would take for the same: case, width, what is not seen, and look-alikes.

    Accents stay: José and Jose are two people.
    """
    folded = unicodedata.normalize("NFKD", UNSEEN.sub("", name)).casefold()
    skeleton = unicodedata.normalize("NFKD", folded).translate(ALIKE)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", skeleton)).strip()


def _is_seen(text: str) -> bool:
    """Whether there is anything but space, and marks that need something to stand on."""
    return any(unicodedata.category(each)[0] not in "ZMC" for each in text)
