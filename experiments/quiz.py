"""Where the paper's quiz lies and how it is read; it is not part of this project."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import polars as pl

from epivote import Ballots, Truths

FILE = "football_quiz/data_quiz_foot.csv"
CHECKSUM = "7db54c6f1c9fe73d9cefa8e4ad5d06af32e9f046094ea3f8fbca4bca22f40030"
SOURCE = f"""The paper's quiz is not here. Its authors publish it at
  github.com/taharallouche/Football-Quiz-Crowdsourcing, file data/data_quiz_foot.csv,
  commit 6c6d34ba4bf4cb85830003b43a2a63f195a5b1b2, sha256 {CHECKSUM}.
Give the file itself (--data FILE), or put it at FOLDER/{FILE} and give --data FOLDER or set EPIVOTE_DATA=FOLDER."""
TEAMS = ["Real Madrid", "Barcelone", "Bayern Munich", "Inter Milan", "PSG"]
GOLD_ROW = "Correction987"
BESIDE = Path(__file__).parent.parent.parent / "shared" / "data"


def data_folder() -> Path:
    """Where ballots of others lie: the folder EPIVOTE_DATA names, else shared/data beside the project."""
    return Path(os.environ.get("EPIVOTE_DATA") or BESIDE)


def find_quiz() -> Path | None:
    """The quiz in the data folder, or None; a file that is not the authors' is refused."""
    path = data_folder() if data_folder().is_file() else data_folder() / FILE
    if not path.is_file():
        return None
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != CHECKSUM:
        raise SystemExit(f"{path} has sha256 {found}, not {CHECKSUM}: it is not the file the figures are about")
    return path


def require_quiz() -> Path:
    """The quiz, or an end that says where the authors publish it."""
    path = find_quiz()
    if path is None:
        raise SystemExit(SOURCE)
    return path


def read_quiz(path: Path) -> tuple[Ballots, Truths]:
    """Ballots of the participants, named by row, and the right sets."""
    frame = pl.read_csv(path, infer_schema=False)
    pictures = [name for name in frame.columns if name.startswith("Image")]
    everyone = Ballots.from_frame(
        frame.with_row_index("row").with_columns(voter=pl.format("participant {}", "row")),
        layout="wide_instances",
        approvals=pictures,
        separator=", ",
        alternatives=TEAMS,
    )
    key = everyone.voters[frame["Pseudo"].index_of(GOLD_ROW) or 0]
    gold = {picture: everyone.ballot(key, picture) or frozenset() for picture in pictures}
    participants = [voter for voter in everyone.voters if voter != key]
    return everyone.select(voters=participants), Truths.from_mapping(gold, alternatives=TEAMS)
