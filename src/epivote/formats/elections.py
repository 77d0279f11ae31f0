"""One election per file: PrefLib, abcvoting and Pabulib. A folder of such files is one instance each."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from epivote.data.rows import MOST_ALIKE
from epivote.errors import FileError
from epivote.formats.export import Collector
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile, lines_of

PREFLIB = (".cat", ".toc", ".toi", ".soc", ".soi")
ABC = ".abc.yaml"
ABC_KEYS = {"profile", "num_cand", "committeesize", "compute", "voter_weights", "description"}
MAX_COUNT = 100_000  # alternatives of a file, so that a wrong count fills no memory; more than any election known
PABULIB_SECTIONS = ("META", "PROJECTS", "VOTES")


def files_in(source: SourceFile, endings: Sequence[str]) -> Iterator[SourceFile]:
    """The file itself, or the files of a folder by name."""
    if not source.path.is_dir():
        yield source
        return
    for file in sorted(source.path.iterdir()):
        ending = next((each for each in endings if file.name.lower().endswith(each)), None)
        if ending is not None:
            yield SourceFile(str(Path(source.name) / file.name), file, ending)
        elif file.name.lower().endswith((*PREFLIB, ABC, ".pb")):
            raise FileError(f"{source} holds {file.name} beside {endings[0]} files; keep one kind in a folder")


def place_of(found: Collector, file: SourceFile, place: str) -> str:
    """A place within a file, with the file's name where there are several."""
    return f"{file.path.name}, {place}" if found.source.path.is_dir() else place


def checked_count(file: SourceFile, value: object, what: str) -> int:
    """A number of alternatives that memory can hold, or of voters that can be counted."""
    most = MOST_ALIKE if what == "voters" else MAX_COUNT
    if type(value) is not int or not 0 <= value <= most:
        limit = f"it must be a whole number of at most {most:,}"
        raise FileError(f"{file}: {value!r} is not a valid number of {what}; {limit}")
    return value


# abcvoting


def read_abcvoting(source: SourceFile, reading: Reading) -> Collector:
    """One list of candidates per voter; the position in the list is the voter, the same one in every file.

    Names of candidates and voters are taken from the comments that `convert` writes, if they are there.
    """
    found = Collector(source, reading)
    for file in files_in(source, (ABC,)):
        _abcvoting(found, file)
    return found


