"""Writes docs/reference/cli.md from the `--help` of every command; run it after changing one."""

from pathlib import Path

from typer import Typer
from typer.models import TyperInfo
from typer.testing import CliRunner

from epivote.cli import app

PAGE = Path(__file__).parent / "reference" / "cli.md"
INTRODUCTION = """# The command

<!-- written by docs/make_cli_page.py -->

Every command exits with 0 when it did its work, 1 on bad input (one sentence on standard error says what to change, and
nothing is written), 2 on wrong usage, and 130 when it was interrupted. An interrupted `aggregate` still prints and
writes the best it had reached, and says so. With `--json` one JSON object is printed instead of tables.

"""


def page() -> str:
    """The whole page."""
    names = [*names_of(app), *(f"{group.name} {name}" for group in app.registered_groups for name in names_of(group))]
    return INTRODUCTION + "\n".join(f"## epivote {name}\n\n```text\n{help_of(name)}\n```\n" for name in names)


def names_of(commands: Typer | TyperInfo) -> list[str]:
    """The commands of the program, or of one of its groups."""
    found = commands if isinstance(commands, Typer) else commands.typer_instance
    assert found is not None
    return [each.name or each.callback.__name__ for each in found.registered_commands if each.callback is not None]


def help_of(name: str) -> str:
    """What `epivote NAME --help` prints."""
    return CliRunner().invoke(app, [*name.split(), "--help"], prog_name="epivote").stdout.strip()


if __name__ == "__main__":
    PAGE.write_text(page())
