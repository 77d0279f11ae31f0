"""Files packed: the same ballots as when read whole, whatever the cut, and the same sentences for what is wrong."""

import gzip
import os
import signal
import subprocess
import sys
from io import BytesIO
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import AMLE, EpivoteError, open_packed, pack_files, read_export, reference_crowd, write_ballots
from epivote.errors import BallotError, FileError
from epivote.formats import pack
from patience import in_time, read_until
from strategies import elections

CROWD = reference_crowd(60, 40, 7, 3, seed=6)
SMALL = "voter,instance,alternatives\nann,q1,a|b\nbo,q1,\nann,q2,b\n"


@pytest.fixture
def cut_fine(monkeypatch):
    monkeypatch.setattr(pack, "BYTES_PER_PART", 500)
    monkeypatch.setattr(pack, "ROWS_PER_BATCH", 50)


def by_instance(ballots):
    return dict(ballots.items())


@pytest.mark.parametrize("name", ["ballots.csv", "ballots.tsv", "ballots.parquet"])
def test_many_small_parts_hold_what_the_whole_file_holds(tmp_path, cut_fine, name):
    write_ballots(CROWD.ballots, tmp_path / name)
    packed = pack_files([tmp_path / name], tmp_path / "packed")
    whole = read_export(tmp_path / name).ballots
    assert by_instance(packed.select()) == by_instance(whole)
    assert packed.voters == whole.voters
    assert packed.alternatives == whole.alternatives
    assert len(packed.blocks) > 3
    found, expected = AMLE((1, 3)).fit(packed), AMLE((1, 3)).fit(whole)
    assert dict(found.truth_) == dict(expected.truth_)
    assert found.parameters_ == expected.parameters_, "to the last bit, whatever the order of the instances"


