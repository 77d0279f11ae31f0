"""One election per file: PrefLib, abcvoting and Pabulib. A folder of such files is one instance each."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from epivote.errors import FileError
from epivote.formats.export import Collector
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile, lines_of

PREFLIB = (".cat", ".toc", ".toi")
ABC = ".abc.yaml"
ABC_KEYS = {"profile", "num_cand", "committeesize", "compute", "voter_weights", "description"}
MAX_COUNT = 5_000_000  # voters or alternatives of a file, so that a wrong count fills no memory; a round number
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
    """A number of voters or alternatives that memory can hold."""
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise FileError(f"{file}: {value!r} is no number of {what} that can be read; it must be at most {MAX_COUNT:,}")
    return value


# PrefLib


def read_preflib(source: SourceFile, reading: Reading) -> Collector:
    """The first category of a `.cat` file, the first rank of a `.toc` or `.toi` file, is what was approved.

    The files merge equal ballots and name nobody, so voters are numbered by line, and those of two files are different.
    """
    found = Collector(source, reading)
    files = list(files_in(source, PREFLIB))
    for file in files:
        _preflib(found, file, f"{file.stem}/" if len(files) > 1 else "")
    found.remark("PrefLib files name no voters: everyone is known from one file only, so reliability rests on little")
    return found


def _preflib(found: Collector, file: SourceFile, prefix: str) -> None:
    header: dict[str, str] = {}
    ballots = []
    for number, line in lines_of(file):
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            header[key.strip()] = value.strip()
        elif line.strip():
            ballots.append((number, line.strip()))
    count = header.get("NUMBER ALTERNATIVES", "")
    if not count.isdigit():
        raise FileError(f"{file}: there is no line '# NUMBER ALTERNATIVES: ...'; it must say how many there are")
    n_alternatives = checked_count(file, int(count), "alternatives")
    names = {str(j): header.get(f"ALTERNATIVE NAME {j}") or str(j) for j in range(1, n_alternatives + 1)}
    if len(set(names.values())) < len(names):
        raise FileError(f"{file}: two alternatives have the same name; rename one")
    found.menu[file.stem] = tuple(names.values())
    voters = 0
    for position, (number, line) in enumerate(ballots, start=1):
        times, first = _preflib_line(file, number, line)
        for member in first:
            if member not in names:
                raise FileError(f"{file}, line {number}: {member!r} is not an alternative; they are 1 to {count}")
        voters = checked_count(file, voters + times, "voters")
        for copy in range(1, times + 1):
            name = f"{prefix}line-{position}" + (f".{copy}" if times > 1 else "")
            found.add(name, file.stem, [names[member] for member in first], place_of(found, file, f"line {number}"))
    stated = header.get("NUMBER VOTERS", str(voters))
    if stated != str(voters):
        found.remark(f"the header of {file} states {stated} voters, its lines hold {voters}")


def _preflib_line(file: SourceFile, number: int, line: str) -> tuple[int, list[str]]:
    """How many cast this ballot, and the members of its first category."""
    matched = re.fullmatch(r"(\d+)\s*:\s*(?:\{([^{}]*)\}|(\d+))\s*(?:,.*)?", line)
    if matched is None:
        raise FileError(f"{file}, line {number}: {line[:60]!r} is not of the form 'count: {{1, 2}}, {{3}}'")
    times, several, one = matched.groups()
    members = [one] if one is not None else [part.strip() for part in (several or "").split(",") if part.strip()]
    return int(times), members


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
        raise FileError(f"{file} must hold profile and num_cand, and nothing but {', '.join(sorted(ABC_KEYS))}")
    profile, count = content["profile"], content.get("num_cand")
    if not isinstance(profile, list) or not isinstance(count, int):
        raise FileError(f"{file}: profile must be a list of ballots and num_cand a number")
    checked_count(file, count, "candidates")
    candidates, voters, instance = _abc_names(file)
    found.menu[instance] = tuple(candidates.get(c, str(c)) for c in range(count))
    for position, ballot in enumerate(profile):
        if not isinstance(ballot, list) or any(type(each) is not int or not 0 <= each < count for each in ballot):
            raise FileError(f"{file}, voter {position + 1}: {ballot!r} must list candidates from 0 to {count - 1}")
        ticks = [candidates.get(c, str(c)) for c in ballot]
        place = place_of(found, file, f"voter {position + 1}")
        found.add(voters.get(position, f"voter {position + 1}"), instance, ticks, place)
    if "committeesize" in content:
        found.remark(
            f"committeesize is {content['committeesize']}; say --size {content['committeesize']} if so many are right"
        )
    if any(weight != 1 for weight in content.get("voter_weights") or []):
        found.remark("voter_weights were passed over: reliability is learnt from the ballots")


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
        found.remark(
            "min_length and max_length bound the ballots, not the number of right answers: say that with --size"
        )


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
