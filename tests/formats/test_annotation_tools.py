"""Exports as Prodigy, Label Studio, Argilla and doccano write them, in every shape that was seen.

The shapes are those of Prodigy files in github.com/explosion/prodigy-recipes and github.com/Ineichen-Group/PsyNamic, of
exports from Label Studio 1.23.2, of records written by argilla 2.8 and datasets 5.2, and of doccano's data_export.
"""

import ast
import json
from pathlib import Path

import polars as pl
import pytest
from trying import refused

from epivote import EM, EpivoteError, Majority, read_export, write_predictions
from epivote.formats import argilla as module
from epivote.formats.prodigy import is_prodigy
from epivote.formats.source import SourceFile

CASES = Path(__file__).parent.parent / "cases" / "tools"
EMPTY = "an annotation without choices counts as an empty ballot; --blank missing counts it as missing"
PATHS = "nested choices are named by their path, its steps joined by '>'"


def ballots_of(name, **options):
    return {key: set(ticks) for key, ticks in read_export(CASES / name, **options).ballots.items()}


# Prodigy


def test_accept_and_reject_of_one_label():
    found = read_export(CASES / "prodigy-binary.jsonl")
    assert found.ballots.alternatives == ("BIRD",)
    assert ballots_of("prodigy-binary.jsonl") == {
        ("set-ann", "31"): {"BIRD"},
        ("set-bo", "31"): set(),
        ("set-ann", "-32"): set(),
        ("set-bo", "33"): {"BIRD"},
    }
    assert found.notes == (
        "an answer 'ignore' counts as a missing ballot",
        "earlier answers of a voter about the same label were replaced by later ones",
        "accept was taken as a tick of the label ('BIRD') and reject as a ballot without it; sets may be empty, so "
        "--size should begin with 0",
    )
    assert ballots_of("prodigy-binary.jsonl", duplicates="first")[("set-bo", "33")] == set()


def test_several_labels_of_one_input_are_one_ballot():
    found = read_export(CASES / "prodigy-labels.jsonl")
    assert ballots_of("prodigy-labels.jsonl") == {("ann", "1"): {"owl"}, ("bo", "1"): set(), ("ann", "2"): {"kite"}}
    assert set(found.ballots.offered("1")) == {"owl", "wren"}
    assert found.ballots.offered("2") == ("kite",)
    assert found.notes[1] == (
        "a voter who was asked about only some labels of an instance was left out on that instance; --alternatives "
        "LABEL reads one label alone"
    )
    assert "a label is offered only on instances where somebody accepted or rejected it" in found.notes
    assert ballots_of("prodigy-labels.jsonl", alternatives=["owl"]) == {
        ("ann", "1"): {"owl"},
        ("bo", "1"): set(),
        ("cy", "1"): {"owl"},
    }
    assert refused(CASES / "prodigy-labels.jsonl", alternatives=["hawk"]).endswith(
        "holds no record about 'hawk'; its labels are 'owl', 'wren', 'kite'"
    )


def test_a_label_can_be_named_where_the_file_does_not(tmp_path):
    answers = [{"_input_hash": 1, "answer": "accept"}, {"_input_hash": 2, "answer": "reject", "spans": []}]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, answers)))
    found = read_export(tmp_path / "p.jsonl", alternatives=["owl"])
    assert dict(found.ballots.items()) == {("p", "1"): {"owl"}, ("p", "2"): frozenset()}
    labelled = {"_input_hash": 3, "label": "owl", "answer": "accept"}
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, [labelled, *answers])))
    assert "line 2: it does not say which label was accepted or rejected" in refused(tmp_path / "p.jsonl")


# Label Studio


def test_choices_of_regions_make_regions_instances():
    found = read_export(CASES / "label-studio-regions.json")
    assert ballots_of("label-studio-regions.json") == {
        ("10", "1, start 0, end 3"): {"large", "nocturnal"},
        ("11", "1, start 0, end 3"): {"nocturnal"},
        ("10", "1, start 8, end 12"): {"small"},
    }
    (note,) = found.notes
    assert note.startswith("the choices for 'traits' belong to regions or items of a task, so each region or item is")
    assert ballots_of("label-studio-items.json") == {
        ("10", "1, item 0"): {"owl"},
        ("10", "1, item 1"): {"wren"},
        ("11", "1, item 0"): {"owl", "wren"},
    }