def _abcvoting(found: Collector, file: SourceFile) -> None:
    import yaml

    try:
        content = yaml.safe_load(file.text())
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise FileError(f"{file}, line {line}: not YAML ({error.problem}); correct it there") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise FileError(f"{file} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or "profile" not in content or not set(content) <= ABC_KEYS:
        others = ", ".join(sorted(ABC_KEYS - {"profile"}))
        raise FileError(f"{file} must be a mapping with the key profile; other keys may be {others}")
    profile = _profile(file, content)
    count = _num_cand(file, content, profile)
    candidates, voters, instance = _abc_names(file)
    found.menu[instance] = tuple(candidates.get(c, str(c)) for c in range(count))
    weights = _weights(file, content, len(profile))
    for position, ballot in enumerate(profile):
        if any(type(each) is not int or not 0 <= each < count for each in ballot):
            raise FileError(f"{file}, voter {position + 1}: {ballot!r} must list candidates from 0 to {count - 1}")
        name, place = voters.get(position, f"voter {position + 1}"), place_of(found, file, f"voter {position + 1}")
        found.add(name, instance, [candidates.get(c, str(c)) for c in ballot], place)
        if found.multiplicities.setdefault(name, weights[position]) != weights[position]:
            raise FileError(
                f"{file}, voter {position + 1}: the weight is {weights[position]}, but {found.multiplicities[name]} in "
                "another file; give a voter the same weight everywhere"
            )
    _remarks(found, content)


def _profile(file: SourceFile, content: dict[str, Any]) -> list[list[Any]]:
    """One list per voter; YAML's sets, such as `{0, 1}` and `{}`, are as good as lists."""
    profile = content["profile"]
    if not isinstance(profile, list):
        raise FileError(f"{file}: profile must be a list of ballots, one for every voter")
    ballots = [list(each) if _is_set(each) else each for each in profile]
    for position, ballot in enumerate(ballots, start=1):
        if not isinstance(ballot, list):
            raise FileError(f"{file}, voter {position}: {ballot!r} is not a list of candidates; write [0, 1], or []")
    return ballots


def _is_set(value: object) -> bool:
    return isinstance(value, set) or (isinstance(value, dict) and all(each is None for each in value.values()))


def _num_cand(file: SourceFile, content: dict[str, Any], profile: list[list[Any]]) -> int:
    """How many candidates there are; where nothing is said, up to the last that somebody approves."""
    if "num_cand" in content:
        return checked_count(file, content["num_cand"], "candidates")
    approved = [each for ballot in profile for each in ballot if type(each) is int]
    if profile and not approved:
        raise FileError(f"{file}: nobody approves anybody, so num_cand must say how many candidates there are")
    return checked_count(file, max(approved, default=0) + 1, "candidates")


def _weights(file: SourceFile, content: dict[str, Any], n_voters: int) -> list[int]:
    """How many voters everyone stands for: whole weights, as abcvoting merges equal ballots; else 1."""
    weights = content.get("voter_weights")
    if weights is None:
        return [1] * n_voters
    if not isinstance(weights, list) or len(weights) != n_voters:
        count = f"{len(weights):,} weights" if isinstance(weights, list) else repr(weights)
        raise FileError(f"{file}: voter_weights has {count} for {n_voters:,} voters; give one per voter, or none")
    for position, weight in enumerate(weights, start=1):
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight <= MOST_ALIKE:
            raise FileError(f"{file}, voter {position}: the weight {weight!r} is not a number above 0")
    if any(weight != int(weight) for weight in weights):
        return [1] * n_voters
    return [int(weight) for weight in weights]


def _remarks(found: Collector, content: dict[str, Any]) -> None:
    size, weights = content.get("committeesize"), content.get("voter_weights") or []
    if size is not None:
        found.remark(f"committeesize is {size}; add --size {size} if that is how many are right")
    if any(weight != int(weight) for weight in weights):
        found.remark("voter_weights are not whole numbers and were ignored; reliability is learnt from the ballots")
    elif any(weight != 1 for weight in weights):
        found.remark("each voter counts as many times as voter_weights says")


def _abc_names(file: SourceFile) -> tuple[dict[int, str], dict[int, str], str]:
    """Names of candidates, of voters and of the instance from the comments that `convert` writes."""
    names: dict[str, dict[int, str]] = {"candidate": {}, "voter": {}, "instance": {}}
    pattern = r'^# (candidate|voter|instance)(?: (\d+))?: (".*")\r?$'
    for kind, number, name in re.findall(pattern, file.text(), re.MULTILINE):
        try:
            names[kind][int(number or 0)] = json.loads(name)
        except ValueError:
            continue
    return names["candidate"], names["voter"], names["instance"].get(0, file.stem)


# Pabulib


def read_pabulib(source: SourceFile, reading: Reading) -> Collector:
    """A participatory budget with approval votes: projects are alternatives, the file is one instance."""
    found = Collector(source, reading)
    for file in files_in(source, (".pb",)):
        _pabulib(found, file)
    return found


def _pabulib(found: Collector, file: SourceFile) -> None:
    tables = _sections(file)
    meta = {row["key"]: row.get("value", "") for _, row in tables["META"] if "key" in row}
    kind = meta.get("vote_type", "approval")
    if kind != "approval":
        raise FileError(f"{file}: vote_type is {kind!r}; only approval votes can be read")
    found.menu[file.stem] = tuple(row.get("project_id", "") for _, row in tables["PROJECTS"])
    if "" in found.menu[file.stem]:
        raise FileError(f"{file}: every project needs a project_id")
    for number, row in tables["VOTES"]:
        if not row.get("voter_id"):
            raise FileError(f"{file}, line {number}: the voter_id is blank; give every vote a voter")
        if "vote" not in row:
            raise FileError(f"{file}, line {number}: there is no vote; write its cell, blank for an empty ballot")
        ticks = [part.strip() for part in row["vote"].split(",") if part.strip()]
        found.add(row["voter_id"], file.stem, ticks, place_of(found, file, f"line {number}"))
    if "min_length" in meta or "max_length" in meta:
        found.remark("min_length and max_length limit the ballots, not the true sets; give the size bounds with --size")


def _cells(file: SourceFile, number: int, line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")], delimiter=";"), [])]
    except csv.Error as error:
        raise FileError(f"{file}, line {number}: {error}; check the quotes there") from None


def _sections(file: SourceFile) -> dict[str, list[tuple[int, dict[str, str]]]]:
    """Every section as rows with their lines; cells are separated by semicolons and stripped."""
    tables: dict[str, list[tuple[int, dict[str, str]]]] = {name: [] for name in PABULIB_SECTIONS}
    section, header = "", list[str]()
    for number, line in lines_of(file):
        cells = _cells(file, number, line)
        if len(cells) >= 1 and cells[0].upper() in tables and not any(cells[1:]):
            section, header = cells[0].upper(), []
        elif any(cells) and not section:
            raise FileError(f"{file}, line {number}: {line.strip()[:40]!r} comes before META; is it a .pb file?")
        elif any(cells) and not header:
            header = cells
        elif any(cells):
            tables[section].append((number, dict(zip(header, cells, strict=False))))
    for name in ("PROJECTS", "VOTES"):
        if not tables[name]:
            raise FileError(f"{file}: section {name} is missing or empty")
    return tables
