"""Writes docs/cli.md from the `--help` of every command; run it after changing one."""

from pathlib import Path

from typer.testing import CliRunner

from epivote.cli import app

PAGE = Path(__file__).parent / "cli.md"
INTRODUCTION = """# The command

<!-- written by docs/make_cli_page.py -->

Every command exits with 0 when it did its work, 1 on bad input (one sentence on standard error says what to change, and
nothing is written), 2 on wrong usage, and 130 when it was interrupted. An interrupted `aggregate` still prints and
writes the best it had reached, and says so. With `--json` one JSON object is printed instead of tables.

"""


def page() -> str:
    """The whole page."""
    names = [command.callback.__name__ for command in app.registered_commands if command.callback is not None]
    return INTRODUCTION + "\n".join(f"## epivote {name}\n\n```text\n{help_of(name)}\n```\n" for name in names)


def help_of(name: str) -> str:
    """What `epivote NAME --help` prints."""
    return CliRunner().invoke(app, [name, "--help"], prog_name="epivote").stdout.strip()


if __name__ == "__main__":
    PAGE.write_text(page())