def test_regions_without_a_position_in_numbers_are_known_by_their_id(tmp_path):
    def choice(voter, *names):
        value = {"points": [[1, 2], [3, 4]], "choices": list(names)}
        return {
            "completed_by": voter,
            "result": [{"id": "p1", "from_name": "q", "to_name": "i", "type": "choices", "value": value}],
        }

    (tmp_path / "l.json").write_text(json.dumps([{"id": 5, "annotations": [choice(1, "a"), choice(2, "b")]}]))
    assert dict(read_export(tmp_path / "l.json").ballots.items()) == {
        ("1", "5, region p1"): {"a"},
        ("2", "5, region p1"): {"b"},
    }
    with pytest.raises(EpivoteError, match="'q' is about regions or items; predictions are written for whole tasks"):
        write_predictions(Majority(1).fit(read_export(tmp_path / "l.json").ballots).estimate_, tmp_path / "l.json", "p")


def test_nested_choices_and_taxonomies_are_named_by_their_path():
    found = read_export(CASES / "label-studio-taxonomy.json")
    assert ballots_of("label-studio-taxonomy.json") == {
        ("10", "1"): {"Bird", "Bird > Owl"},
        ("11", "1"): {"Bird > Wren"},
    }
    assert found.notes == (PATHS,)
    assert ballots_of("label-studio-nested.json") == {
        ("10", "1"): {"Bird > Owl", "Fish"},
        ("11", "1"): {"Bird > Wren"},
    }


def test_predictions_write_paths_back(tmp_path):
    source = CASES / "label-studio-taxonomy.json"
    estimate = EM(3).fit(read_export(source).ballots).estimate_
    write_predictions(estimate, source, tmp_path / "p.json")
    (task,) = json.loads((tmp_path / "p.json").read_text())
    assert task["task"] == task["id"] == 1
    (result,) = task["result"]
    assert (result["type"], result["to_name"]) == ("taxonomy", "text")
    assert sorted(result["value"]["taxonomy"]) == [["Bird"], ["Bird", "Owl"], ["Bird", "Wren"]]
    assert task["predictions"] == [{key: task[key] for key in ("model_version", "result", "score")}]


def test_our_own_predictions_are_no_ballots(tmp_path):
    source = CASES.parent / "label-studio.json"
    fitted = EM((0, 2)).fit(read_export(source).ballots)
    write_predictions(fitted.estimate_, source, tmp_path / "p.json")
    tasks = json.loads(source.read_text())
    for task, ours in zip(tasks, json.loads((tmp_path / "p.json").read_text()), strict=False):
        task["predictions"] = [*task.get("predictions", []), *ours["predictions"]]
    (tmp_path / "again.json").write_text(json.dumps(tasks))
    found = read_export(tmp_path / "again.json")
    assert dict(found.ballots.items()) == dict(read_export(source).ballots.items())
    assert "a prediction that epivote made from these ballots was left out (2 times)" in found.notes


@pytest.mark.parametrize("name", ["label-studio.csv", "label-studio.tsv"])
def test_label_studio_tables(name):
    found = read_export(CASES / name, question="birds")
    assert found.format == "label-studio-min"
    assert ballots_of(name, question="birds") == {
        ("10", "1"): {"robin", "wren"},
        ("bo@example.org", "1"): {"robin"},
        ("10", "2"): set(),
    }
    assert found.notes == (EMPTY, "a task without any annotation was left out")
    assert ballots_of(name, question="kind", blank="missing") == {
        ("10", "1"): {"Bird > Robin", "Fish"},
        ("bo@example.org", "1"): {"Fish"},
    }
    assert "(several do: 'birds', 'kind'); name it with --question" in refused(CASES / name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../label-studio.json", "has no choices for 'brids' (did you mean 'birds'?); its questions are 'birds'"),
        ("../label-studio-min.json", "has no field 'brids' (did you mean 'birds'?); its fields are 'image', 'birds'"),
        ("label-studio.csv", "has no field 'brids' (did you mean 'birds'?); its fields are 'birds', 'kind', 'text'"),
        ("argilla.jsonl", "has no responses to 'brids' (did you mean 'birds'?); its questions are 'birds', 'mood'"),
        ("../argilla-nested.json", "has no responses to 'brids' (did you mean 'birds'?); its questions are 'birds'"),
    ],
)
def test_a_question_that_is_not_there_is_refused_with_those_that_are(name, message):
    assert refused(CASES / name, question="brids").endswith(message)


# Argilla


@pytest.fixture
def argilla(tmp_path):
    """The same records in a file of any kind."""

    def file(name):
        if name != "argilla.parquet":
            return CASES / name
        pl.read_ndjson(CASES / "argilla.jsonl").write_parquet(tmp_path / name)
        return tmp_path / name

    return file


