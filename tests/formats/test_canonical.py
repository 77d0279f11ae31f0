import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import (
    AMLE,
    BallotError,
    Ballots,
    ColumnError,
    FileError,
    InputError,
    Majority,
    Truths,
    read_ballots,
    read_menu,
    read_truths,
    simulate,
    write_ballots,
    write_estimate,
    write_truths,
)
from epivote.atomic import write_files
from strategies import elections, names

HEADER = "voter,instance,alternatives\n"
few = settings(max_examples=settings().max_examples // 4)


@pytest.fixture
def write(tmp_path):
    def to_file(text, name="ballots.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return to_file


def test_the_three_states(write):
    ballots = read_ballots(write(HEADER + "ann,q1,a|b\nbo,q1,\nann,q2,c\n"))
    assert dict(ballots.items()) == {("ann", "q1"): {"a", "b"}, ("bo", "q1"): set(), ("ann", "q2"): {"c"}}
    assert ballots.ballot("bo", "q2") is None


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEADER + "ann,q1,a\n",
        (HEADER + "ann,q1,a\n").replace("\n", "\r\n"),
        HEADER + "ann,q1,a",
        HEADER + "\nann,q1,a\n\n",
        'voter,instance,alternatives\n"ann","q1","a"\n',
        "note,alternatives,instance,voter\nx,a,q1,ann\n",
        "worker,task,label\nann,q1,a\n",
    ],
    ids=["byte-order mark", "CRLF", "no last newline", "blank lines", "quotes", "other columns", "words of neighbours"],
)
def test_files_as_programs_write_them(write, text):
    assert dict(read_ballots(write(text)).items()) == {("ann", "q1"): {"a"}}


@few
@given(
    st.dictionaries(
        st.tuples(names, names), st.sets(st.sampled_from(["a", "b,c", 'd"e', " f", "g\nh", "é😀"])), min_size=1
    ).filter(lambda ballots: any(ballots.values()))
)
def test_round_trip_of_ballots(tmp_path_factory, ballots):
    path = tmp_path_factory.mktemp("round") / "ballots.csv"
    built = Ballots.from_mapping(ballots)
    write_ballots(built, path)
    assert dict(read_ballots(path, alternatives=built.alternatives).items()) == ballots


@few
@given(elections(menus=False))
def test_round_trip_keeps_missing_and_empty_apart(tmp_path_factory, election):
    path = tmp_path_factory.mktemp("round") / "ballots.csv"
    built = election.as_ballots()
    write_ballots(built, path)
    again = read_ballots(path, alternatives=built.alternatives)
    assert dict(again.items()) == dict(built.items())
    assert again.instances == built.instances


@few
@given(st.dictionaries(names, st.sets(names), min_size=1))
def test_round_trip_of_truths(tmp_path_factory, sets):
    path = tmp_path_factory.mktemp("round") / "truth.csv"
    write_truths(Truths.from_mapping(sets), path)
    assert dict(read_truths(path)) == sets


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("", {}, FileError, r"ballots\.csv is empty; it needs a header line and ballots"),
        (HEADER, {}, BallotError, "csv holds no ballots; check that it is the file you meant"),
        (
            HEADER + "ann,q1,a\nann,q2,\nann,q1,b\n",
            {},
            BallotError,
            r"csv, line 4: voter 'ann' already .*csv, line 2\)",
        ),
        (
            HEADER + 'ann,q1,"a\nb"\n\nbo,q1,x\n',
            {"alternatives": ["a\nb"]},
            BallotError,
            "line 5: 'x' is not an alternative",
        ),
        (
            HEADER + "ann,q1,Intre Milan\n",
            {"alternatives": ["Inter Milan", "PSG"]},
            BallotError,
            r"ballots\.csv, line 2: 'Intre Milan' is not an alternative \(did you mean 'Inter Milan'\?\)",
        ),
        (HEADER + "ann,q1,a\n,q1,b\n", {}, BallotError, "csv, line 3: the voter is blank"),
        (HEADER + "ann,q1,a\nbo,,b\n", {}, BallotError, "csv, line 3: the instance is blank"),
        (
            "who,instance,alternatives\nann,q1,a\n",
            {},
            ColumnError,
            r"csv: there is no column 'voter' \(nor worker, annotator or the like\); the columns are 'who', 'instance', 'altern",
        ),
        ("voter,voter,alternatives\nann,q1,a\n", {}, ColumnError, "column 'voter' appears twice"),
        (HEADER + "ann,q1\n", {}, FileError, "csv, line 2: 2 cells where the header has 3"),
        (HEADER + "bo,q1,a\nann,q1,a,b\n", {}, FileError, "csv, line 3: 4 cells where the header has 3; quote a cell"),
        (HEADER + 'ann,q1,"a\n', {}, FileError, "csv, line 2: .*; check the quotes there"),
        (
            (HEADER + "ann,q1,é\n").encode("latin-1"),
            {},
            FileError,
            "if 'ann,q1,é' is right, add --encoding windows-1252",
        ),
        (
            HEADER + "ann,q1,a\nann,q2,b\n",
            {"alternatives": ["a", "b", "c"], "menu": {"q1": ["b", "c"], "q2": ["b"]}},
            BallotError,
            "csv, line 2: voter 'ann' ticked 'a', which",
        ),
    ],
)
def test_bad_files_are_refused_with_line_value_and_remedy(write, text, options, error, message):
    with pytest.raises(error, match=message) as refused:
        read_ballots(write(text), **options)
    assert "\n" not in str(refused.value)


