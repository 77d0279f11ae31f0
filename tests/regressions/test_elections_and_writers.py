"""Matrices, elections, damaged files and writers that went wrong once, each with the way it showed."""

import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from epivote import Ballots, EpivoteError, FileError, read_ballots, read_export, read_truths, write_ballots
from epivote.cli import app

CASES = Path(__file__).parent.parent / "cases"
HEADER = "voter,instance,alternatives\n"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def ballots_of(found):
    return {key: set(ticks) for key, ticks in found.ballots.items()}


# Matrices and elections


@pytest.mark.parametrize(
    ("text", "ballots"),
    [
        ("voter a b\n1 1 0\n0 0 1\n", {("1", "instance 1"): {"a"}, ("0", "instance 1"): {"b"}}),
        ("voter,a,b\nvoter 1,1,0\n", {("voter 1", "instance 1"): {"a"}}),
        ("ann 1 0\nbo 0 0\n", {("ann", "instance 1"): {"a1"}, ("bo", "instance 1"): set()}),
    ],
)
def test_voters_of_a_matrix_may_have_any_name(write, text, ballots):
    assert ballots_of(read_export(write("m.txt", text))) == ballots


def test_a_typing_error_in_the_first_line_of_a_matrix_is_no_header(write):
    with pytest.raises(FileError, match="line 1: '1 0 2' is not a row of 0 and 1"):
        read_export(write("m.txt", "1 0 2\n0 1 1\n"), format="matrix")


def test_a_text_file_may_be_a_table(write):
    assert ballots_of(read_export(write("b.txt", HEADER + "w,q,a\n"))) == {("w", "q"): {"a"}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.pb", "META\nkey;value\nPROJECTS\nproject_id\n1\nVOTES\nvoter_id;vote\n1\n", "line 8: there is no vote"),
        ("a.cat", "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: x\n1: 1, 2\n", "same name"),
        ("b.toc", "# NUMBER ALTERNATIVES: 2\n1:\n", "line 2: '1:' is not of the form"),
        ("c.toc", "# NUMBER ALTERNATIVES: 2\n9999999999999: 1, 2\n", "9999999999999 is not a valid number of voters"),
        ("d.cat", "# NUMBER ALTERNATIVES: 999999999999\n1: 1, 2\n", "is not a valid number of alternatives"),
        ("e.abc.yaml", "profile: [[0]]\nnum_cand: 999999999999\n", "is not a valid number of candidates"),
        (
            "f.pb",
            "META\nkey;value\nPROJECTS\nproject_id\n1\nVOTES\nvoter_id;vote\n1;3\n",
            "f.pb, line 8: '3' is not an",
        ),
    ],
)
def test_elections_that_say_too_little_or_too_much(write, name, text, message):
    with pytest.raises(EpivoteError, match=message):
        read_export(write(name, text))


def test_two_kinds_of_elections_in_one_folder(write, tmp_path):
    write("a.cat", "# NUMBER ALTERNATIVES: 2\n1: 1, 2\n")
    write("b.abc.yaml", "profile: [[0]]\nnum_cand: 2\n")
    with pytest.raises(FileError, match="holds b.abc.yaml beside .cat files; keep one kind"):
        read_export(tmp_path)


def test_capital_endings(write):
    assert read_export(write("Pic.TOC", "# NUMBER ALTERNATIVES: 2\n1: 1, 2\n")).ballots.instances == ("Pic",)


def test_names_of_instances_survive_in_abcvoting_files(tmp_path):
    built = Ballots.from_mapping({("v", "what/is this?"): {"a"}})
    write_ballots(built, tmp_path / "x", format="abcvoting")
    assert read_export(tmp_path / "x").ballots.instances == ("what/is this?",)


# Damage


@pytest.mark.parametrize(
    "content",
    [
        b"voter,instance,alternatives\rw,q,a\r",
        HEADER.encode() + b"w,q,a\n",
    ],
)
def test_line_ends_of_old_macintoshes(write, content):
    assert read_ballots(write("m.csv", content)).ballot("w", "q") == {"a"}


def test_long_cells_deep_json_and_empty_archives(write, tmp_path):
    long = "META\nkey;value\ndescription;" + "x" * 200_000 + "\nPROJECTS\nproject_id\n1\nVOTES\nvoter_id;vote\n1;1\n"
    assert read_export(write("a.pb", long)).ballots.n_ballots == 1
    with pytest.raises(FileError, match="its lists are nested too deeply"):
        read_export(write("deep.jsonl", '{"a":' * 100_000))
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(FileError, match=r"holds no \.jsonl"):
        read_export(tmp_path / "empty.zip")


