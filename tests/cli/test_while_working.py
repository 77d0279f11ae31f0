"""What a terminal shows while a command works, how its seconds are counted, and what is left out to save some."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from epivote import Interval, Plan, PlanPoint
from epivote.cli import estimating, files, fitting, packed
from epivote.cli.fitting import Clock
from epivote.formats.pack import pack_files
from said import run, said, told
from transcripts import write_small_files

SMALL = ("small.csv", "--size", "1..2")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_small_files(tmp_path)
    return tmp_path


@pytest.fixture
def watched(monkeypatch):
    """All that a status line says, as if somebody watched."""
    shown = []

    @contextmanager
    def working(what):
        shown.append(what)
        yield SimpleNamespace(say=shown.append)

    for module in (estimating, files, packed):
        monkeypatch.setattr(module, "working", working)
    return shown


def without_iterations(shown):
    return [each for each in shown if not each.startswith("Iteration ")]


def test_iterations_are_told_with_their_objective(watched):
    found = told("aggregate", *SMALL, "--method", "em")
    steps = [each for each in watched if each.startswith("Iteration ")]
    assert (
        steps[-1]
        == f"Iteration {found['iterations']}, objective {found['objective']:,.3f}; Ctrl-C keeps the best so far"
    )
    assert without_iterations(watched) == ["Reading small.csv", "Estimating", "Writing "]


def test_every_command_tells_what_it_does(watched, tmp_path):
    for arguments, expected in {
        ("aggregate", *SMALL, "--method", "em", "--out", "result"): [
            "Reading small.csv",
            "Estimating",
            "Writing result",
        ],
        ("report", *SMALL, "--method", "em", "-o", "r.html"): ["Reading small.csv", "Estimating", "Writing r.html"],
        ("review", *SMALL, "--method", "em"): ["Reading small.csv", "Estimating"],
        ("inspect", "small.csv"): ["Reading small.csv"],
        ("convert", "small.csv", "other.csv"): ["Reading small.csv"],
        ("simulate", "--out", "drawn", "--instances", "3", "--voters", "2"): ["Drawing ballots"],
    }.items():
        watched.clear()
        said(*arguments)
        assert without_iterations(watched) == expected, arguments


def test_sets_of_a_packed_folder_are_counted_while_they_are_worked_out(watched):
    pack_files(["small.csv"], "small.packed")
    said("aggregate", "small.packed", "--size", "1..2", "--method", "em")
    assert without_iterations(watched) == ["Estimating", "Working out sets", "Working out sets: 9 so far"]


def test_packing_tells_how_far_it_is(watched, monkeypatch):
    real = packed.pack_files

    def pack(*given, told, **options):
        told("half of it")
        return real(*given, **options)

    monkeypatch.setattr(packed, "pack_files", pack)
    said("pack", "small.csv", "-o", "small.packed")
    assert watched == ["Packing", "half of it"]


@pytest.fixture
def quickly_planned(monkeypatch):
    one = Interval(0.5, 0.4, 0.6)
    monkeypatch.setattr(estimating, "make_plan", lambda *_given, target: Plan((PlanPoint(1, one, one),), target, 1))


@pytest.mark.usefixtures("quickly_planned")
def test_a_plan_tells_which_number_of_ballots_it_checks(watched, monkeypatch):
    def check(*_given, choose, progress):
        progress(3)
        progress(5)

    monkeypatch.setattr(estimating, "check_plan", check)
    said("plan", "--size", "1..2", "--ballots", "small.csv")
    assert without_iterations(watched) == [
        "Reading small.csv",
        "Estimating",
        "Checking the plan",
        "Checking the plan: 3 ballots per instance",
        "Checking the plan: 5 ballots per instance",
        "Simulating crowds of different sizes",
    ]


# Seconds


@pytest.fixture
def ticking(monkeypatch):
    """A clock that has advanced by 8 seconds each time somebody looks at it."""
    now = [0.0]

    def look():
        now[0] += 8
        return now[0]

    monkeypatch.setattr(fitting.time, "perf_counter", look)
    return now


def test_seconds_add_up_by_name(ticking):
    clock = Clock()
    for name in ("read", "fit", "read"):
        with clock.measure(name):
            ticking[0] += 0.5
    assert clock.seconds == {"read": 17.0, "fit": 8.5}


def test_encoding_is_not_counted_as_reading(monkeypatch):
    real = estimating.read_file
    monkeypatch.setattr(estimating, "read_file", lambda *given: replace(real(*given), encode_seconds=-1000.0))
    seconds = told("aggregate", *SMALL, "--method", "modal", "--timings")["seconds"]
    assert list(seconds) == ["read", "encode", "fit", "write"]
    assert 1000 < seconds["read"] < 1600
    assert seconds["encode"] == -1000
    assert 0 <= seconds["fit"] < 600
    assert 0 <= seconds["write"] < 600


# What is not needed


@pytest.fixture
def asked(monkeypatch):
    """How fits are asked for."""
    options, real = [], estimating.fit

    def fit(export, source, fitting, *more):
        options.append(fitting)
        return real(export, source, replace(fitting, quick=True), *more)

    monkeypatch.setattr(estimating, "fit", fit)
    return options


@pytest.mark.usefixtures("quickly_planned")
def test_halves_of_the_voters_are_compared_only_where_it_is_told(asked, monkeypatch):
    monkeypatch.setattr(estimating, "check_plan", lambda *_given, **_options: None)
    said("gold", *SMALL, "--count", 2)
    said("plan", "--ballots", *SMALL)
    said("review", *SMALL)
    said("aggregate", *SMALL)
    said("aggregate", *SMALL, "--quick")
    assert [each.quick for each in asked] == [True, True, False, False, True]


def test_further_ballots_are_worked_out_for_the_most_doubtful_only(monkeypatch):
    options = ("review", *SMALL, "--method", "em")
    whole = told(*options)["review"]
    assert len(whole) == 6
    assert all(each["more_ballots"] is not None for each in whole)
    assert estimating.MOST_AHEAD == 500
    monkeypatch.setattr(estimating, "MOST_AHEAD", 2)
    few = told(*options)["review"]
    assert [each["more_ballots"] for each in few] == [whole[0]["more_ballots"], whole[1]["more_ballots"], *[None] * 4]


def test_what_cannot_be_is_said_before_anything_is_read():
    for arguments, words in (
        (("review", "nowhere.csv", "--size", "1", "--threshold", "0"), "threshold=0.0 must be a probability above 0"),
        (("explain", "nowhere.csv", "q1", "--size", "1", "--plot", "x.txt"), "a picture cannot be written as 'x.txt'"),
        (
            ("plan", "--ballots", "nowhere.csv", "--size", "1", "--plot", "x.txt"),
            "a picture cannot be written as 'x.txt'",
        ),
        (("gold", "nowhere.csv", "--size", "1", "-o", "small.csv"), "small.csv already exists and may hold gold sets"),
        (("explain", "nowhere.csv", "q1", "--size", "1", "--method", "modal"), "method modal counts approvals"),
        (("inspect", "nowhere.csv", "--size", "x"), "size"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert words in result.stderr
        assert "nowhere.csv" not in result.stderr


# What is noted about gold and sizes


@pytest.mark.parametrize(
    ("count", "noted"),
    [(1, "1 instance with a {} has no ballots: 'e1'"), (2, "2 instances with a {} have no ballots: 'e1', 'e2'"),
     (3, "3 instances with a {} have no ballots: 'e1', 'e2', 'e3'"),
     (4, "4 instances with a {} have no ballots: 'e1', 'e2', 'e3' and 1 more")],
)  # fmt: skip
def test_names_without_ballots_are_noted(count, noted, folder):
    strangers = [f"e{k}" for k in range(1, count + 1)]
    (folder / "g.csv").write_text("instance,alternatives\nq1,cat\n" + "".join(f"{each},cat\n" for each in strangers))
    (folder / "s.csv").write_text("instance,size\nq1,1\n" + "".join(f"{each},2\n" for each in strangers))
    options = ("aggregate", *SMALL, "--method", "modal", "--gold", "g.csv", "--sizes", "s.csv")
    notes = told(*options)["notes"]
    assert notes[-2:] == [noted.format("gold set"), noted.format("size")]


@pytest.mark.parametrize(
    ("rows", "noted"), [(1, ["1 set in g.csv is not filled in"]), (2, ["2 sets in g.csv are not filled in"]), (0, [])]
)
def test_sets_that_are_not_filled_in_are_noted(rows, noted, folder):
    (folder / "g.csv").write_text("instance,alternatives\nq1,cat\n" + "".join(f"q{z + 2},?\n" for z in range(rows)))
    assert told("aggregate", *SMALL, "--method", "modal", "--gold", "g.csv")["notes"] == noted


def test_an_interrupted_review_has_the_exit_code_of_interrupts(monkeypatch):
    real = estimating.fit
    monkeypatch.setattr(estimating, "fit", lambda *given: replace(real(*given), interrupted=True))
    for arguments in (("review", *SMALL, "--method", "em"), ("review", *SMALL, "--method", "em", "-o", "-")):
        result = run(*arguments)
        assert result.exit_code == 130
        assert "q7" in result.stdout
