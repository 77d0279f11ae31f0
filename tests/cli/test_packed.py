"""pack, and aggregate on packed folders, here and on a cluster."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

from epivote import read_truths, reference_crowd, write_ballots
from epivote.cli import app
from epivote.cli import packed as cli_packed
from epivote.data import packing

BIRDS = Path(__file__).parent.parent.parent / "examples" / "birds.csv"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def packed(tmp_path):
    folder = tmp_path / "birds.packed"
    assert run("pack", BIRDS, "-o", folder).exit_code == 0
    return folder


@pytest.mark.parametrize("method", ["auto", "em", "amle", "majority", "modal", "approval", "size-approval"])
def test_a_packed_folder_gives_what_the_file_gives(packed, tmp_path, method):
    from_folder = run("aggregate", packed, "--size", "1..2", "--method", method, "--out", tmp_path / "a")
    from_file = run("aggregate", BIRDS, "--size", "1..2", "--method", method, "--out", tmp_path / "b")
    assert (from_folder.exit_code, from_file.exit_code) == (0, 0), from_folder.stderr
    for name in ("truth.csv", "voters.csv", "alternatives.csv"):
        one, other = (pl.read_csv(tmp_path / each / name) for each in "ab")
        rounding = 1e-9 if method == "em" else 0.0
        assert_frame_equal(one, other, rel_tol=rounding, abs_tol=rounding)
    assert read_truths(tmp_path / "a" / "truth.csv") == read_truths(tmp_path / "b" / "truth.csv")
    assert "Wrote truth.csv, voters.csv, alternatives.csv" in from_folder.stdout


def test_several_blocks_make_one_file_of_sets(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 50)
    crowd = reference_crowd(120, 20, 6, 2, seed=1)
    write_ballots(crowd.ballots, tmp_path / "b.csv")
    assert "in 12 blocks into" in run("pack", tmp_path / "b.csv", "-o", tmp_path / "p").stdout
    told = run("aggregate", tmp_path / "p", "--size", "1..2", "--out", tmp_path / "out", "--timings")
    assert told.exit_code == 0, told.stderr
    assert len(read_truths(tmp_path / "out" / "truth.csv")) == 120
    assert re.match(
        r"Found 120 sets of size 1\.\.2: \d+ with a confidence of 95 % or more, \d+ doubtful\.\n", told.stdout
    )
    assert "Least confident sets (10; " in told.stdout
    assert "Seconds: fit" in told.stdout
    found = json.loads(run("aggregate", tmp_path / "p", "--size", "1..2", "--json").stdout)
    assert (found["blocks"], found["instances"], found["status"]) == (12, 120, "converged")
    assert len(found["most_doubtful"]) == 10
    worst = pl.read_csv(tmp_path / "out" / "truth.csv")["confidence"].min()
    assert found["most_doubtful"][0]["confidence"] == pytest.approx(worst)
    assert found["sets_at_least_this_sure"]["0.5"] <= 120


def test_every_other_command_reads_a_packed_folder_too(packed, tmp_path):
    assert "picture 6" in run("explain", packed, "picture 6", "--size", "1..2").stdout
    assert "24 voters, 24 instances" in run("inspect", packed).stdout
    assert run("convert", packed, tmp_path / "back.csv").exit_code == 0
    assert run("report", packed, "--size", "1..2", "-o", tmp_path / "r.html").exit_code == 0
    assert run("aggregate", packed, "--size", "1..2", "--out", "-").stdout.startswith(
        "instance,alternatives,confidence"
    )


def test_a_checkpoint_is_kept_and_gone_on_from(packed, tmp_path):
    arguments = ("aggregate", packed, "--size", "1..2", "--method", "em", "--json", "--checkpoint", tmp_path / "kept")
    first, again = (json.loads(run(*arguments).stdout) for _ in range(2))
    assert first["log_likelihood"] == again["log_likelihood"]
    other = run("aggregate", packed, "--size", "1..3", "--method", "em", "--checkpoint", tmp_path / "kept")
    assert other.exit_code == 1
    assert "other ballots or with other settings" in other.stderr
    assert run("aggregate", BIRDS, "--size", "1..2", "--checkpoint", tmp_path / "of a file").exit_code == 0
    assert (tmp_path / "of a file").exists()


def test_what_cannot_be_is_said_in_one_sentence(packed, tmp_path):
    for arguments, sentence in (
        (("pack", BIRDS, "-o", packed), "already exists"),
        (("pack", tmp_path / "no.csv", "-o", tmp_path / "new"), "does not exist"),
        (("aggregate", BIRDS, "--size", "1", "--scheduler", "tcp://x:1"), "--scheduler needs a packed folder"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert sentence in result.stderr
        assert result.stderr.count("\n") == 1
    (packed / "block-00000.npz").write_bytes(b"PK\3\4 something else")
    result = run("aggregate", packed, "--size", "1..2", "--out", tmp_path / "none")
    assert result.exit_code == 1
    assert "block-00000.npz is damaged" in result.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_is_used_by_its_address(packed, tmp_path):
    distributed = pytest.importorskip("distributed")
    threads = {"processes": False, "protocol": "tcp://"}  # quicker than processes, and reached from others alike
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, **threads) as cluster:
        command = [sys.executable, "-m", "epivote", "aggregate", packed, "--size", "1..2", "--out", tmp_path / "far"]
        command += ["--scheduler", cluster.scheduler_address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    run("aggregate", packed, "--size", "1..2", "--out", tmp_path / "near")
    assert (tmp_path / "far" / "truth.csv").read_text() == (tmp_path / "near" / "truth.csv").read_text()


def test_packing_says_what_it_reads(tmp_path, monkeypatch):
    said = []

    @contextmanager
    def watched(what):
        said.append(what)
        yield SimpleNamespace(say=said.append)

    monkeypatch.setattr(cli_packed, "working", watched)
    run("pack", BIRDS, "-o", tmp_path / "p")
    assert said == ["Packing", f"Reading {BIRDS}: 521 rows so far", "Packing part 1 of 1"]


def test_an_empty_set_of_a_packed_folder_is_written_in_words(tmp_path):
    (tmp_path / "b.csv").write_text("voter,instance,alternatives\n" + "".join(f"v{k},q,\nv{k},r,a\n" for k in range(4)))
    run("pack", tmp_path / "b.csv", "-o", tmp_path / "p")
    shown = run("aggregate", tmp_path / "p", "--size", "0..", "--method", "em").stdout
    assert re.search(r"^q +\(none\) +[>\d]", shown, re.MULTILINE), shown


def test_all_sets_of_a_packed_folder_are_not_printed(tmp_path):
    write_ballots(reference_crowd(30, 10, 5, 2, seed=1).ballots, tmp_path / "b.csv")
    run("pack", tmp_path / "b.csv", "-o", tmp_path / "p")
    refused = run("aggregate", tmp_path / "p", "--size", "1..2", "--all")
    assert refused.exit_code == 1
    assert (
        "epivote: --all would print every set of a packed folder; write them to a folder with --out" in refused.stderr
    )
