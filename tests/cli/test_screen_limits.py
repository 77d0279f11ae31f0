"""How many lines each part of the screen takes: just below, at and above its limits."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from rich.console import Console

from epivote import Doubt, Flag, FlagKind, VoterReport
from epivote.cli import show_aggregate
from epivote.cli.again import Again
from epivote.cli.console import LONGEST_ERROR, left_out, one_sentence_per_error
from epivote.cli.options import Fitting
from epivote.cli.screen import Page
from epivote.cli.show_aggregate import Told, doubt_table, ending, fit_in, how, warnings_of
from epivote.cli.show_voters import voter_lines
from epivote.errors import InputError
from epivote.formats.reading import Reading
from said import said
from transcripts import write_cast

PAGE = Page(Console(width=40))


def plain(lines):
    return [line.plain for line in lines]


# Sets


@pytest.mark.parametrize("count", [1, 23, 24, 25, 26])
def test_up_to_twenty_four_sets_are_all_shown(count, tmp_path):
    write_cast(tmp_path / "b.csv", {("v", f"q{z}"): ["a"] for z in range(count)})
    lines = said("aggregate", tmp_path / "b.csv", "--size", "1", "--method", "modal").splitlines()
    begin = next(k for k, line in enumerate(lines) if "ets" in line and k > 1)
    rows = lines[begin + 1 : lines.index("", begin)]
    if count <= 24:
        assert lines[begin] == "Sets"
        assert rows == [f"q{z}".ljust(3 if count > 10 else 2) + "  a" for z in range(count)]
    else:
        assert lines[begin] == f"A sample of the sets (5 of {count}; --all shows the rest)"
        assert [row.split()[0] for row in rows] == [f"q{int((k + 0.5) / 5 * count)}" for k in range(5)]


def sample(n_sets, room):
    """The title of the sets where there is so much room, and how many rows follow."""
    sets = [SimpleNamespace(instance=f"q{z}", alternatives=("a",), confidence=None) for z in range(n_sets)]
    summary = SimpleNamespace(
        is_rated=False,
        estimate=SimpleNamespace(ballots=SimpleNamespace(n_instances=n_sets), gold=()),
        sets_at=lambda order: [sets[z] for z in order],
    )
    title, *rows = plain(show_aggregate._sample(Page(Console(width=80)), summary, room))
    return title, len(rows)


@pytest.mark.parametrize(
    ("n_sets", "room", "rows", "title"),
    [
        (8, 10, 8, "Sets"),
        (8, 9, 5, "A sample of the sets (5 of 8; --all shows the rest)"),
        (8, 7, 5, "A sample of the sets (5 of 8; --all shows the rest)"),
        (8, 6, 4, "A sample of the sets (4 of 8; --all shows the rest)"),
        (8, 3, 1, "A sample of the sets (1 of 8; --all shows the rest)"),
        (8, -4, 1, "A sample of the sets (1 of 8; --all shows the rest)"),
        (1, 3, 1, "Sets"),
        (30, 39, 5, "A sample of the sets (5 of 30; --all shows the rest)"),
    ],
)
def test_sets_take_the_room_there_is(n_sets, room, rows, title):
    assert sample(n_sets, room) == (title, rows)


# Warnings


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (9, ["one", "two two two two two two two two two two", "two two", "three", "four"]),
        (5, ["one", "two two two two two two two two two two", "two two", "three", "four"]),
        (4, ["one", "two two two two two two two two two two", "two two", "and 2 more remarks; --all shows all"]),
        (3, ["one", "two two two two two two two two two two…", "and 2 more remarks; --all shows all"]),
        (2, ["one", "and 3 more remarks; --all shows all"]),
        (1, ["and 4 more remarks; --all shows all"]),
    ],
)
def test_warnings_that_find_no_room_are_counted(room, expected):
    sentences = ["one", "two " * 12, "three", "four"]
    found = [line.rstrip("…") for line in plain(fit_in(PAGE, sentences, room))]
    assert found == [line.rstrip("…") for line in expected]
    assert plain(fit_in(PAGE, ["only"], 1)) == ["only"]
    assert plain(fit_in(PAGE, ["x " * 70], 9))[1].endswith("…"), "two lines each at most"
    assert plain(fit_in(PAGE, [], 0)) == []
    assert plain(fit_in(PAGE, ["a", "b"], 1)) == ["and 2 more remarks; --all shows all"]
    assert plain(fit_in(PAGE, ["a", "b"], 2)) == ["a", "b"]


def fitted(notes=(), ties=(), reasons=(), status="converged", log_likelihoods=(-1.0,)):
    estimate = SimpleNamespace(status=status, n_iterations=7, ties=ties, log_likelihoods=log_likelihoods)
    ballots = SimpleNamespace(total_empty=0)
    export = SimpleNamespace(notes=notes, ballots=ballots, inferred=False)
    return SimpleNamespace(
        summary=SimpleNamespace(estimate=estimate), export=export, notes=("look out",), method="em", reasons=reasons
    )


def test_what_often_means_that_a_file_was_misread_is_a_remark_and_other_notes_are_not(monkeypatch):
    monkeypatch.setattr(show_aggregate, "oddities", lambda _ballots: ["never ticked: 'x'"])
    notes = ("3 cells were not split", "two columns have no alternative in common", "1 row left out")
    assert warnings_of(fitted(notes)) == [
        "Warning: look out.",
        "epivote inspect shows 3 remarks on this file: 3 cells were not split; two columns have no alternative in common; "
        "never ticked: 'x'.",
        "Note: 1 row left out.",
    ]
    assert warnings_of(fitted(notes, status="iteration limit"), everything=True) == [
        "Warning: stopped at the limit of 7 iterations before it converged.",
        "Warning: look out.",
        "Odd: 3 cells were not split.",
        "Odd: two columns have no alternative in common.",
        "Odd: never ticked: 'x'.",
        "Note: 1 row left out.",
        "Note: voters without a ballot on an instance count as not asked.",
    ]
    monkeypatch.setattr(show_aggregate, "oddities", lambda _ballots: [])
    assert warnings_of(fitted(ties=("q1",))) == [
        "Warning: look out.",
        "Warning: 1 tie, decided by the order of the alternatives: 'q1'.",
    ]


@pytest.mark.parametrize("letters", [65, 66, 67, 68])
def test_a_reason_is_told_if_it_is_short(letters):
    reason = "r" * letters
    expected = f"Method em: {reason}." if letters < 67 else "Method em (--all says why)."
    assert how(fitted(reasons=(reason, "and more"))) == expected
    assert how(fitted()) == "Method em."
    told = fitted(reasons=(reason, "and more"))
    assert how(told, everything=True) == f"Method em: {reason}; and more; converged after 7 iterations."
    assert how(fitted(), everything=True) == "Method em; converged after 7 iterations."
    assert how(fitted(log_likelihoods=()), everything=True) == "Method em."
    late = fitted(status="interrupted")
    assert how(late, everything=True) == "Method em; interrupted after 7 iterations; these are the best sets so far."


# Voters


def report(name, *kinds, multiplicity=1):
    carried = {
        FlagKind.TOO_FEW_BALLOTS: {"right_seen": 2.0},
        FlagKind.NEAR_COPY: {"other": "x", "identical": 3, "common": 4},
        FlagKind.SAME_MISTAKES: {"other": "x", "others": ("x",), "same": 5, "expected": 1.0},
    }
    flags = tuple(Flag(kind, **carried.get(kind, {})) for kind in kinds)
    return VoterReport(name, 1234, 0.5, (0.4, 0.6), 0.25, (0.2, 0.3), 1.0, (0.5, 1.5), flags, multiplicity)


def told_of_voters(flagged, room, *, groups=(), total=50, named=(), together=""):
    summary = SimpleNamespace(
        flagged=flagged,
        erring_together=groups,
        estimate=SimpleNamespace(ballots=SimpleNamespace(total_voters=total)),
        most_informative=lambda: list(named),
        about_erring_together=together,
    )
    return plain(voter_lines(Page(Console(width=200)), summary, room))


@pytest.mark.parametrize(
    ("count", "room", "shown"),
    [(3, 30, 3), (10, 30, 10), (11, 30, 10), (11, 12, 10), (11, 11, 9), (3, 5, 3), (3, 4, 2), (3, 3, 1), (3, 0, 1)],
)
def test_voters_take_the_room_there_is(count, room, shown):
    lines = told_of_voters([report(f"v{k}", FlagKind.TICKS_EVERYTHING) for k in range(count)], room)
    some = f" ({shown} shown)" if shown < count else ""
    assert lines[0] == f"{count} of 50 voters are suspicious{some}."
    assert lines[1].split() == ["voter", "hit", "rate", "false-alarm", "rate", "ballots", "why"]
    assert [line.split("  ")[0] for line in lines[2:]] == [f"v{k}" for k in range(shown)]
    assert lines[2].split() == ["v0", "50", "%", "25", "%", "1,234", "ticks", "everything"]


def test_voters_with_too_few_ballots_only_are_counted_apart():
    few = report("f", FlagKind.TOO_FEW_BALLOTS, multiplicity=1200)
    both = report("b", FlagKind.TOO_FEW_BALLOTS, FlagKind.TICKS_NOTHING)
    assert told_of_voters([few], 9) == ["No voter is suspicious; 1,200 cast too few ballots to say."]
    assert told_of_voters([], 9) == ["No voter is suspicious."]
    lines = told_of_voters([few, both], 9)
    assert lines[0] == "1 of 50 voters is suspicious; 1,200 cast too few ballots to say."
    assert lines[2].endswith("too few ballots to say (2 right alternatives seen); ticks nothing")
    many = report("m", FlagKind.TICKS_NOTHING, multiplicity=2)
    assert told_of_voters([many], 9, total=2)[0] == "2 of 2 voters are suspicious."


def test_those_who_err_together_take_one_line():
    copies = [report("a", FlagKind.NEAR_COPY), report("b", FlagKind.SAME_MISTAKES)]
    own = report("c", FlagKind.SAME_MISTAKES, FlagKind.TICKS_NOTHING)
    lines = told_of_voters([*copies, own], 9, groups=(("a", "b", "c", "d"),))
    assert lines[0] == "3 of 50 voters are suspicious."
    assert lines[2].split("  ")[0] == "4 voters"
    assert lines[2].endswith("make the same mistakes: a, b, c and 1 more")
    assert [line.split()[0] for line in lines[3:]] == ["c"]
    whole = told_of_voters([*copies, own], None, groups=(("a", "b"),), named=[own, copies[0]], together="Together.")
    assert [line.split()[0] for line in whole[2:5]] == ["a", "b", "c"]
    assert " ".join(whole[5:]) == (
        "Most informative: c (hit rate 50 %, false-alarm rate 25 %), a (hit rate 50 %, false-alarm rate 25 %). Together."
    )


# Doubtful instances, files, errors


def test_a_row_per_doubtful_instance():
    doubts = [Doubt("q1", 0.5, (), ("c",), 0.25, 7, None), Doubt("q2", 0.9, ("a",), ("a", "b"), 0.1, 8, 3)]
    head, first, second = plain(doubt_table(Page(Console(width=80)), doubts, is_cut=True))
    assert head.split("  ")[0] == "most doubtful"
    assert [each.strip() for each in first.split("  ") if each] == ["q1", "(none)", "c", "50 %", "many"]
    assert [each.strip() for each in second.split("  ") if each] == ["q2", "a", "with b", "90.0 %", "about 3"]


def test_files_are_named_by_folder():
    again = Again(Path("b.csv"), Fitting("1"), Reading())
    files = [Path("a.csv"), Path("out/b.csv"), Path("c.html"), Path("out/d.csv")]
    told = Told(again, files, predictions=Path("p.json"), seconds={"read": 1.234, "fit": 0.5})
    lines = plain(ending(Page(Console(width=200)), told, "do this", "epivote x"))
    assert lines[:2] == ["Wrote a.csv, c.html to this folder.", "Wrote b.csv, d.csv to out."]
    assert lines[2].startswith("p.json adds predictions to the tasks of the same Label Studio project")
    assert lines[3].startswith("  curl -X POST ")
    assert lines[3].endswith(" --data @p.json")
    assert lines[4:] == ["Seconds: read 1.23, fit 0.50.", "Next, do this:", "  epivote x"]
    assert plain(ending(PAGE, Told(again, []), "go", "epivote y")) == ["Next, go:", "  epivote y"]


@pytest.mark.parametrize(
    ("count", "words"),
    [(19, None), (20, None), (21, "and 1 more; --json gives all"), (1520, "and 1,500 more; --json gives all")],
)
def test_a_cut_table_says_how_much_is_left_out(count, words):
    assert left_out(count, 20) == words


@pytest.mark.parametrize("letters", [999, 1000, 1001, 1500])
def test_long_errors_lose_their_middle(letters, capsys):
    sentence = "".join(chr(ord("a") + k % 26) for k in range(letters))
    with pytest.raises(typer.Exit) as ended, one_sentence_per_error():
        raise InputError(sentence)
    shown = sentence if letters <= 1000 else f"{sentence[:500]} [...] {sentence[-500:]}"
    assert capsys.readouterr().err == f"epivote: {shown}\n"
    assert ended.value.exit_code == 1
    assert LONGEST_ERROR == 1000
