"""Commands in a folder of small files, with everything they print and write."""

import re
import shlex

from click.testing import CliRunner

from accepted import GOLDEN, cast
from said import COMMAND

ACCEPTED = GOLDEN / "said"


def transcript(lines, folder, columns=80):
    """Every command with its output, its errors, its exit code if it is not 0, and the text files it wrote."""
    parts = []
    for line in lines:
        before = _texts(folder)
        command, _, given = line.partition(" < ")
        result = CliRunner().invoke(
            COMMAND,
            shlex.split(command),
            env={"COLUMNS": str(columns)},
            input=(folder / given).read_bytes() if given else None,
        )
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        parts.append(f"$ epivote {line}\n{_plain(result.stdout, folder)}")
        if result.stderr:
            parts.append(f"errors:\n{_plain(result.stderr, folder)}")
        if result.exit_code:
            parts.append(f"exit code {result.exit_code}\n")
        for name, text in _texts(folder).items():
            if before.get(name) != text:
                parts.append(f"wrote {name}:\n{_plain(text, folder)}")
    return "\n".join(part if part.endswith("\n") else f"{part}\n" for part in parts)


def _texts(folder):
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".csv", ".yaml", ".cat", ".json"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def _plain(text, folder):
    """Without what differs from run to run: the folder, seconds, and the last digits of numbers."""
    text = re.sub(
        r"\b(read|encode|fit|write)(\"?:?) \d+\.\d+(?:e-\d+)?", r"\1\2 SECONDS", text.replace(str(folder), "FOLDER")
    )
    return re.sub(r"-?\d+\.\d{6,}(?:e-?\d+)?|-?\d(?:\.\d+)?e-\d+", lambda found: f"{float(found.group()):.5g}", text)


# Small files, always the same


def write_cast(path, ballots):
    rows = [f"{voter},{instance},{'|'.join(ticks)}\n" for (voter, instance), ticks in ballots.items()]
    path.write_text("".join(["voter,instance,alternatives\n", *rows]), encoding="utf-8")


def write_sets(path, sets):
    rows = [f"{instance},{'|'.join(names)}\n" for instance, names in sets.items()]
    path.write_text("".join(["instance,alternatives\n", *rows]), encoding="utf-8")


def write_small_files(folder):
    """`small` has 9 instances, `middle` 40 with voters of all kinds; both with all gold sets and with some of them."""
    for name, (ballots, right) in {
        "small": cast(9, 5, ["cat", "dog", "owl", "fox"], 1),
        "middle": cast(40, 14, ["ash", "elm", "fir", "oak", "yew"], 2, hits=0.6, alarms=0.2, asked=0.5,
                       noise=range(9, 12), copies=(13, 14)),
    }.items():  # fmt: skip
        write_cast(folder / f"{name}.csv", ballots)
        write_sets(folder / f"{name}-gold.csv", right)
        write_sets(folder / f"{name}-some.csv", dict(list(right.items())[: len(right) // 3]))
    (folder / "sizes.csv").write_text("instance,size\nq1,2\nq3,0..3\nq4,1..\nelsewhere,1\n")
    (folder / "menu.csv").write_text(
        "instance,alternatives\n" + "".join(f"q{z},cat|dog|owl|fox{'|elk' * (z % 2)}\n" for z in range(1, 10))
    )
    (folder / "ties.csv").write_text(
        "voter,instance,alternatives\n"
        + "".join(f"{v},q{z},a|b\n" for z in range(1, 8) for v in "xy")
        + "x,r,a\ny,r,\nx,s,b\n"
    )
    (folder / "truth.csv").write_text(
        "instance,alternatives,confidence\n"
        "q1,cat,0.98\nq2,cat|dog,0.95\nq3,fox,0.72\nq4,cat,0.85\nq5,dog,0.31\nq6,,0.35\nq7,fox|owl,0.999\nq8,cat,1.0\nq9,fox,0.05\n"
    )
    (folder / "form.csv").write_text(
        "Timestamp,Username,Q1 birds,Q2 birds,Q3 birds\n1,ann,owl;wren,wren,\n2,bo,,owl;wren,tit\n"
        "3,cy,owl,wren,owl;tit\n4,key,owl,wren,tit\n"
    )
