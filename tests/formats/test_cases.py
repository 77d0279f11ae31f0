"""Every file in tests/cases is read to the ballots it holds; every one in tests/cases-refused is refused in its words."""

import gzip
import shutil
from pathlib import Path

import polars as pl
import pytest
from trying import ballots_of

from epivote import EpivoteError, read_ballots, read_export

CASES = Path(__file__).parent.parent / "cases"
REFUSED = Path(__file__).parent.parent / "cases-refused"
BIRDS = {("ann", "q1"): {"robin", "wren"}, ("bo", "q1"): set(), ("ann", "q2"): {"owl"}}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ballots.csv", "ballots"),
        ("ballots.tsv", "ballots"),
        ("ballots.jsonl", "ballots"),
        ("ballots.json", "ballots"),
        ("ticks.csv", "ticks"),
        ("indicators.csv", "indicators"),
        ("crowd-kit.csv", "crowd-kit"),
        ("matrix.txt", "matrix"),
        ("mturk.csv", "mturk"),
    ],
)
def test_the_same_three_ballots_in_many_formats(name, kind):
    found = read_export(CASES / name)
    assert found.format == kind
    assert ballots_of(found) == BIRDS


def test_parquet_with_lists_and_with_joined_text(tmp_path):
    lists = pl.DataFrame({"voter": ["ann", "bo", "ann"], "instance": ["q1", "q1", "q2"]})
    lists.with_columns(alternatives=pl.Series([["robin", "wren"], [], ["owl"]])).write_parquet(tmp_path / "a.parquet")
    lists.with_columns(alternatives=pl.Series(["robin|wren", "", "owl"])).write_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet"):
        assert ballots_of(read_export(tmp_path / name)) == BIRDS


def test_doccano_as_folder_and_as_zip(tmp_path):
    archive = shutil.make_archive(str(tmp_path / "export"), "zip", CASES / "doccano")
    for path in (CASES / "doccano", archive):
        found = read_export(path)
        assert found.format == "doccano"
        assert ballots_of(found) == {("ann", "1"): {"robin", "wren"}, ("ann", "2"): {"owl"}, ("bo", "2"): {"owl"}}
        assert "may never have been opened" in found.notes[0]
        assert "--blank empty" in found.notes[0]
        confirmed = read_export(path, blank="empty")
        assert confirmed.ballots.ballot("bo", "1") == frozenset()


def test_doccano_labels_in_csv_are_joined_by_a_hash(tmp_path):
    (tmp_path / "ann.csv").write_text('id,data,label,Comments\n1,"a, b",robin#wren,\n2,c,owl,\n')
    (tmp_path / "bo.csv").write_text("id,data,label,Comments\n1,x,,\n2,c,owl,\n")
    assert ballots_of(read_export(tmp_path, format="doccano", blank="empty")) == {
        ("ann", "1"): {"robin", "wren"},
        ("ann", "2"): {"owl"},
        ("bo", "1"): set(),
        ("bo", "2"): {"owl"},
    }


def test_toloka_keeps_gold_and_leaves_out_what_was_not_accepted():
    found = read_export(CASES / "toloka.tsv")
    assert found.format == "toloka"
    assert ballots_of(found) == {("ann", "t1"): {"robin", "wren"}, ("bo", "t1"): set(), ("ann", "t2"): {"owl"}}
    assert dict(found.gold) == {"t1": {"robin"}}
    assert found.notes == (
        "a submitted answer without ticks counts as an empty ballot; --blank missing leaves it out",
        "an assignment that is REJECTED counts as a missing ballot",
        "an assignment that is SKIPPED counts as a missing ballot",
    )
    assert set(read_export(CASES / "toloka.tsv", instances="INPUT:image").ballots.instances) == {"1.jpg", "2.jpg"}


def test_toloka_with_a_column_per_box():
    assert ballots_of(read_export(CASES / "toloka-boxes.tsv")) == {
        ("ann", "t1"): {"robin", "wren"},
        ("bo", "t1"): set(),
    }