@settings(max_examples=settings().max_examples // 5)
@given(elections(), st.sampled_from(["lists", "ticks"]))
def test_any_ballots_survive(tmp_path_factory, election, layout):
    ballots = election.as_ballots()
    folder = tmp_path_factory.mktemp("packs")
    lines = ["voter,instance,alternatives" if layout == "lists" else "voter,instance,alternative"]
    for (voter, instance), ticks in ballots.items():
        cells = ["|".join(sorted(ticks))] if layout == "lists" else sorted(ticks) or [""]
        lines += [f"{voter},{instance},{cell}" for cell in cells]
    (folder / "b.csv").write_text("\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "BYTES_PER_PART", 40)
        packed = pack_files([folder / "b.csv"], folder / "packed", alternatives=ballots.alternatives)
    assert by_instance(packed.select()) == by_instance(ballots)


def test_ballots_of_one_instance_may_lie_in_several_files(tmp_path, cut_fine):
    names = CROWD.ballots.voters
    for number, part in enumerate((names[:20], names[20:])):
        write_ballots(CROWD.ballots.select(voters=part), tmp_path / f"{number}.csv")
    packed = pack_files([tmp_path / "0.csv", tmp_path / "1.csv"], tmp_path / "packed")
    assert by_instance(packed.select()) == by_instance(CROWD.ballots)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALL + "bo,q1,a\n", r"b.csv, line 5: voter 'bo' already has a ballot on instance 'q1' \(b.csv, line 3\)"),
        (SMALL + ",q2,a\n", "b.csv, line 5: the voter is blank"),
        (SMALL + "bo,,a\n", "b.csv, line 5: the instance is blank"),
        (SMALL + "bo,q2\n", "b.csv, line 5: 2 cells where the header has 3"),
        ("voter,instance,alternatives\n", "holds no ballots"),
        ("voter,instance\nann,q1\n", "there is no column 'alternatives'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_leaves_nothing(tmp_path, monkeypatch, cut_fine, text, message):
    (tmp_path / "b.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EpivoteError, match=message):
        pack_files(["b.csv"], "packed", format="ballots")
    assert [path.name for path in tmp_path.iterdir()] == ["b.csv"]


def test_an_unknown_alternative_is_said_with_its_line(tmp_path, cut_fine):
    (tmp_path / "b.csv").write_text(SMALL)
    with pytest.raises(BallotError, match=r"line 2: 'b' is not an alternative"):
        pack_files([tmp_path / "b.csv"], tmp_path / "packed", alternatives=("a", "c"))


def test_none_of_these_menus_and_blank_cells_are_understood(tmp_path, cut_fine):
    (tmp_path / "b.csv").write_text(SMALL.replace("bo,q1,", "bo,q1,none"))
    packed = pack_files([tmp_path / "b.csv"], tmp_path / "none", none="none")
    assert packed.alternatives == ("a", "b")
    assert packed.ballot("bo", "q1") == frozenset()
    (tmp_path / "b.csv").write_text(SMALL)
    packed = pack_files([tmp_path / "b.csv"], tmp_path / "missing", blank="missing")
    assert packed.n_ballots == 2
    menu = {"q1": ["a", "b"], "q2": ["b", "c"]}
    packed = pack_files([tmp_path / "b.csv"], tmp_path / "menu", menu=menu)
    assert packed.offered("q2") == ("b", "c")
    (tmp_path / "i.csv").write_text("voter,instance,a,b\nann,q1,1,0\nbo,q1,,\ncy,q1,0,0\n")
    packed = pack_files([tmp_path / "i.csv"], tmp_path / "indicators", format="indicators")
    assert by_instance(packed.select()) == {("ann", "q1"): {"a"}, ("cy", "q1"): frozenset()}


def test_cells_are_split_as_their_format_says(tmp_path, cut_fine):
    (tmp_path / "t.csv").write_text("voter,instance,alternative\nann,q1,a|b\nann,q1,c\n")
    packed = pack_files([tmp_path / "t.csv"], tmp_path / "ticks", format="ticks")
    assert packed.ballot("ann", "q1") == {"a|b", "c"}
    (tmp_path / "c.csv").write_text('worker,task,label\nann,q1,"[""a"", ""b""]"\n')
    packed = pack_files([tmp_path / "c.csv"], tmp_path / "lists", format="crowd-kit")
    assert packed.ballot("ann", "q1") == {"a", "b"}


def test_zipped_text_and_other_exports(tmp_path):
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(SMALL.encode()))
    assert pack_files([tmp_path / "b.csv.gz"], tmp_path / "zipped").n_ballots == 3
    (tmp_path / "b.jsonl").write_text('{"voter": "ann", "instance": "q1", "alternatives": ["a"]}\n')
    assert pack_files([tmp_path / "b.jsonl"], tmp_path / "lines").n_ballots == 1
    (tmp_path / "b.csv").write_text(SMALL)
    with pytest.raises(FileError, match="cannot be packed together"):
        pack_files([tmp_path / "b.csv", tmp_path / "b.jsonl"], tmp_path / "both")
    with pytest.raises(FileError, match="already exists"):
        pack_files([tmp_path / "b.csv"], tmp_path / "lines")


def test_an_export_from_standard_input_is_read_where_it_was_recognised(tmp_path, monkeypatch):
    text = b'[{"voter": "ann", "instance": "q", "alternatives": ["a", "b"]}]'
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(text)))
    packed = pack_files(["-"], tmp_path / "packed", alternatives=iter("cba"))
    assert by_instance(packed.select()) == {("ann", "q"): {"a", "b"}}
    assert packed.alternatives == ("c", "b", "a")


@pytest.mark.slow
def test_a_pack_killed_in_the_middle_leaves_no_folder_that_could_be_taken_for_whole(tmp_path):
    write_ballots(CROWD.ballots, tmp_path / "b.csv")
    code = (
        "import signal, sys\nfrom epivote.formats import pack\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "pack.BYTES_PER_PART = 700\n"
        "def waits(text):\n    print(text, flush=True)\n    text.startswith('Packing part 3') and sys.stdin.read()\n"
        f"pack.pack_files([{str(tmp_path / 'b.csv')!r}], {str(tmp_path / 'packed')!r}, told=waits)\n"
    )
    for how in (signal.SIGKILL, signal.SIGINT):
        command = [sys.executable, "-c", code]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with in_time(subprocess.Popen(command, **pipes)) as run:
            read_until(run.stdout, b"Packing part 3")
            os.kill(run.pid, how)
            run.wait(timeout=60)
        assert run.returncode != 0
        assert not (tmp_path / "packed").exists()
    assert pack_files([tmp_path / "b.csv"], tmp_path / "packed").n_ballots == CROWD.ballots.n_ballots
    assert open_packed(tmp_path / "packed").n_instances == 60
