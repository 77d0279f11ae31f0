"""What is written, byte for byte, and what comes back."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from epivote import (
    EM,
    Ballots,
    EpivoteError,
    Majority,
    Parameters,
    Truths,
    read_export,
    read_menu,
    read_truths,
    write_ballots,
    write_estimate,
    write_menu,
    write_predictions,
    write_truths,
)
from epivote.formats import write as writing
from epivote.formats.write import write_rates

VOTES = {("bo", "q2"): {"wren", "owl"}, ("ann", "q1"): set(), ("bo", "q1"): {"é, x"}, ("cy", "q2"): {"owl", "wren"}}
BALLOTS = Ballots.from_mapping(VOTES, alternatives=["wren", "é, x", "owl", "never"])
ONE = Ballots.from_mapping({(v, "q/1"): t for v, t in (("a", {"x"}), ("b", {"z"}), ("c", {"z"}), ("d", set()))},
                           alternatives=["x", "y", "z"])  # fmt: skip
CANONICAL = 'voter,instance,alternatives\nbo,q2,wren|owl\ncy,q2,wren|owl\nbo,q1,"é, x"\nann,q1,\n'


def text_of(path):
    return path.read_bytes().decode()


def refused(call, *arguments, **options):
    with pytest.raises(EpivoteError) as told:
        call(*arguments, **options)
    return str(told.value)


def rows(text):
    head, *rest = text.splitlines()
    return [head, *sorted(rest)]


def test_canonical_tables(tmp_path):
    for name, mark in (("b.csv", ","), ("b.tsv", "\t")):
        assert write_ballots(BALLOTS, tmp_path / name) == [tmp_path / name]
        expected = CANONICAL if mark == "," else CANONICAL.replace(",", "\t").replace('"é\t x"', "é, x")
        assert rows(text_of(tmp_path / name)) == rows(expected)
    for name in ("b.jsonl", "b.ndjson"):
        write_ballots(BALLOTS, str(tmp_path / name))
        assert sorted(map(json.loads, text_of(tmp_path / name).splitlines()), key=str) == sorted(
            [
                {"voter": "bo", "instance": "q2", "alternatives": ["wren", "owl"]},
                {"voter": "cy", "instance": "q2", "alternatives": ["wren", "owl"]},
                {"voter": "bo", "instance": "q1", "alternatives": ["é, x"]},
                {"voter": "ann", "instance": "q1", "alternatives": []},
            ],
            key=str,
        )
    write_ballots(BALLOTS, tmp_path / "b.parquet")
    frame = pl.read_parquet(tmp_path / "b.parquet")
    assert frame.schema == {"voter": pl.String, "instance": pl.String, "alternatives": pl.List(pl.String)}
    for name in ("b.csv", "b.tsv", "b.jsonl", "b.ndjson", "b.parquet"):
        assert dict(read_export(tmp_path / name).ballots.items()) == VOTES


def test_crowd_kits_lists(tmp_path):
    write_ballots(BALLOTS, tmp_path / "c.csv", format="crowd-kit")
    assert rows(text_of(tmp_path / "c.csv")) == rows(
        'task,worker,label\nq2,bo,"[""wren"", ""owl""]"\nq2,cy,"[""wren"", ""owl""]"\nq1,bo,"[""é, x""]"\nq1,ann,[]\n'
    )


def test_an_abcvoting_file(tmp_path):
    write_ballots(ONE, tmp_path / "e.abc.yaml")
    assert text_of(tmp_path / "e.abc.yaml") == (
        '# candidate 0: "x"\n# candidate 1: "y"\n# candidate 2: "z"\n'
        '# voter 0: "a"\n# voter 1: "b"\n# voter 2: "c"\n# voter 3: "d"\n'
        '# instance: "q/1"\ndescription: "q/1"\nprofile: [[0], [2], [2], []]\nnum_cand: 3\n'
    )
    found = read_export(tmp_path / "e.abc.yaml")
    assert dict(found.ballots.items()) == dict(ONE.items())
    assert found.ballots.alternatives == ("x", "y", "z")


def test_a_preflib_file(tmp_path):
    write_ballots(ONE, tmp_path / "e.cat")
    assert text_of(tmp_path / "e.cat") == (
        "# FILE NAME: q/1.cat\n# TITLE: q/1\n# DESCRIPTION: \n# DATA TYPE: cat\n# MODIFICATION TYPE: original\n"
        "# RELATES TO: \n# RELATED FILES: \n# PUBLICATION DATE: \n# MODIFICATION DATE: \n"
        "# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 4\n# NUMBER UNIQUE PREFERENCES: 3\n# NUMBER CATEGORIES: 2\n"
        "# CATEGORY NAME 1: Approved\n# CATEGORY NAME 2: Not approved\n"
        "# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n# ALTERNATIVE NAME 3: z\n"
        "2: 3, {1, 2}\n1: 1, {2, 3}\n1: {}, {1, 2, 3}\n"
    )


def test_election_files_number_what_was_offered(tmp_path):
    menu = {"p": ["c", "a"], "q": ["b", "a", "c"]}
    votes = {("v", "p"): {"c"}, ("w", "p"): {"a", "c"}, ("v", "q"): {"c", "a"}}
    ballots = Ballots.from_mapping(votes, alternatives=["a", "b", "c"], menu=menu)
    written = write_ballots(ballots, tmp_path / "d", format="preflib")
    assert [path.name for path in written] == ["p.cat", "q.cat"]
    assert text_of(written[0]).splitlines()[-4:] == [
        "# ALTERNATIVE NAME 1: a",
        "# ALTERNATIVE NAME 2: c",
        "1: 2, 1",
        "1: {1, 2}, {}",
    ]
    assert text_of(written[1]).endswith("\n1: {1, 3}, 2\n")
    written = write_ballots(ballots, tmp_path / "e", format="abcvoting")
    assert [path.name for path in written] == ["p.abc.yaml", "q.abc.yaml"]
    assert "\nprofile: [[1], [0, 1]]\nnum_cand: 2\n" in text_of(written[0])


def test_names_of_files_are_made_of_the_names_of_instances(tmp_path):
    votes = {("v", name): {"a"} for name in ("a b.c_d-e", "ä/1", "2:3*?")}
    written = write_ballots(Ballots.from_mapping(votes), tmp_path / "d", format="abcvoting")
    assert [path.name for path in written] == ["a b.c_d-e.abc.yaml", "ä_1.abc.yaml", "2_3__.abc.yaml"]
    assert dict(read_export(tmp_path / "d").ballots.items()) == votes
    votes = {("v", "q?1"): {"a"}, ("v", "q*1"): {"a"}}
    message = refused(write_ballots, Ballots.from_mapping(votes), tmp_path / "e", format="abcvoting")
    assert message == "two instances would both be written to q_1.abc.yaml; rename one of 'q*1'"


@pytest.mark.parametrize("name", [" x", "x ", "x\ny", "x\u2028y", "x\r"])
def test_names_that_do_not_fit_on_a_preflib_line(tmp_path, name):
    for votes in ({("v", "q"): {name}}, {("v", name): {"x"}}):
        message = refused(write_ballots, Ballots.from_mapping(votes), tmp_path / "e.cat")
        assert message == f"{name!r} has line breaks or spaces around it, which a PrefLib file cannot hold; rename it"
    write_ballots(Ballots.from_mapping({(name, "q"): {"x y"}}), tmp_path / "e.cat")


def test_what_can_be_written_is_told_by_name_or_said(tmp_path):
    two = Ballots.from_mapping({("v", "p"): {"a"}, ("v", "q"): {"a"}})
    for name in ("b.txt", "b.json", "b", "b.csv.gz", "b.CSV"):
        assert refused(write_ballots, two, tmp_path / name) == (
            f"{name}: ballots are written to names that end in .csv, .tsv, .parquet, .jsonl, .ndjson"
        )
    for name in ("b.tsv", "b.jsonl"):
        assert refused(write_ballots, two, tmp_path / name, format="crowd-kit") == (
            f"{name}: crowd-kit are written to names that end in .csv"
        )
    for name, kind in (("b.cat", "preflib"), ("b.abc.yaml", "abcvoting")):
        message = f"{name} holds one instance, but there are 2; name a folder for one file each"
        assert refused(write_ballots, two, tmp_path / name) == message
        assert refused(write_ballots, two, tmp_path / name, format=kind) == message
    assert refused(write_ballots, two, tmp_path / "b.csv", format="excel") == (
        "'excel' cannot be written; choose one of 'ballots', 'crowd-kit', 'abcvoting', 'preflib'"
    )
    assert list(tmp_path.iterdir()) == []
    one = two.select(instances=["p"])
    write_ballots(one, tmp_path / "d", format="preflib")
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["p.cat"]


def test_bars_in_names_are_refused_where_they_separate(tmp_path):
    bars = Ballots.from_mapping({("v", "q"): {"a", "b|c"}})
    said = "alternative 'b|c' contains '|', which separates alternatives in the file; rename it, or write .parquet or .jsonl"
    for name in ("b.csv", "b.tsv"):
        assert refused(write_ballots, bars, tmp_path / name) == said
    assert refused(write_truths, Truths.from_mapping({"q": {"b|c"}}), tmp_path / "t.csv") == said
    assert refused(write_menu, bars, tmp_path / "m.csv") == said
    for name in ("b.jsonl", "b.parquet", "b.cat", "b.abc.yaml"):
        write_ballots(bars, tmp_path / name)


def test_sets_menus_and_rates(tmp_path):
    truths = Truths.from_mapping({"q2": {"b", "a"}, "q,1": set()}, alternatives=["b", "a"])
    write_truths(truths, tmp_path / "t.csv")
    assert text_of(tmp_path / "t.csv") == 'instance,alternatives\nq2,b|a\n"q,1",\n'
    assert dict(read_truths(tmp_path / "t.csv")) == dict(truths)
    votes = {("v", "p"): {"a"}, ("v", "q"): set(), ("w", "r"): {"c"}}
    menu = {"p": ["a", "c"], "q": [], "r": ["c", "b"]}
    write_menu(Ballots.from_mapping(votes, alternatives=["c", "a", "b"], menu=menu), tmp_path / "m.csv")
    assert text_of(tmp_path / "m.csv") == "instance,alternatives\np,c|a\nq,\nr,c|b\n"
    write_menu(Ballots.from_mapping(votes, alternatives=["c", "a", "b"]), tmp_path / "m.csv")
    assert text_of(tmp_path / "m.csv") == "instance,alternatives\np,c|a|b\nq,c|a|b\nr,c|a|b\n"
    assert read_menu(tmp_path / "m.csv") == {name: ["c", "a", "b"] for name in "pqr"}
    rates = Parameters(np.array([0.75, 0.1]), np.array([0.25, 1 / 3]), np.array([0.5, 0.5, 0.5]))
    write_rates(("v", "w"), rates, tmp_path / "r.csv")
    assert text_of(tmp_path / "r.csv") == "voter,hit_rate,false_alarm_rate\nv,0.75,0.25\nw,0.1,0.3333333333333333\n"


@pytest.fixture(scope="module")
def estimates():
    votes = {(v, z): {"a", "b"} if v != "cy" else {"c"} for v in ("ann", "bo", "cy") for z in ("p", "q", "r")}
    menu = {"p": ["a", "b", "c"], "q": ["c", "b", "a", "d"], "r": ["a", "b", "c"]}
    plain = Ballots.from_mapping(votes, alternatives=["c", "b", "a"])
    return [EM(2).fit(ballots).estimate_ for ballots in (plain, Ballots.from_mapping(votes, menu=menu))]


@pytest.mark.parametrize("block", [1, 2, 3, 1 << 20])
def test_estimates_are_written_as_they_are_whatever_the_blocks(tmp_path, monkeypatch, estimates, block):
    monkeypatch.setattr(writing, "ROWS_PER_BLOCK", block)
    for estimate in estimates:
        posterior, ballots = estimate.posterior, estimate.ballots
        shown = []
        files = write_estimate(estimate, tmp_path / "out", watch=shown.append)
        assert [path.name for path in files] == ["truth.csv", "voters.csv", "alternatives.csv", "inclusion.csv"]
        truth = [f"{z},{'|'.join(estimate.truths.listed(z))},{float(p)!r}"
                 for z, p in zip(ballots.instances, posterior.set_probabilities, strict=True)]  # fmt: skip
        assert text_of(files[0]).splitlines() == ["instance,alternatives,confidence", *truth]
        pairs = [(z, name) for z in ballots.instances for name in ballots.offered(z)]
        included = [f"{z},{name},{float(p)!r}" for (z, name), p in zip(pairs, posterior.inclusion, strict=True)]
        found = text_of(files[3]).splitlines()
        assert found[0] == "instance,alternative,probability"
        assert [line.split(",")[:2] for line in found[1:]] == [list(pair) for pair in pairs]
        assert [float(line.split(",")[2]) for line in found[1:]] == list(posterior.inclusion)
        assert len(included) == len(found) - 1
        assert pl.read_csv(files[1]).columns == ["voter", "hit_rate", "false_alarm_rate", "weight", "ballots"]
        assert pl.read_csv(files[2])["alternative"].to_list() == list(ballots.alternatives)
        assert len(shown) == 1, "every part is shown once"


def test_more_names_than_16_bits_can_number(tmp_path):
    count = 66_000
    pairs = [[f"a{n // 300}", f"b{n % 300}"] for n in range(count)]
    names = {"voter": [f"v{n}" for n in range(count)], "instance": [f"q{n}" for n in range(count)]}
    first, second = np.arange(count) // 300, 220 + np.arange(count) % 300
    ballots = Ballots(
        voters=tuple(names["voter"]),
        instances=tuple(names["instance"]),
        alternatives=(*[f"a{n}" for n in range(220)], *[f"b{n}" for n in range(300)]),
        ballot_start=np.arange(count + 1),
        ballot_voter=np.arange(count, dtype=np.int32),
        approval_start=2 * np.arange(count + 1),
        approved=np.column_stack([first, second]).ravel().astype(np.uint16),
        menu=None,
    )
    write_ballots(ballots, tmp_path / "b.parquet")
    found = pl.read_parquet(tmp_path / "b.parquet")
    assert found["voter"].to_list() == names["voter"]
    assert found["instance"].to_list() == names["instance"]
    assert found["alternatives"].to_list() == pairs
    wide = Ballots.from_mapping({("v", "q"): {"a0"}}, alternatives=[f"a{n}" for n in range(count)])
    long = Ballots.from_frame(pl.DataFrame({"voter": "v", "instance": names["instance"], "alternatives": "a"}))
    for ballots, column, expected in (
        (wide, "alternative", list(wide.alternatives)),
        (long, "instance", names["instance"]),
    ):
        estimate = SimpleNamespace(ballots=ballots, posterior=SimpleNamespace(inclusion=np.zeros(count)))
        assert pl.concat(writing.inclusion_blocks(estimate))[column].to_list() == expected


def test_sets_without_confidence(tmp_path):
    votes = {("v", "q"): {"a"}, ("w", "q"): {"a"}, ("v", "p"): {"b"}}
    write_estimate(Majority(1).fit(Ballots.from_mapping(votes)).estimate_, tmp_path)
    assert text_of(tmp_path / "truth.csv") == "instance,alternatives,confidence\nq,a,\np,b,\n"
    assert text_of(tmp_path / "inclusion.csv") == "instance,alternative,probability\n"


def exported(**fields):
    def region(name, about):
        return {"from_name": name, "to_name": about, "type": "choices", "value": {"choices": ["a"]}}

    answers = [{"completed_by": 1, "result": [region("p", "text"), region("q", None), region("q", "img")]}]
    return [
        {"data": {"é": 1}, "annotations": [{"completed_by": 2}]},
        {"id": 7, "data": {"x": 2}, "meta": 1, "annotations": answers},
        {"id": 8, "data": {}, "annotations": []},
        {"id": 9, "annotations": [{"completed_by": 1, "result": [region("q", "other")]}]},
        {"id": 10, "data": {}, "annotations": []},
    ]


def test_predictions_byte_for_byte(tmp_path):
    (tmp_path / "l.json").write_text(json.dumps(exported()))
    ballots = read_export(tmp_path / "l.json", question="q").ballots
    estimate = EM(1).fit(Ballots.from_mapping(dict(ballots.items()), alternatives=["b", "a"])).estimate_
    write_predictions(estimate, tmp_path / "l.json", tmp_path / "p.json", question="q")
    written = json.loads(text_of(tmp_path / "p.json"))
    model = f"epivote {version('epivote')}"

    def predicted(instance):
        value = {"choices": estimate.truths.listed(instance)}
        region = {"id": "epivote", "from_name": "q", "to_name": "img", "type": "choices", "value": value}
        z = estimate.truths.instance_index[instance]
        return {"model_version": model, "result": [region], "score": estimate.posterior.set_probabilities[z]}

    def both(instance):
        """Once as a task of a new project, once for the task of the same."""
        at = {} if instance == "1" else {"task": int(instance)}
        return {"predictions": [predicted(instance)], **at, **predicted(instance)}

    assert written == [
        {"data": {"é": 1}, **both("1")},
        {"id": 7, "data": {"x": 2}, **both("7")},
        {"id": 9, **both("9")},
    ]
    assert text_of(tmp_path / "p.json") == json.dumps(written, ensure_ascii=False, indent=1)


def test_predictions_need_an_answer_that_says_what_it_is_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("l.json").write_text(json.dumps(exported()))
    estimate = Majority(1).fit(read_export("l.json", question="q").ballots).estimate_
    assert refused(write_predictions, estimate, "l.json", "p.json", question="z") == (
        "l.json has no choices for 'z'; its questions are 'p', 'q'"
    )
    assert "choose the question to read with --question; its questions are 'p', 'q'" in refused(
        write_predictions, estimate, "l.json", "p.json"
    )
    old = [{"id": 7, "completions": exported()[1]["annotations"]}]
    Path("l.json").write_text(json.dumps(old))
    write_predictions(estimate, "l.json", "p.json", question="p")
    (task,) = json.loads(Path("p.json").read_text())
    assert task["predictions"][0]["result"][0]["to_name"] == "text"


ENCODED = """
import os, sys, warnings
from pathlib import Path
from epivote import Ballots, EM, read_export, write_ballots, write_predictions
import yaml
warnings.simplefilter("error", EncodingWarning)
folder = Path(sys.argv[1])
ballots = Ballots.from_mapping({("v", "1"): {"é"}, ("w", "1"): {"é"}})
for name in ("b.cat", "b.abc.yaml", "b.csv"):
    write_ballots(ballots, folder / name)
    assert read_export(folder / name).ballots.alternatives == ("é",)
(folder / "u.csv").write_bytes((folder / "b.csv").read_text(encoding="utf-8").encode("utf-16"))
assert read_export(folder / "u.csv").ballots.alternatives == ("é",)
(folder / "t.csv").write_text("voter,instance,alternatives\\nv,q\\n", encoding="utf-8")
try:
    read_export(folder / "t.csv")
except Exception as error:
    assert "line 2: 2 cells" in str(error), error
region = '{"from_name": "q", "to_name": "é", "type": "choices", "value": {"choices": ["é"]}}'
text = '[{"id": 1, "annotations": [{"completed_by": 1, "result": [' + region + ']}]}]'
(folder / "l.json").write_text(text, encoding="utf-8")
write_predictions(EM(1).fit(ballots).estimate_, folder / "l.json", folder / "p.json")
"""


def test_files_are_utf_8_whatever_the_language_of_the_machine(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-X", "warn_default_encoding", "-c", ENCODED, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