def test_which_of_two_ballots_counts(write):
    path = write(HEADER + "ann,q1,a\nann,q1,b\n")
    assert read_ballots(path, duplicates="first").ballot("ann", "q1") == {"a"}
    assert read_ballots(path, duplicates="last").ballot("ann", "q1") == {"b"}


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileError, match=r"nowhere\.csv does not exist"):
        read_ballots(tmp_path / "nowhere.csv")
    with pytest.raises(FileError, match="is a folder; name a file in it"):
        read_ballots(tmp_path)


def test_menus_and_sets_are_read_and_checked(write):
    menu = write("instance,alternatives\nq1,a|b\nq2,c\n", "menu.csv")
    assert read_menu(menu) == {"q1": ["a", "b"], "q2": ["c"]}
    ballots = read_ballots(write(HEADER + "ann,q1,a\nann,q2,\n"), menu=menu)
    assert ballots.offered("q2") == ("c",)
    with pytest.raises(InputError, match="gold.csv, line 3: instance 'q1' already has a set"):
        read_truths(write("instance,alternatives\nq1,a\nq1,b\n", "gold.csv"))
    with pytest.raises(InputError, match="gold.csv, line 2: the instance is blank"):
        read_truths(write("instance,alternatives\n,a\n", "gold.csv"))


def test_results_are_written_with_full_precision(tmp_path):
    ballots = simulate(instances=9, voters=5, alternatives=4, bounds=(1, 2), seed=1).ballots
    fitted = AMLE((1, 2)).fit(ballots)
    files = write_estimate(fitted.estimate_, tmp_path / "new" / "folder")
    assert [file.name for file in files] == ["truth.csv", "voters.csv", "alternatives.csv", "inclusion.csv"]
    headers = [file.read_text().splitlines()[0] for file in files]
    assert headers == [
        "instance,alternatives,confidence",
        "voter,hit_rate,false_alarm_rate,weight,ballots",
        "alternative,prior",
        "instance,alternative,probability",
    ]
    assert read_truths(files[0]) == fitted.truth_
    np.testing.assert_array_equal(pl.read_csv(files[0])["confidence"], fitted.confidence_)
    np.testing.assert_array_equal(pl.read_csv(files[1])["weight"], fitted.parameters_.weights)
    assert len(pl.read_csv(files[3])) == 9 * 4
    assert len(list(files[0].parent.iterdir())) == 4, "no temporary file stays behind"


def test_rules_without_rates_leave_confidence_blank(tmp_path):
    ballots = simulate(instances=3, voters=3, alternatives=3, bounds=1, seed=1).ballots
    write_estimate(Majority(1).fit(ballots).estimate_, tmp_path)
    assert all(line.endswith(",") for line in (tmp_path / "truth.csv").read_text().splitlines()[1:])
    assert (tmp_path / "inclusion.csv").read_text() == "instance,alternative,probability\n"


def test_a_name_that_cannot_be_written_is_refused_before_anything_is(tmp_path):
    ballots = Ballots.from_mapping({("v", "z"): {"a|b"}})
    with pytest.raises(InputError, match=r"alternative 'a\|b' contains '\|'"):
        write_ballots(ballots, tmp_path / "ballots.csv")
    with pytest.raises(InputError, match="rename it"):
        write_estimate(Majority().fit(ballots).estimate_, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_whoever_has_the_old_file_open_still_sees_it_whole(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("old")
    with path.open() as reader:
        write_files({path: lambda new: new.write_text("new and longer")})
        assert reader.read() == "old"
    assert path.read_text() == "new and longer"


def test_a_failing_writer_leaves_the_old_files_and_nothing_else(tmp_path):
    (tmp_path / "one").write_text("old")

    def fails(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(FileError, match="cannot write .*two: No space left on device; choose another place"):
        write_files({tmp_path / "one": lambda path: path.write_text("new"), tmp_path / "two": fails})
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("one", "old")]