def test_columns_of_strange_types_are_refused(tmp_path):
    base = {"voter": ["a"], "instance": ["q"]}
    for cell in (pl.Series([[["x"]]]), pl.Series([[{"n": "x"}]]), pl.Series([b"x"])):
        pl.DataFrame({**base, "alternatives": cell}).write_parquet(tmp_path / "x.parquet")
        with pytest.raises(EpivoteError, match="column 'alternatives' holds"):
            read_export(tmp_path / "x.parquet")
    pl.DataFrame({"voter": [["a"]], "instance": ["q"], "alternatives": ["x"]}).write_parquet(tmp_path / "y.parquet")
    with pytest.raises(EpivoteError, match="column 'voter' holds lists"):
        read_export(tmp_path / "y.parquet")


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "x.csv").write_text(HEADER)
    with pytest.raises(FileError, match="is a folder, but not a known export; name a file in it"):
        read_export(tmp_path)


def test_sizes_given_twice(write):
    ballots = write("b.csv", HEADER + "v,q,A\n")
    sizes = write("s.csv", "instance,size\nq,1\nq,2\n")
    assert (
        "s.csv, line 3: instance 'q' is blank or already has a size"
        in run("aggregate", ballots, "--size", "1", "--sizes", sizes).stderr
    )


# Writing


@pytest.mark.parametrize("name", ["b.json", "b.txt", "b.csv.gz", "b"])
def test_unknown_endings_are_not_written_as_csv(write, tmp_path, name):
    result = run("convert", write("in.csv", HEADER + "v,q,a\n"), tmp_path / name)
    assert result.exit_code == 1
    assert "ballots are written to names that end in .csv, .tsv, .parquet, .jsonl, .ndjson" in result.stderr
    assert not (tmp_path / name).exists()


def test_convert_to_standard_output_is_as_careful_as_to_a_file(write):
    path = write("p.jsonl", '{"voter":"w","instance":"q","alternatives":["a|b","c"]}\n')
    refused = run("convert", path, "-")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert run("convert", path, "-", "--to", "crowd-kit").stdout == 'task,worker,label\nq,w,"[""a|b"", ""c""]"\n'


def test_convert_says_what_is_left_out(write, tmp_path):
    path = write("p.toc", "# NUMBER ALTERNATIVES: 3\n1: 1, {2, 3}\n")
    told = run("convert", path, tmp_path / "b.csv").stdout
    assert "alternatives that nobody ticked are not in the new file ('2', '3')" in told
    again = run("convert", path, tmp_path / "c.cat").stdout
    assert "do not say who voted" in again
    assert "not in the new file" not in again


def test_a_file_in_the_place_of_the_folder(write):
    path = write("b.csv", HEADER + "v,q,a\n")
    result = run("aggregate", path, "--size", "1", "--out", path)
    assert f"{path} is a file; name a folder for truth.csv" in result.stderr


def test_every_written_file_is_said_with_its_folder(write, tmp_path):
    path = write("b.csv", HEADER + "v,q,a\nw,q,a\n")
    told = run(
        "aggregate", path, "--size", "1", "--out", tmp_path / "out", "--report", tmp_path / "rep" / "r.html"
    ).stdout
    words = " ".join(told.split())
    assert f"Wrote r.html to {tmp_path / 'rep'}." in words
    assert f"Wrote truth.csv, voters.csv, alternatives.csv, inclusion.csv to {tmp_path / 'out'}." in words
    assert set(read_truths(tmp_path / "out" / "truth.csv")) == {"q"}


def test_a_seed_below_zero_is_wrong_usage(tmp_path):
    assert run("simulate", "--seed", -1, "--out", tmp_path).exit_code == 2


def test_what_contradicts_itself_is_refused(write):
    path = write("b.csv", HEADER + "v,q,a\nw,q,a\n")
    both = run("aggregate", path, "--size", "1", "--json", "--out", "-")
    assert (both.exit_code, both.stdout) == (1, "")
    assert "--json and --out - both write to standard output" in both.stderr
    for use in ("score", "learn"):
        assert f"--gold-use {use} needs gold sets" in run("aggregate", path, "--size", "1", "--gold-use", use).stderr


def test_predictions_need_a_file(write):
    source = (CASES / "label-studio.json").read_bytes()
    told = CliRunner().invoke(app, ["aggregate", "-", "--size", "1", "--predictions", "p.json"], input=source)
    assert told.exit_code == 1
    assert "give a file instead of standard input" in told.stderr


def test_a_reader_that_stops_early_is_no_error(write):
    rows = "".join(f"v,q{z},a\n" for z in range(20_000))
    path = write("b.csv", HEADER + rows)
    command = f"{sys.executable} -m epivote aggregate {path} --size 1 --method majority --out - | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == "instance,alternatives,confidence\n"
    assert "cannot write" not in done.stderr
    assert "Traceback" not in done.stderr
