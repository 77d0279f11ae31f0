"""`aggregate` fits one screen of 40 lines at 80 columns, whatever the file; and says first what matters."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from epivote import Ballots, InputError, SizeBounds, simulate, write_ballots, write_truths
from epivote.cli.again import Again
from epivote.cli.options import Fitting
from epivote.cli.screen import Page, ScreenColumn
from epivote.cli.show_aggregate import Told, headline_of, next_command, other, read_notes
from epivote.cli.show_packed import next_of_packed
from epivote.cli.show_review import write_review
from epivote.data.numbers import chosen_percent, in_percent, percent, whole_percent, with_interval
from epivote.estimate.review import Doubt
from epivote.formats.reading import Reading
from said import COMMAND, said, told

SIZES = {"small": (6, 9, 4), "middle": (60, 12, 5), "large": (400, 60, 8)}


def screen(*arguments):
    """Lines of a terminal with 80 columns; what is wider takes several."""
    result = CliRunner().invoke(COMMAND, [str(each) for each in arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.stderr
    return [line[k : k + 80] for line in result.stdout.splitlines() for k in range(0, max(len(line), 1), 80)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("screens")
    for name, (instances, voters, alternatives) in SIZES.items():
        crowd = simulate(
            instances=instances, voters=voters, alternatives=alternatives, bounds=(1, 3),
            ballots_per_instance=5, spammers=0.4, copies=0.2, seed=3,
        )  # fmt: skip
        write_ballots(crowd.ballots, place / f"{name}.csv")
        write_truths(crowd.gold, place / f"{name}-gold.csv")
    names = {f"a{'very ' * 12}long name {k}" for k in range(3)}
    cast = {(f"{'somebody ' * 9}{v}", f"{'instance ' * 11}{z}"): names for v in range(15) for z in range(40)}
    write_ballots(Ballots.from_mapping(cast), place / "long.csv")
    return place


@pytest.mark.parametrize("name", [*SIZES, "long"])
@pytest.mark.parametrize("options", [(), ("--out",), ("--gold",), ("--method", "modal", "--timings")], ids=str)
def test_one_screen_is_enough(folder, name, options, tmp_path):
    if options == ("--gold",):
        options = ("--gold", folder / f"{name}-gold.csv") if name in SIZES else ("--quick",)
    options = ("--out", tmp_path / "out") if options == ("--out",) else options
    assert 10 < len(screen("aggregate", folder / f"{name}.csv", "--size", "1..3", "--quick", *options)) <= 39


def test_what_matters_comes_first(folder):
    lines = screen("aggregate", folder / "large.csv", "--size", "1..3", "--quick", "--method", "em")
    order = ["Found 400 sets", "About", "large.csv", "Method", "A sample of", "most doubtful", "Next, "]
    places = [next(k for k, line in enumerate(lines) if line.startswith(first)) for first in order]
    assert places == sorted(places)
    suspicious = next(k for k, line in enumerate(lines) if "voters are suspicious" in line)
    assert places[-2] < suspicious < places[-1]
    assert len([line for line in lines[places[-2] + 1 : suspicious - 1] if line.strip()]) == 10


@pytest.mark.parametrize(
    ("files", "rated", "doubtful", "learnt", "aside", "command"),
    [
        ([], True, 2, {}, None, "aggregate {} --out result"),
        ([], False, 0, {}, None, "aggregate {} --out result"),
        (["truth.csv"], True, 2, {}, None, "gold {} -o to-answer.csv"),
        (["truth.csv"], True, 2, {"q1"}, None, "review {} -o review.csv"),
        (["truth.csv"], True, 2, {}, {"q1": {"a"}}, "review {} -o review.csv"),
        (["truth.csv"], True, 0, {}, None, "report {} -o report.html"),
        (["truth.csv"], False, 2, {}, None, "report {} -o report.html"),
    ],
)
def test_the_next_command_is_the_one_that_helps_most(files, rated, doubtful, learnt, aside, command):
    again = Again(Path("my file.csv"), Fitting("1..2"), Reading())
    estimate = SimpleNamespace(gold=learnt)
    summary = SimpleNamespace(is_rated=rated, n_doubtful=doubtful, estimate=estimate, gold=aside)
    words = command.format("'my file.csv' --size 1..2").split(" ", 1)
    assert next_command(summary, Told(again, [Path(each) for each in files]))[1] == f"epivote {words[0]} {words[1]}"


@pytest.mark.parametrize(
    ("files", "doubtful", "command"),
    [
        ([], [(0.5, "q 1", ["a"])], "aggregate packed --size 1..2 --out result"),
        (["truth"], [(0.5, "q 1", ["a"]), (0.6, "q2", [])], "explain packed 'q 1' --size 1..2"),
        (["truth"], [], "report packed --size 1..2 -o report.html"),
    ],
)
def test_the_next_command_for_packed_ballots(files, doubtful, command):
    told = Told(Again(Path("packed"), Fitting("1..2"), Reading()), [Path(each) for each in files])
    assert next_of_packed(SimpleNamespace(doubtful=doubtful), told)[1] == f"epivote {command}"


@pytest.mark.parametrize("empty", [0, 1, 2])
@pytest.mark.parametrize("inferred", [False, True])
def test_how_the_file_was_read_is_said_in_whole_sentences(empty, inferred):
    export = SimpleNamespace(ballots=SimpleNamespace(total_empty=empty), inferred=inferred)
    said = [
        *["1 empty ballot speaks against every alternative"] * (empty == 1),
        *["2 empty ballots speak against every alternative"] * (empty == 2),
        "voters without a ballot on an instance count as not asked",
        *["alternatives are those that appear in the file; if more were offered, name all with --alternatives"]
        * inferred,
    ]
    assert read_notes(SimpleNamespace(export=export), ["noted before"]) == ["noted before", *said]


@pytest.mark.parametrize(
    ("n_sets", "n_sure", "n_gold", "expected"),
    [
        (5, None, 0, "Found 5 sets of size 1..2."),
        (1, 1, 0, "Found 1 set of size 1..2, with a confidence of 95 % or more."),
        (5, 5, 0, "Found 5 sets of size 1..2, all with a confidence of 95 % or more."),
        (5, 0, 0, "Found 5 sets of size 1..2: 0 with a confidence of 95 % or more, 5 doubtful."),
        (
            1_200,
            1_100,
            1,
            "Found 1,200 sets of size 1..2: 1,100 with a confidence of 95 % or more, 100 doubtful. 1 gold set is kept as given.",
        ),
        (5, 5, 2, "Found 5 sets of size 1..2, all with a confidence of 95 % or more. 2 gold sets are kept as given."),
        (5, None, 2, "Found 5 sets of size 1..2. 2 gold sets are kept as given."),
        (0, 0, 3, "3 gold sets are kept as given."),
    ],
)
def test_the_headline_counts_sets_by_confidence_and_gold_apart(n_sets, n_sure, n_gold, expected):
    ballots = SimpleNamespace(n_instances=n_sets + n_gold)
    estimate = SimpleNamespace(ballots=ballots, bounds=SizeBounds(1, 2))
    summary = SimpleNamespace(estimate=estimate, n_own_sizes=0, threshold=0.95)
    assert headline_of(summary, n_sets, n_sure) == expected


def test_everything_is_shown_on_request(folder):
    lines = screen("aggregate", folder / "middle.csv", "--size", "1..3", "--quick", "--method", "em", "--all")
    assert len(lines) > 100, "all sets and all doubtful instances"


def test_a_narrow_window_cuts_names_but_no_numbers(folder):
    lines = screen("aggregate", folder / "long.csv", "--size", "1..3", "--quick", "--method", "em")
    rows = [line for line in lines if line.startswith("instance ") and "…" in line]
    assert rows
    assert all(line.endswith(" %") or " % " in line for line in rows)


# The parts


def test_tables_make_the_widest_column_narrower():
    page = Page(Console(width=30))
    columns = (ScreenColumn("x"), ScreenColumn("much"), ScreenColumn("n", "right", is_cut=False))
    lines = page.table(columns, [("short", "a" * 50, "12.5 %")])
    assert [line.plain for line in lines] == ["x      much                  n", "short  aaaaaaaaaaaaaa…  12.5 %"]
    assert max(map(len, (line.plain for line in lines))) == 30
    folded = page.table(columns, [("short", "a" * 50, "12.5 %")], is_cut=False)
    assert sum(line.plain.count("a") for line in folded) == 50


@settings(max_examples=30)
@given(st.text("ab c", max_size=200), st.integers(1, 3))
def test_cut_sentences_say_so(text, most):
    page = Page(Console(width=20))
    lines = page.wrapped(text, most)
    assert len(lines) <= most
    assert all(line.cell_len <= 20 for line in lines)
    assert (len(page.wrapped(text)) > most) == (bool(lines) and lines[-1].plain.endswith("…"))


def test_the_same_command_again():
    again = Again(Path(__file__), Fitting("1..2", gold="my gold.csv", quick=True), Reading(voter="Who"))
    assert again.command("explain", "picture 4") == (
        f"epivote explain {__file__} 'picture 4' --size 1..2 --gold 'my gold.csv' --quick --voter Who"
    )
    assert again.command("gold", more="-o x.csv").endswith(" --voter Who -o x.csv")


@pytest.mark.parametrize(
    ("found", "rival", "words"),
    [
        (("a",), ("b",), "b"),
        (("a",), (), "(none)"),
        (("a", "b"), ("a",), "without b"),
        (("a",), ("a", "b", "c"), "with b, c"),
        (("a", "b"), ("a", "c"), "c, not b"),
    ],
)
def test_rivals_by_what_is_different(found, rival, words):
    assert other(found, rival) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.723, "72 %"), (0.1, "10 %"), (0.899, "90 %"), (0.9, "90.0 %"), (0.973, "97.3 %"), (0.0996, "10.0 %"),
        (0.9996, "> 99.9 %"), (0.99901, "> 99.9 %"), (0.999, "99.9 %"), (1.0, "100 %"), (0.0, "0 %"),
        (0.0004, "< 0.1 %"), (0.001, "0.1 %"), (0.034, "3.4 %"),
    ],
)  # fmt: skip
def test_shares(share, words):
    assert percent(share) == words


def test_probabilities_are_never_certain():
    assert (in_percent(1.0), in_percent(0.0), in_percent(0.5)) == ("> 99.9 %", "< 0.1 %", "50 %")
    assert [whole_percent(x) for x in (0.996, 0.5, 0.004, 1.0, 0.0)] == ["> 99 %", "50 %", "< 1 %", "100 %", "0 %"]
    assert (chosen_percent(0.95), chosen_percent(0.995), chosen_percent(0.9999)) == ("95 %", "99.5 %", "99.99 %")
    assert with_interval(0.62, 0.54, 0.69) == "0.62 (95 % CI 0.54-0.69)"


# review


def test_review_lists_and_writes_doubtful_instances(folder, tmp_path):
    options = ("review", folder / "small.csv", "--size", "1..3", "--quick", "--method", "em", "--threshold", "0.5")
    found = told(*options)
    assert (found["threshold"], found["instances"]) == (0.5, 6)
    assert 1 < len(found["review"]) < 6
    assert all(each["confidence"] < 0.5 for each in found["review"])
    text = said(*options, "-o", tmp_path / "r.csv")
    assert text.startswith(f"{len(found['review'])} of 6 sets have a confidence below 50 %.\n")
    assert f"\nWrote all of them to {tmp_path / 'r.csv'}.\n" in text
    first = found["review"][0]["instance"]
    assert text.endswith(f"\n  epivote explain {folder / 'small.csv'} {first} --size 1..3 --method em --quick\n")
    head, *rows = (tmp_path / "r.csv").read_text().splitlines()
    assert head == "instance,alternatives,confidence,rival,rival_probability,ballots,more_ballots"
    assert [row.split(",")[:2] for row in rows] == [
        [each["instance"], "|".join(each["answer"])] for each in found["review"]
    ]
    assert said(*options, "-o", "-") == (tmp_path / "r.csv").read_text()
    assert len(screen(*options)) <= 39


def test_review_refuses_what_makes_no_sense(folder):
    for options, words in (
        (("--threshold", "1.5"), "threshold=1.5 must be a probability above 0"),
        (("--method", "modal"), "method modal states no confidence to review; use auto, em or amle"),
    ):
        result = CliRunner().invoke(COMMAND, ["review", str(folder / "small.csv"), "--size", "1..3", *options])
        assert (result.exit_code, result.stderr) == (1, f"epivote: {words}\n")


def test_nothing_to_review(tmp_path):
    cast = {(f"v{v}", f"z{k}"): {("a", "b")[k % 2]} for k in range(20) for v in range(5)}
    write_ballots(Ballots.from_mapping(cast), tmp_path / "b.csv")
    text = said("review", tmp_path / "b.csv", "--size", "1", "--method", "em")
    assert text == "No instance is doubtful: all 20 sets have a confidence of 95 % or more.\n"


def test_every_help_has_a_sentence_and_two_examples():
    def commands(group, name):
        for part, inner in group.commands.items():
            yield from commands(inner, f"{name} {part}") if hasattr(inner, "commands") else [(f"{name} {part}", inner)]

    for name, command in commands(COMMAND, "epivote"):
        first, *rest = command.help.split("\n\n")
        assert first.endswith("."), name
        examples = [part.strip() for part in rest if part.strip().startswith("Example: ")]
        assert len(examples) == 2, name
        for example in examples:
            assert example.startswith(f"Example: {name}"), name
            assert len(example) <= 76, f"{name}: {example} would be folded"


def test_doubtful_instances_are_written_unless_a_name_holds_the_separator(tmp_path):
    doubts = [Doubt("q1", 0.5, ("a", "b"), ("c",), 0.25, 7, None), Doubt("q2", 0.75, (), ("a",), 0.125, 8, 3)]
    write_review(doubts, tmp_path / "review.csv")
    assert (tmp_path / "review.csv").read_text().splitlines() == [
        "instance,alternatives,confidence,rival,rival_probability,ballots,more_ballots",
        "q1,a|b,0.5,c,0.25,7,",
        'q2,"",0.75,a,0.125,8,3',
    ]
    for odd in (replace(doubts[0], answer=("a", "x|y")), replace(doubts[0], rival=("x|y",))):
        with pytest.raises(
            InputError, match="alternative 'x|y' contains '|', which separates alternatives; use --json"
        ):
            write_review([doubts[1], odd], tmp_path / "review.csv")
