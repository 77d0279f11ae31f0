"""Loops are made ready while a large file is read, and never for a small one."""

import gzip
import os
import signal
import subprocess
import sys
import time

import pytest

from epivote import reference_crowd, write_ballots
from epivote.cli import estimating, warming
from patience import PATIENCE, in_time
from said import run

HEAD = "voter,instance,alternatives\n"


def lines(count, ticks="a|b|c"):
    return HEAD + "".join(f"v{k:06},i{k:06},{ticks}\n" for k in range(count))


@pytest.mark.parametrize(("count", "ticks", "each"), [(10, "a|b|c", 3), (9000, "a|b|c", 3), (9000, "a", 1)])
def test_approvals_are_judged_by_the_size_and_the_first_lines(count, ticks, each, tmp_path):
    path = tmp_path / "ballots.csv"
    path.write_text(lines(count, ticks), encoding="utf-8")
    assert warming.approvals_in(path) == pytest.approx(count * each, rel=0.01, abs=1)


@pytest.mark.parametrize(
    "content",
    [b"", b'[\n{"a":\n1}]', b'\n{"a": 1}\n', gzip.compress(b"a\n" * 1000), b"PAR1\n|", b"PK\n\n", b"\xff\xfea\0\n\0"],
)
def test_only_tables_of_text_are_judged(content, tmp_path):
    path = tmp_path / "ballots"
    path.write_bytes(content)
    assert warming.approvals_in(path) == 0


def test_folders_and_files_that_do_not_exist_are_not_judged(tmp_path):
    assert warming.approvals_in(tmp_path) == 0
    assert warming.approvals_in(tmp_path / "none.csv") == 0


@pytest.mark.parametrize(
    ("limit", "method", "begun"),
    [
        (30, "auto", [(True, True)]),
        (30, "em", [(True, False)]),  # a byte too small to be read by compiled loops
        (30, "amle", [(False, True)]),
        (32, "em", []),
        (30, "majority", []),
    ],
)
def test_loops_are_made_ready_before_a_large_file_is_read(limit, method, begun, tmp_path, monkeypatch):
    """The limit is set to what a small file holds, or more: ten ballots of three and the line of names."""
    path, steps = tmp_path / "ballots.csv", []
    path.write_text(lines(10), encoding="utf-8")
    monkeypatch.setattr(warming, "WORTH_LOADING", limit)
    monkeypatch.setattr(warming, "warm_up", lambda *, soft, text: steps.append((soft, text)))
    monkeypatch.setattr(warming, "WORTH_COMPILING", path.stat().st_size + (method == "em"))
    monkeypatch.setattr(estimating, "read_file", lambda *_: (steps.append("read"), estimating.Export(None, ""))[1])
    run("aggregate", path, "--size", "1", "--method", method)
    assert steps == [*begun, "read"]


COMMAND = "import sys, json; from epivote.cli import app; app(standalone_mode=False); "


def test_a_small_file_loads_no_compiler(tmp_path):
    path = tmp_path / "ballots.csv"
    path.write_text(lines(10), encoding="utf-8")
    code = COMMAND + "print(json.dumps('numba' in sys.modules))"
    command = [sys.executable, "-W", "ignore", "-c", code, "aggregate", path, "--size", "1", "--out", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE)
    assert done.stdout.splitlines()[-1] == "false"


@pytest.mark.slow
@pytest.mark.parametrize("after", [1.0, 1.5, 2.0, 3.0])
def test_ctrl_c_ends_a_command_whose_loops_are_being_compiled(after, tmp_path):
    path = tmp_path / "ballots.csv"
    write_ballots(reference_crowd(80_000, 500, 20, 4, seed=1).ballots, path)
    command = [sys.executable, "-m", "epivote", "aggregate", path, "--size", "1..4", "--out", tmp_path / "out"]
    empty = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with in_time(subprocess.Popen(command, env=empty, stderr=subprocess.PIPE, text=True)) as process:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        pressed = time.monotonic()
        _, told = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - pressed < 3
    assert process.returncode == 130
    assert "Traceback" not in told