@pytest.mark.parametrize(
    "name", ["argilla.jsonl", "argilla.parquet", "argilla-datasets.csv", "argilla-pandas.csv", "argilla-1.jsonl"]
)
def test_argilla_records_in_every_kind_of_file(argilla, name):
    found = read_export(argilla(name), question="birds")
    assert found.format == "argilla"
    assert dict(found.ballots.items()) == {
        ("6d", "r1"): {"robin", "wren"},
        ("9a", "r1"): {"robin"},
        ("llm-1", "r1"): {"robin"},
        ("6d", "r2"): {"wren"},
    }
    assert "a response that is draft counts as a missing ballot" in found.notes
    assert "a response that is discarded counts as a missing ballot" in found.notes
    if name != "argilla-1.jsonl":
        assert any("--blank empty counts it" in note for note in found.notes)
        assert read_export(argilla(name), question="birds", blank="empty").ballots.ballot("5b", "r1") == frozenset()
        assert read_export(argilla(name), question="mood").ballots.ballot("5b", "r1") == {"calm"}


def test_lists_printed_by_numpy_and_python_are_read_back():
    from epivote.formats.argilla import printed_list

    for text, value in (
        ("[]", []),
        ("[array([], dtype=object) None]", [[], None]),
        ("['it\\'s' \"it's\"\n 'b']", ["it's", "it's", "b"]),
        ('["\\u00e9", null, 1.5, -2]', ["é", None, 1.5, -2]),
        ("[array(['a'], dtype='<U1'), array(['b'])]", [["a"], ["b"]]),
        ("['a' ... 'b']", None),
        ("['a'", None),
        ("['a'] b", None),
        ("['a'] ['b']", None),
        ("[01]", None),
        ("[__import__('os')]", None),
    ):
        assert printed_list(text) == value


# doccano


@pytest.mark.parametrize("name", ["doccano-csv", "doccano-json"])
def test_doccano_folders_of_other_files(name):
    found = read_export(CASES / name)
    assert found.format == "doccano"
    assert ballots_of(name) == {("ann", "1"): {"robin", "wren"}, ("ann", "2"): {"owl"}, ("bo", "2"): {"owl"}}
    assert ballots_of(name, blank="empty")[("bo", "1")] == set()


def test_doccano_folder_with_a_shared_file():
    found = read_export(CASES / "doccano-shared")
    assert found.ballots.voters == ("admin", "ann")
    assert found.notes[0] == "all.jsonl does not say who labelled what and was left out"


def test_intents_are_labels_of_whole_examples(tmp_path):
    (tmp_path / "ann.jsonl").write_text('{"id": 1, "text": "t", "cats": ["a"], "label": [[0, 1, "X"]]}\n')
    assert dict(read_export(tmp_path).ballots.items()) == {("ann", "1"): {"a"}}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"_input_hash": 1}, True),
        ({"_task_hash": 1, "accept": "cat"}, True),
        ({"answer": "accept"}, True),
        ({"answer": "reject"}, True),
        ({"answer": "ignore"}, True),
        ({"answer": "cat"}, False),
        ({"accept": ["cat"]}, True),
        ({"accept": []}, True),
        ({"accept": "cat"}, False),
        ({"answer": "accept", "accept": ["cat"]}, True),
        ({"answer": "accept", "accept": "cat"}, False),
        ({}, False),
    ],
)
def test_a_record_is_known_as_prodigys_by_what_prodigy_writes(record, expected):
    assert is_prodigy(record) == expected


@pytest.mark.parametrize(
    "printed",
    ["[]", "[None]", "['a', None, 2]", "[['a', None], [None, 3], []]", "[[[None], 'b'], None]", "[None, [None]]"],
)
def test_printed_lists_within_lists(printed):
    assert module.printed_list(printed) == ast.literal_eval(printed)
    assert module.printed_list(printed[:-1]) is None
    assert module.printed_list(f"{printed}]") is None


@pytest.mark.parametrize(
    ("answered", "there"),
    [([], "it has no responses at all"), (["colour", "animal"], "its questions are 'animal', 'colour'")],
)
def test_a_question_that_nobody_answered_is_refused_with_those_that_are_there(monkeypatch, answered, there):
    monkeypatch.setattr(module, "_names", lambda row: row)
    with pytest.raises(EpivoteError, match=f"^x.json has no responses to 'size'; {there}$"):
        module._question([answered], SourceFile("x.json", Path("x.json"), ".json"), "size")
