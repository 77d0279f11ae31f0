"""What commands say of themselves: every option with its default and limits, as last accepted."""

from pathlib import Path

import pytest

from epivote.cli import app
from said import COMMAND, run

ROOT = Path(__file__).parent.parent.parent
ACCEPTED = ROOT / "tests" / "golden" / "options.txt"


def option(parameter):
    """One line: names, then what holds where it is not given, and how far it goes."""
    limits = [getattr(parameter, end, getattr(getattr(parameter, "type", None), end, None)) for end in ("min", "max")]
    default = str(parameter.default) if isinstance(parameter.default, Path) else repr(parameter.default)
    told = [" ".join([*parameter.opts, *parameter.secondary_opts])]
    told.append("required" if parameter.required else f"default {default}")
    if limits != [None, None]:
        told.append("from {} to {}".format(*limits))
    if parameter.nargs != 1 or parameter.multiple:
        told.append("several")
    return ", ".join(told)


def lines(command, name="epivote"):
    assert command.help, f"{name} does not say what it does"
    yield name
    for parameter in command.params:
        if "completion" not in parameter.opts[0]:
            assert parameter.help, f"{name} {parameter.opts[0]} does not say what it is for"
            yield f"    {option(parameter)}"
    for part, inner in getattr(command, "commands", {}).items():
        yield from lines(inner, f"{name} {part}")


def test_options_are_the_accepted_ones():
    found = "\n".join(lines(COMMAND)) + "\n"
    rejected = ACCEPTED.with_suffix(".new")
    rejected.unlink(missing_ok=True)
    if not ACCEPTED.exists() or found != ACCEPTED.read_text(encoding="utf-8"):
        rejected.write_text(found, encoding="utf-8")
    assert not rejected.exists(), f"if this is meant: mv {rejected.relative_to(ROOT)} {ACCEPTED.relative_to(ROOT)}"


@pytest.mark.parametrize("command", [(), ("collect",)])
def test_without_arguments_commands_list_what_there_is(command):
    listed = run(*command)
    shown = listed.stdout + listed.stderr
    assert shown == run(*command, "--help").stdout
    group = COMMAND.commands["collect"] if command else COMMAND
    assert [line.split()[0] for line in shown.split("Commands:\n")[1].splitlines()] == list(group.commands)


@pytest.mark.parametrize("command", [(), ("collect",), ("aggregate",), ("collect", "serve")])
def test_help_is_plain_text(command):
    shown = run(*command, "--help").stdout
    assert shown.startswith(f"Usage: {' '.join(('root', *command))} ")
    assert not set(shown) & set("─│╭╮╰╯\x1b")


def test_what_goes_wrong_inside_is_told_as_python_tells_it():
    assert app.pretty_exceptions_enable is False
