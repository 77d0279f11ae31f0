"""How the command ends, in a process of its own: pipes that close, streams that are not there, Ctrl-C while it loads."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patience import PATIENCE, in_time, read_until
from said import run

BIRDS = Path(__file__).parents[2] / "examples" / "birds.csv"
COMMAND = (sys.executable, "-c", "from epivote_command import main; main()")
AGGREGATE = ("aggregate", str(BIRDS), "--size", "1..2", "--quick")
WAYS_TO_WRITE = ((*AGGREGATE, "--json"), (*AGGREGATE, "--out", "-"))
HELP = (("--help",), ("aggregate", "--help"))


def slowly(arguments):
    """The same, in the slow tests only."""
    return pytest.param(arguments, marks=pytest.mark.slow)


def ended(shell, *arguments):
    """Exit code, output and errors of a line of shell in which "$@" is the command."""
    done = subprocess.run(
        ["bash", "-c", shell, "epivote", *COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", [AGGREGATE, *map(slowly, WAYS_TO_WRITE), ("inspect", str(BIRDS)), *HELP], ids=str)
def test_a_reader_that_has_seen_enough_is_no_error(arguments):
    assert ended('"$@" | true; exit ${PIPESTATUS[0]}', *arguments) == (0, "", "")


def test_head_shows_the_first_line():
    code, out, errors = ended('"$@" | head -1; exit ${PIPESTATUS[0]}', *AGGREGATE)
    assert (code, out.count("\n"), errors) == (0, 1, "")
    assert out == "Found 24 sets of size 1..2: 23 with a confidence of 95 % or more, 1 doubtful.\n"


@pytest.mark.parametrize("arguments", [slowly(AGGREGATE), WAYS_TO_WRITE[0], slowly(WAYS_TO_WRITE[1])], ids=str)
def test_a_closed_output_takes_everything(arguments):
    assert ended('"$@" >&-', *arguments) == (0, "", "")


def test_closed_streams_without_which_nothing_can_be_done():
    code, out, errors = ended('"$@" <&-', "inspect", "-")
    assert (code, out) == (1, "")
    assert errors == "epivote: standard input is closed; name a file, or pipe the ballots in\n"
    assert ended('"$@" 2>&-', "inspect", "nowhere.csv") == (1, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full is Linux's")
def test_a_full_disk_is_said_once():
    code, _, errors = ended('"$@" > /dev/full', *AGGREGATE, "--json")
    assert (code, errors) == (1, "epivote: cannot write the output: No space left on device\n")


WAITING = """
import sys, time, types
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "epivote":
            print("loading", flush=True)
            time.sleep({deadline})
sys.meta_path.insert(0, Slow())
from epivote_command import main
main()
"""


def test_ctrl_c_while_epivote_is_loaded():
    code = WAITING.format(deadline=PATIENCE)
    with in_time(subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True)) as process:
        read_until(process.stdout, "loading")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE)[1] == "epivote: interrupted\n"
    assert process.returncode == 130


def test_ctrl_c_while_a_file_is_read(tmp_path):
    pipe = tmp_path / "ballots.csv"
    os.mkfifo(pipe)
    with in_time(subprocess.Popen([*COMMAND, "inspect", pipe], stdout=-1, stderr=-1, text=True)) as process:
        with pipe.open("w"):  # opens when the command has opened it
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=PATIENCE)[1]
        assert (process.returncode, errors) == (130, "epivote: interrupted\n")


def test_a_file_full_of_bytes_is_refused_in_a_short_sentence(tmp_path):
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)) * 400)
    result = run("inspect", noise)
    assert result.stderr == (
        f"epivote: {noise} is a binary file of an unknown format; give text, Parquet or a zip from doccano\n"
    )
    for kind in ("ballots", "forms", "mturk", "toloka", "prodigy", "argilla", "label-studio"):
        assert len(run("inspect", noise, "--format", kind).stderr) < 1_100


def test_lists_are_printed_item_by_item(capsys):
    from epivote.cli.console import print_json

    value = {"a": [], "b": [{"c": [1, "x\ny"]}, {}], "d": None, "e": {"f": [2]}}
    print_json({**value, "a": iter([]), "b": iter(value["b"])})
    assert capsys.readouterr().out == json.dumps(value, indent=1) + "\n"
    print_json({})
    assert capsys.readouterr().out == "{}\n"
