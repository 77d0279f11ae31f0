"""Exports of annotation tools: every case file is read to the ballots it holds, and damaged ones are refused."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from epivote import EpivoteError, FileError, InputError, read_export
from epivote.cli import app

CASES = Path(__file__).parent.parent / "cases"


def ballots_of(name, **options):
    return {key: set(ticks) for key, ticks in read_export(CASES / name, **options).ballots.items()}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("label-studio.json", "label-studio"),
        ("label-studio-min.json", "label-studio-min"),
        ("prodigy.jsonl", "prodigy"),
        ("argilla-nested.json", "argilla"),
        ("argilla-flat.json", "argilla"),
    ],
)
def test_formats_are_told_apart(name, kind):
    assert read_export(CASES / name).format == kind


def test_label_studio_keeps_the_three_states_and_gold_apart():
    found = read_export(CASES / "label-studio.json")
    assert ballots_of("label-studio.json") == {
        ("10", "1"): {"robin"},
        ("bo@example.org", "1"): set(),
        ("m1", "1"): {"wren"},
        ("10", "2"): {"sparrow"},
    }
    assert dict(found.gold) == {"1": {"robin"}}
    assert found.notes == (
        "an annotation without choices counts as an empty ballot; --blank missing counts it as missing",
        "a cancelled annotation counts as a missing ballot",
        "earlier ballots of a voter on the same instance were replaced by later ones",
        "a prediction counts as the ballot of its model version",
    )


def test_label_studio_min_reads_objects_bare_texts_and_nothing():
    assert ballots_of("label-studio-min.json") == {
        ("10", "1"): {"robin", "wren"},
        ("11", "1"): {"robin"},
        ("12", "1"): set(),
    }
    assert read_export(CASES / "label-studio-min.json").notes == (
        "an annotation without choices counts as an empty ballot; --blank missing counts it as missing",
        "a task without any annotation was left out",
    )
    assert len(ballots_of("label-studio-min.json", blank="missing")) == 2


def test_prodigy_keeps_the_options_of_each_item():
    found = read_export(CASES / "prodigy.jsonl")
    assert ballots_of("prodigy.jsonl") == {
        ("set-ann", "123"): {"robin"},
        ("set-bo", "123"): set(),
        ("set-ann", "124"): {"owl"},
    }
    assert found.ballots.offered("124") == ("wren", "owl", "kite")
    assert found.notes == ("an answer 'ignore' counts as a missing ballot",)


@pytest.mark.parametrize("name", ["argilla-nested.json", "argilla-flat.json"])
def test_argilla_nested_and_flat_hold_the_same(name):
    assert ballots_of(name) == {
        ("6d", "r1"): {"robin", "wren"},
        ("9a", "r1"): set(),
        ("llm-1", "r1"): {"robin"},
        ("6d", "r2"): {"wren"},
    }
    notes = read_export(CASES / name).notes
    assert "a suggestion counts as the ballot of its agent" in notes
    assert any("do not say which responses are drafts" in note for note in notes) == (name == "argilla-nested.json")


def test_alternatives_can_be_stated():
    found = read_export(CASES / "label-studio.json", alternatives=["wren", "robin", "sparrow", "owl"])
    assert found.ballots.alternatives == ("wren", "robin", "sparrow", "owl")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "[", "line 1: not JSON"),
        ("x.json", '[{"a": 1}]', "is not a known export: its first record has 'a'; looked for"),
        (
            "x.json",
            '[{"annotations": []}]',
            "has no choices or taxonomy, which is all that can be read; it has no annotations",
        ),
        (
            "x.json",
            '[{"annotations": [{"result": [{"type": "choices", "from_name": "q"}]}]}]',
            "does not say who made it",
        ),
        ("x.json", '[{"annotator": 3, "id": 1, "q": "a"}]', "unclear which field holds the choices"),
        ("x.json", '[{"responses": {"q": [{"value": ["a"]}]}}]', r"is not a argilla file that can be read \(KeyError"),
        ("x.jsonl", "{}\n", "is not a known export: it holds no list of records"),
        ("x.jsonl", '{"_input_hash": 1}\n[1]\n', "line 2: .* is not an object"),
        (
            "x.jsonl",
            '{"_input_hash": 1, "_annotator_id": "a", "accept": ["b"]}\n{"_input_hash": 1, "_annotator_id": "a"}\n',
            "line 2: voter 'a' already has a ballot on instance '1' .line 1.; remove one, or keep",
        ),
    ],
)
def test_files_that_cannot_be_understood_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_export(tmp_path / name)


def test_files_that_are_not_there_and_formats_that_do_not_exist():
    with pytest.raises(FileError, match=r"nowhere\.json does not exist"):
        read_export("nowhere.json")
    with pytest.raises(FileError, match="'excel' is not a format; it is one of 'ballots', 'ticks'"):
        read_export(CASES / "prodigy.jsonl", format="excel")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "annotations",
                    "result",
                    "choices",
                    "value",
                    "type",
                    "from_name",
                    "completed_by",
                    "annotator",
                    "responses",
                    "q",
                    "user_id",
                    "accept",
                    "answer",
                    "options",
                    "_input_hash",
                    "q.responses",
                    "q.responses.users",
                    "predictions",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, st.sampled_from(["label-studio", "label-studio-min", "prodigy", "argilla"]), st.booleans())
def test_no_file_makes_a_reader_raise_anything_but_our_errors(tmp_path_factory, value, kind, lines):
    path = tmp_path_factory.mktemp("fuzz") / "x.json"
    path.write_text("\n".join(map(json.dumps, value)) if lines and isinstance(value, list) else json.dumps(value))
    with contextlib.suppress(EpivoteError):
        read_export(path, format=kind, question="q")


def test_the_command_reads_exports_and_uses_their_gold():
    result = CliRunner().invoke(app, ["aggregate", str(CASES / "label-studio.json"), "--size", "1"])
    assert result.exit_code == 0, result.stderr
    opening = "Found 1 set of size 1, with a confidence of 95 % or more. 1 gold set is kept as given."
    assert " ".join(result.stdout.split()).startswith(opening)
    assert "Note: a cancelled annotation counts as a missing ballot." in result.stdout