def test_preflib_categories_and_orders():
    found = read_export(CASES / "preflib.cat")
    assert found.ballots.alternatives == ("wren", "robin", "owl")
    assert ballots_of(found) == {
        ("line-1", "preflib"): {"wren", "robin"},
        ("line-2", "preflib"): {"owl"},
        ("line-3", "preflib"): set(),
    }
    assert found.ballots.multiplicities.tolist() == [2, 1, 1]
    assert found.notes[0].startswith("category 'Approved' counts as approved; 'Not approved' does not")
    assert "do not name voters" in found.notes[1]
    orders = read_export(CASES / "preflib.toc").ballots
    assert [set(ticks) for _, ticks in orders.items()] == [{"robin"}, {"wren", "robin"}]
    assert orders.multiplicities.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("name", "approved", "counts"),
    [
        # shapes of data sets 69, 57, 37, 60 and 71 of https://github.com/PrefLib/PrefLib-Data, and of any order
        ("polis.cat", "'Approved'", {"voters": 6, "ballots": 6, "empty": 2, "approvals": 7}),
        ("parliament.cat", "'Vote'", {"voters": 4_900_000, "ballots": 4_900_000, "empty": 0, "approvals": 4_900_000}),
        ("reviewers.cat", "'Yes'", {"voters": 2, "ballots": 2, "empty": 1, "approvals": 2}),
        ("validators.cat", "'Approved'", {"voters": 12, "ballots": 12, "empty": 0, "approvals": 15}),
        ("order.soc", "first place", {"voters": 5, "ballots": 5, "empty": 0, "approvals": 5}),
        ("order.soi", "first place", {"voters": 5, "ballots": 5, "empty": 0, "approvals": 5}),
    ],
)
def test_preflib_files_of_many_shapes(name, approved, counts):
    found = read_export(CASES / name)
    assert found.format == "preflib"
    assert {what: getattr(found.ballots, f"total_{what}") for what in counts} == counts
    assert approved in found.notes[0]


def test_grades_are_read_as_the_user_says():
    found = read_export(REFUSED / "grades.cat", approved="20/20|10/20").ballots
    assert [set(ticks) for _, ticks in found.items()] == [{"wren", "robin"}, {"wren", "owl"}]


def test_a_table_with_multiplicities():
    found = read_export(CASES / "merged.csv").ballots
    assert (found.total_voters, found.n_voters, found.total_approvals, found.total_empty) == (124, 3, 241, 3)


def test_abcvoting_without_numbers_of_candidates():
    found = read_export(CASES / "sets.abc.yaml").ballots
    assert [set(ticks) for _, ticks in found.items()] == [{"0", "1"}, set(), {"2"}]


def test_preflib_says_when_header_and_lines_disagree(tmp_path):
    text = (CASES / "preflib.cat").read_text().replace("NUMBER VOTERS: 4", "NUMBER VOTERS: 5")
    (tmp_path / "x.cat").write_text(text)
    assert any("states 5 voters, but its lines add up to 4" in note for note in read_export(tmp_path / "x.cat").notes)


def test_a_folder_of_elections_is_one_instance_each(tmp_path):
    for name in ("one", "two"):
        shutil.copy(CASES / "picture.abc.yaml", tmp_path / f"{name}.abc.yaml")
    found = read_export(tmp_path)
    assert found.ballots.instances == ("one", "two")
    assert found.ballots.voters == ("voter 1", "voter 2", "voter 3", "voter 4")
    cats = tmp_path / "cats"
    cats.mkdir()
    for name in ("one", "two"):
        shutil.copy(CASES / "preflib.cat", cats / f"{name}.cat")
    assert read_export(cats).ballots.total_voters == 8, "voters of two PrefLib files are different"


def test_abcvoting_keeps_the_voters_places():
    found = read_export(CASES / "picture.abc.yaml")
    assert ballots_of(found) == {
        ("voter 1", "picture"): {"0", "1"},
        ("voter 2", "picture"): {"0"},
        ("voter 3", "picture"): set(),
        ("voter 4", "picture"): {"1", "2"},
    }
    assert any("--size 2" in note for note in found.notes)
    assert found.ballots.multiplicities.tolist() == [1, 1, 2, 1]


