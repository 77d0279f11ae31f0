"""The command run in this process, and what it says taken apart."""

import json
import re
from typing import NamedTuple

from click.testing import CliRunner
from typer.main import get_command

from epivote.cli import app

COMMAND = get_command(app)


def run(*arguments, **options):
    """The command on a terminal so wide that no table is folded."""
    return CliRunner().invoke(COMMAND, [str(argument) for argument in arguments], env={"COLUMNS": "400"}, **options)


def said(*arguments, **options) -> str:
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def told(*arguments, **options):
    """What the command says with --json."""
    return json.loads(said(*arguments, "--json", **options))


class Table(NamedTuple):
    title: str
    heads: list[str]
    rows: list[list[str]]
    caption: str


def tables(text) -> list[Table]:
    """All tables; cells stand at least two blanks apart, and blank ones are left out."""
    lines, found = text.splitlines(), []
    for k, line in enumerate(lines):
        if re.fullmatch(r" ─+ ", line):
            end = next(j for j in range(k + 1, len(lines)) if not lines[j].strip())
            after = lines[end + 1] if end + 1 < len(lines) else ""
            found.append(
                Table(
                    lines[k - 3] if k >= 3 else "",
                    re.split(r"\s{2,}", lines[k - 1].strip()),
                    [re.split(r"\s{2,}", row.strip()) for row in lines[k + 1 : end]],
                    after if after.startswith("and ") else "",
                )
            )
    return found


def table(text, title) -> Table | None:
    """The table with this title, or under this sentence."""
    return next((each for each in tables(text) if each.title == title), None)


def block(text, first) -> list[list[str]]:
    """The lines between two blank ones whose first line begins so, each taken apart where two blanks stand."""
    lines = text.splitlines()
    begin = next((k for k, line in enumerate(lines) if line.startswith(first) and (k == 0 or not lines[k - 1])), None)
    if begin is None:
        return []
    end = next((k for k in range(begin, len(lines)) if not lines[k]), len(lines))
    return [re.split(r"\s{2,}", line.strip()) for line in lines[begin:end]]


def percent(share) -> str:
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if not 0.001 <= share <= 0.999:
        return "> 99.9 %" if share > 0.5 else "< 0.1 %"
    return f"{100 * share:.0f} %" if 0.1 <= share < 0.9 else f"{100 * share:.1f} %"
