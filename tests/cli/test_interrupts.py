"""Ctrl-C: what was reached is shown and written, and the exit code says that it is not all."""

import json

import pytest

from epivote import AMLE, EM, Auto, Majority, simulate, write_ballots
from said import run

OPTIONS = ("--size", "1..2", "--method", "em")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "ballots.csv"
    crowd = simulate(instances=12, voters=5, alternatives=4, bounds=(1, 2), spammers=0.3, seed=2)
    write_ballots(crowd.ballots, path)
    return path


@pytest.fixture(scope="module")
def packed(file):
    folder = file.parent / "ballots.packed"
    assert run("pack", file, "-o", folder).exit_code == 0
    return folder


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C is pressed after the second iteration of every fit."""
    for kind in (EM, AMLE, Auto):
        fit = kind.fit

        def stopped(self, ballots, fit=fit, **options):
            def press(iteration, _value):
                if iteration == 2:
                    raise KeyboardInterrupt

            return fit(self, ballots, **options | {"progress": press})

        monkeypatch.setattr(kind, "fit", stopped)


@pytest.mark.usefixtures("interrupted")
def test_aggregate_shows_and_writes_the_best_so_far(file, tmp_path):
    result = run("aggregate", file, *OPTIONS, "--out", tmp_path / "out", "--report", tmp_path / "r.html")
    assert result.exit_code == 130
    assert "iterations; these are the best sets so far." in " ".join(result.stdout.split())
    assert len((tmp_path / "out" / "truth.csv").read_text().splitlines()) == 13
    assert "the page shows the best estimate up to then" in (tmp_path / "r.html").read_text()


@pytest.mark.usefixtures("interrupted")
def test_the_exit_code_is_kept_whatever_is_asked_for(file, packed, tmp_path):
    for arguments in (
        ("aggregate", file, *OPTIONS, "--json"),
        ("aggregate", packed, *OPTIONS, "--json"),
        ("report", file, *OPTIONS, "-o", tmp_path / "r.html", "--json"),
    ):
        result = run(*arguments)
        assert (result.exit_code, json.loads(result.stdout)["status"]) == (130, "interrupted"), arguments
    for arguments, words in (
        (("aggregate", file, *OPTIONS, "--out", "-"), "instance,alternatives,confidence"),
        (("aggregate", packed, *OPTIONS), "these are the best sets so far"),
        (("aggregate", packed, *OPTIONS, "--out", tmp_path / "out"), "these are the best sets so far"),
        (("explain", file, "i1", *OPTIONS), "i1: {"),
        (("explain", file, "i1", *OPTIONS, "--json"), '"instance": "i1"'),
        (("report", file, *OPTIONS, "-o", tmp_path / "r.html"), "iterations; the page shows the best sets so far."),
    ):
        result = run(*arguments)
        assert result.exit_code == 130, arguments
        assert words in result.stdout
    assert (tmp_path / "out" / "truth.csv").exists()


@pytest.mark.usefixtures("interrupted")
def test_a_plan_from_an_interrupted_estimate_says_so(file, monkeypatch):
    from epivote.cli import estimating

    real = estimating.make_plan
    monkeypatch.setattr(estimating, "make_plan", lambda *given, **options: real(*given, **options, instances=5))
    result = run("plan", "--size", "1..2", "--ballots", file, "--target", 0.1)
    assert result.exit_code == 130
    assert "per instance" in result.stdout
    assert "Checked by leaving out" not in result.stdout


def test_runs_that_end_by_themselves_have_exit_code_0(file, packed, tmp_path):
    for arguments in (
        ("aggregate", file, *OPTIONS, "--report", tmp_path / "r.html"),
        ("aggregate", packed, *OPTIONS),
        ("explain", file, "i1", *OPTIONS),
    ):
        result = run(*arguments)
        assert (result.exit_code, "nterrupted" in result.stdout) == (0, False)


def test_interrupted_before_anything_was_reached(file, tmp_path, monkeypatch):
    def press(*_given, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Majority, "fit", press)
    result = run("aggregate", file, "--size", "1..2", "--method", "majority", "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "epivote: interrupted\n")
    assert not (tmp_path / "out").exists()


def test_an_output_that_takes_nothing_more_is_said(file, monkeypatch):
    from epivote.cli import estimating

    def full(*_given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(estimating, "aggregate_json", full)
    result = run("aggregate", file, *OPTIONS, "--json")
    assert (result.exit_code, result.stderr) == (1, "epivote: cannot write the output: No space left on device\n")


def test_a_reader_that_has_gone_away_is_not_an_error_of_ours(file, monkeypatch):
    from epivote.cli import estimating

    def gone(*_given):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(estimating, "aggregate_json", gone)
    result = run("aggregate", file, *OPTIONS, "--json")
    assert "cannot write the output" not in result.stderr