def test_pabulib_bounds_of_ballots_are_not_taken_for_sizes_of_sets():
    found = read_export(CASES / "budget.pb")
    assert found.ballots.alternatives == ("1", "2", "4")
    assert ballots_of(found) == {("1", "budget"): {"1", "2", "4"}, ("2", "budget"): set(), ("7", "budget"): {"4"}}
    assert any("limit the ballots, not the true sets" in note for note in found.notes)


@pytest.mark.parametrize(
    "text",
    ["1 0 1\n0 0 0\n", "1,0,1\n0,0,0\n", "1\t0\t1\n0\t0\t0\n", "\n1;0;1\n0;0;0\n\n", "1 0 1\r\n0 0 0\r\n? ? ?\r\n"],
)
def test_a_pasted_matrix(tmp_path, text):
    path = tmp_path / "pasted"
    path.write_bytes(text.encode())
    assert ballots_of(read_export(path)) == {
        ("voter 1", "instance 1"): {"a1", "a3"},
        ("voter 2", "instance 1"): set(),
    }
    named = read_export(path, alternatives=["owl", "robin", "wren"])
    assert named.ballots.ballot("voter 1", "instance 1") == {"owl", "wren"}


def test_ticks_without_blank_rows_cannot_tell_empty_from_missing(tmp_path):
    path = tmp_path / "ticks.csv"
    path.write_text("voter,instance,alternative\nann,q1,owl\nbo,q2,owl\n")
    assert "have no row and count as not asked" in read_export(path).notes[0]
    assert read_export(CASES / "ticks.csv").notes == ()


def test_an_error_in_a_row_of_ticks_names_that_row(tmp_path):
    path = tmp_path / "ticks.csv"
    path.write_text("voter,instance,alternative\nann,q1,owl\nbo,q1,owl\nann,q1,wern\n")
    with pytest.raises(EpivoteError, match="line 4: 'wern' is not an alternative .did you mean 'wren'"):
        read_export(path, alternatives=["owl", "wren"])


def test_columns_can_be_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("who;picture;tags;note\nann;q1;robin,wren;x\nbo;q1;;y\nann;q2;owl;z\n")
    found = read_export(path, voter="who", instances="picture", ticks="tags", separator=",")
    assert (found.format, ballots_of(found)) == ("ballots", BIRDS)
    path.write_text("who,picture,is_owl,is_robin,is_wren,note\nann,q1,0,1,1,x\nbo,q1,0,0,0,y\nann,q2,1,0,0,z\n")
    found = read_export(path, voter="who", instances="picture", ticks="is_*")
    assert found.format == "indicators"
    assert found.ballots.ballot("ann", "q1") == {"is_robin", "is_wren"}


@pytest.mark.parametrize(
    "encode",
    [
        gzip.compress,
        lambda data: data.decode().encode("utf-16"),
        lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
        lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        lambda data: gzip.compress(data.decode().encode("utf-16")),
    ],
    ids=["gzip", "UTF-16", "UTF-16 big-endian", "byte-order mark and CRLF", "gzip of UTF-16"],
)
@pytest.mark.parametrize("name", ["ballots.csv", "ballots.jsonl", "ballots.json", "mturk.csv", "matrix.txt"])
def test_however_the_text_is_stored(tmp_path, name, encode):
    path = tmp_path / (f"{name}.gz" if encode is gzip.compress else name)
    path.write_bytes(encode((CASES / name).read_bytes()))
    assert ballots_of(read_export(path)) == BIRDS


def test_read_ballots_takes_what_is_canonical_in_any_container(tmp_path):
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((CASES / "ballots.csv").read_bytes()))
    for path in (tmp_path / "b.csv.gz", CASES / "ballots.tsv", CASES / "ballots.jsonl"):
        assert dict(read_ballots(path).items()) == BIRDS


@pytest.mark.parametrize("message", sorted(REFUSED.glob("*.message")), ids=lambda path: path.stem)
def test_what_is_refused_is_refused_in_these_words(message, monkeypatch):
    monkeypatch.chdir(REFUSED)
    with pytest.raises(EpivoteError) as refused:
        read_export(message.stem)
    assert str(refused.value) == message.read_text().rstrip("\n")


def test_every_refused_case_has_its_message():
    files = {path.name for path in REFUSED.iterdir() if path.suffix != ".message"}
    assert files == {path.stem for path in REFUSED.glob("*.message")}
