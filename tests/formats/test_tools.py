"""Exports of annotation tools in detail: who voted, which of two ballots counts, what is no ballot, what is offered."""

import json

import pytest
from trying import refused

from epivote import read_export

EARLY, LATE = "2026-01-02T10:00:00Z", "2026-01-03T09:00:00Z"
REPLACED = "earlier ballots of a voter on the same instance were replaced by later ones"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, content):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        if name.endswith(".jsonl") and not isinstance(content, str):
            text = "".join(json.dumps(record) + "\n" for record in content)
        (tmp_path / name).write_text(text)
        return name

    return to_file


def ballots_of(path, **options):
    return {key: set(ticks) for key, ticks in read_export(path, **options).ballots.items()}


def region(*choices, question="q", kind="choices"):
    return {"from_name": question, "to_name": "img", "type": kind, "value": {"choices": list(choices)}}


def annotation(who, *choices, **fields):
    return {"completed_by": who, "result": [region(*choices)], **fields}


def task(*annotations, **fields):
    return {"annotations": list(annotations), **fields}


# Which of two ballots counts


def twice(kind, stamps, ticks):
    """Two ballots of one voter on one instance, in the order given."""
    if kind == "label-studio":
        return "l.json", [task(*[annotation(1, t, updated_at=s) for s, t in zip(stamps, ticks, strict=True)], id=5)]
    if kind == "label-studio-min":
        rows = [
            {"id": 5, "annotator": 1, "annotation_id": n, "q": {"choices": [t]}, "updated_at": s}
            for n, (s, t) in enumerate(zip(stamps, ticks, strict=True))
        ]
        return "m.json", rows
    rows = [
        {"_input_hash": 5, "_annotator_id": "1", "accept": [t], "_timestamp": s}
        for s, t in zip(stamps, ticks, strict=True)
    ]
    return "p.jsonl", rows


@pytest.mark.parametrize("kind", ["label-studio", "label-studio-min", "prodigy"])
@pytest.mark.parametrize(("early", "late"), [(EARLY, LATE), (1700000000, 1700000001)])
def test_the_later_of_two_ballots_counts_wherever_it_stands(write, kind, early, late):
    for stamps, ticks in (((early, late), "ab"), ((late, early), "ba")):
        found = read_export(write(*twice(kind, stamps, ticks)))
        assert dict(found.ballots.items()) == {("1", "5"): {"b"}}
        assert found.notes == (REPLACED,)
    found = read_export(write(*twice(kind, (early, late, early, late), "abcd")))
    assert dict(found.ballots.items()) == {("1", "5"): {"d"}}, "of two at the same time the one further down"
    assert found.notes == (f"{REPLACED} (3 times)",)


@pytest.mark.parametrize("kind", ["label-studio", "label-studio-min", "prodigy"])
def test_the_user_decides_before_the_time_does(write, kind):
    for stamps in ((EARLY, LATE), (LATE, EARLY), (None, None), (EARLY, None)):
        path = write(*twice(kind, stamps, "ab"))
        for duplicates, ticks in (("first", {"a"}), ("last", {"b"})):
            found = read_export(path, duplicates=duplicates)
            assert dict(found.ballots.items()) == {("1", "5"): ticks}
            assert found.notes == ()


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("label-studio", "task 5, annotation ?", "task 5, annotation ?"),
        ("label-studio-min", "record 1", "record 2"),
        ("prodigy", "line 1", "line 2"),
    ],
)
@pytest.mark.parametrize("stamps", [(None, None), (EARLY, None), (None, LATE)])
def test_two_ballots_without_both_times_are_refused(write, kind, first, second, stamps):
    name, content = twice(kind, stamps, "ab")
    assert refused(write(name, content)) == (
        f"{name}, {second}: voter '1' already has a ballot on instance '5' ({first}); "
        "remove one, or keep one with --duplicates first or last"
    )


def test_the_place_of_the_ballot_that_counts_is_named(write):
    found = [annotation(1, "a", id=7, updated_at=EARLY), annotation(1, "b", id=8, updated_at=LATE)]
    path = write("l.json", [task(*found, annotation(1, "c", id=9), id=5)])
    assert "task 5, annotation 9: voter '1' already has a ballot on instance '5' (task 5, annotation 8)" in refused(
        path
    )
    path = write("l.json", [task(*found[::-1], annotation(1, "c", id=9), id=5)])
    assert "(task 5, annotation 8)" in refused(path)


def test_the_time_of_a_change_goes_before_that_of_creation(write):
    early = {"created_at": EARLY}
    changed = {"created_at": "2026-01-01T00:00:00Z", "updated_at": LATE}
    path = write("l.json", [task(annotation(1, "a", **changed), annotation(1, "b", **early))])
    assert ballots_of(path) == {("1", "1"): {"a"}}
    rows = [
        {"annotator": 1, "annotation_id": 1, "q": {"choices": ["a"]}, **changed, "id": 3},
        {"annotator": 1, "annotation_id": 2, "q": {"choices": ["b"]}, **early, "id": 3},
    ]
    assert ballots_of(write("m.json", rows)) == {("1", "3"): {"a"}}


@pytest.mark.parametrize(
    ("name", "text", "instance"),
    [
        ("m.csv", "HITId,WorkerId,Answer.q\nh,w,a\nh,w,b\n", "h"),
        ("t.tsv", "ASSIGNMENT:task_id\tASSIGNMENT:worker_id\tOUTPUT:q\nh\tw\ta\nh\tw\tb\n", "h"),
        ("f.csv", "Username,Timestamp,h\nw,1,a\nw,2,b\n", "h"),
        ("a.json", [{"id": "h", "responses": {"q": [{"user_id": "w", "value": [tick]} for tick in "ab"]}}], "h"),
        ("b.pb", "META\nkey;value\nPROJECTS\nproject_id\na\nb\nVOTES\nvoter_id;vote\nw;a\nw;b\n", "b"),
        ("x.txt", "# h\nw 1 0\nw 0 1\n", "h"),
    ],
)
def test_elsewhere_the_user_must_say_which_of_two_ballots_counts(write, name, text, instance):
    path = write(name, text)
    assert f"voter 'w' already has a ballot on instance '{instance}'" in refused(path)
    names = {"a1": "a", "a2": "b"}
    for duplicates, tick in (("first", "a"), ("last", "b")):
        ((key, ticks),) = read_export(path, duplicates=duplicates).ballots.items()
        assert (key, {names.get(each, each) for each in ticks}) == (("w", instance), {tick})


# Label Studio


def test_who_annotated_is_known_by_address_wherever_it_is_given(write):
    people = {"id": 1, "email": "a@x.org"}, {"id": 2, "email": ""}, {"email": "c@x.org"}, {"id": 4}
    tasks = [task(annotation(1, "a"), annotation(2, "a")), task(*[annotation(who, "b") for who in people])]
    assert ballots_of(write("l.json", tasks)) == {
        ("a@x.org", "1"): {"a"},
        ("2", "1"): {"a"},
        ("a@x.org", "2"): {"b"},
        ("2", "2"): {"b"},
        ("c@x.org", "2"): {"b"},
        ("4", "2"): {"b"},
    }
    rows = [{"annotator": who, "annotation_id": 1, "q": {"choices": ["a"]}} for who in (7, *people)]
    assert read_export(write("m.json", rows)).ballots.voters == ("7", "a@x.org", "2", "c@x.org", "4")


def test_old_exports_call_annotations_completions(write):
    tasks = [{"id": 8, "completions": [annotation({"id": 1, "email": "a@x.org"}, "a"), annotation(1, "b")]}]
    found = read_export(write("l.json", [*tasks, {"id": 9, "completions": [annotation(1, "b")]}]), duplicates="last")
    assert found.format == "label-studio"
    assert dict(found.ballots.items()) == {("a@x.org", "8"): {"b"}, ("a@x.org", "9"): {"b"}}


def test_only_regions_that_answer_the_question_count(write):
    result = [region("a"), region("b"), region("c", question="other"), region("d", kind="labels"), region("a")]
    tasks = [
        task({"completed_by": 1, "result": result}, {"completed_by": 2, "result": None}, {"completed_by": 3}),
        task({"completed_by": 1, "result": [region("d", kind="labels"), {"type": "choices", "from_name": "q"}]}),
    ]
    path = write("l.json", tasks)
    assert ballots_of(path, question="q") == {
        ("1", "1"): {"a", "b"},
        ("2", "1"): set(),
        ("3", "1"): set(),
        ("1", "2"): set(),
    }
    assert ballots_of(path, question="other")[("1", "1")] == {"c"}
    assert refused(path) == ("l.json: choose the question to read with --question; its questions are 'q', 'other'")


def test_cancelled_annotations_and_gold_are_no_ballots(write):
    gold = annotation(None, "a", ground_truth=True)
    both = annotation(3, "b", ground_truth=True, was_cancelled=True)
    tasks = [task(annotation(1, "c"), gold, annotation(2, "b", was_cancelled=True), both, id=4)]
    found = read_export(write("l.json", tasks))
    assert dict(found.ballots.items()) == {("1", "4"): {"c"}}
    assert dict(found.gold) == {"4": {"a"}}
    assert found.ballots.alternatives == found.gold.alternatives == ("a", "c")
    assert found.notes == ("a cancelled annotation counts as a missing ballot (2 times)",)


def test_models_are_named_by_version_or_by_number(write):
    def predicted(*predictions, **fields):
        return {"annotations": [annotation(1, "a")], "predictions": list(predictions), **fields}

    def prediction(version, *choices, question="q"):
        return {"model_version": version, "result": [region(*choices, question=question)]}

    other = prediction("m0", "b", question="other")
    tasks = [
        predicted(prediction("m1", "b"), 3, other, prediction(None, "a")),
        predicted(other, prediction("", "b")),
        {"annotations": [annotation(1, "a")], "predictions": None},
    ]
    found = read_export(write("l.json", tasks))
    assert {key: set(ticks) for key, ticks in found.ballots.items() if key[0] != "1"} == {
        ("m1", "1"): {"b"},
        ("model 2", "1"): {"a"},
        ("model", "2"): {"b"},
    }
    assert found.notes == ("a prediction counts as the ballot of its model version (3 times)",)
    path = write("l.json", [predicted(prediction("m1", "b"), prediction("m1", "a"))])
    assert refused(path).startswith("l.json, task 1: voter 'm1' already has a ballot on instance '1' (task 1); remove")


def test_records_of_json_min_are_told_apart_by_their_fields(write):
    usual = {"id": 5, "annotator": 1, "annotation_id": 6, "created_at": EARLY, "updated_at": EARLY, "lead_time": 1.5}
    for name in (*usual, "agreement"):
        rows = [{**usual, "q": {"choices": ["a", "b"]}}, {**usual, "annotator": None, name: {"choices": ["x"]}}]
        assert ballots_of(write("m.json", rows[: 1 if name == "annotator" else 2])) == {("1", "5"): {"a", "b"}}
    rows = [{**usual, **{name: {"choices": ["a"]} for name in "gcbfead"}, "z": {"choices": "a"}, "y": ["a"], "x": {}}]
    path = write("m.json", rows)
    assert refused(path) == (
        "m.json: it is unclear which field holds the choices (several do: 'a', 'b', 'c', 'd', 'e', 'f', 'g'); "
        "name it with --question"
    )
    assert ballots_of(path, question="c") == {("1", "5"): {"a"}}
    del rows[0]["annotation_id"]
    assert read_export(write("m.json", rows), question="c").format == "label-studio-min"


def test_tasks_without_a_number_are_counted(write):
    rows = [{"annotator": None}, {"annotator": 1, "annotation_id": 1, "q": {"choices": ["a"]}}]
    found = read_export(write("m.json", rows), format="label-studio-min")
    assert dict(found.ballots.items()) == {("1", "2"): {"a"}}
    assert found.notes == ("a task without any annotation was left out",)
    rows = [{"annotator": [1], "annotation_id": 1, "q": {"choices": ["a"]}}]
    message = refused(write("m.json", rows))
    assert message.startswith("m.json is not a label-studio-min file that can be read (TypeError: ")
    assert message.endswith("); name its format with --format")


# Prodigy


def test_the_annotator_goes_before_the_session_and_that_before_the_file(write):
    def record(number, **who):
        return {"_input_hash": number, "_task_hash": 99, "accept": ["a"], "answer": "accept", **who}

    rows = [
        record(1, _annotator_id="ann", _session_id="set-1"),
        record(2, _annotator_id=None, _session_id="set-2"),
        record(3, _session_id="set-3"),
        record(4),
        {"_task_hash": 5, "accept": ["a"]},
    ]
    assert ballots_of(write("birds.jsonl", rows)) == {
        ("ann", "1"): {"a"},
        ("set-2", "2"): {"a"},
        ("set-3", "3"): {"a"},
        ("birds", "4"): {"a"},
        ("birds", "5"): {"a"},
    }


def options(*names):
    return [{"id": name, "text": name.title()} for name in names]


def test_the_options_of_all_records_of_an_item_are_its_menu(write):
    rows = [
        {"_input_hash": 1, "_annotator_id": "v", "options": options("b", "a"), "accept": ["a"], "answer": "accept"},
        {"_input_hash": 1, "_annotator_id": "w", "options": options("c", "b"), "answer": "reject"},
        {"_input_hash": 2, "_annotator_id": "v", "options": options("d"), "answer": "ignore"},
        {"_input_hash": 3, "_annotator_id": "v", "options": options("e", "a"), "accept": None},
    ]
    found = read_export(write("p.jsonl", rows))
    assert dict(found.ballots.items()) == {("v", "1"): {"a"}, ("v", "3"): frozenset()}
    assert found.ballots.alternatives == ("b", "a", "c", "e")
    assert found.ballots.offered("1") == ("b", "a", "c")
    assert found.ballots.offered("3") == ("a", "e")
    assert not found.inferred
    assert found.notes == (
        "an answer 'reject' counts as a missing ballot",
        "an answer 'ignore' counts as a missing ballot",
    )
    without = [*rows, {"_input_hash": 4, "_annotator_id": "v", "accept": ["z"]}]
    found = read_export(write("p.jsonl", without))
    assert found.ballots.menu is None, "where one item has no options there are no menus"
    assert found.ballots.alternatives == ("a", "z")
    assert found.inferred


def test_what_was_not_offered_cannot_be_accepted(write):
    rows = [
        {"_input_hash": 1, "_annotator_id": "v", "options": options("b", "a"), "accept": ["b"]},
        {"_input_hash": 2, "_annotator_id": "v", "options": options("c", "d"), "accept": ["b"]},
    ]
    assert refused(write("p.jsonl", rows)) == (
        "p.jsonl, line 2: 'b' is not an alternative; the alternatives are 'c', 'd'"
    )
    rows[1]["options"] = [{"text": "C"}]
    assert refused(write("p.jsonl", rows)) == (
        "p.jsonl, line 2: the alternative is blank; give every ballot an alternative"
    )


# Argilla


def test_argilla_records_nested(write):
    def record(**fields):
        return {"fields": {}, **fields}

    answers = [{"value": ["b"], "user_id": "u"}, {"value": [], "user_id": "v"}]
    rows = [
        record(responses={"q": answers}, suggestions={"q": {"value": ["a"], "agent": None}}),
        record(id="r", responses={"q": []}, suggestions={"q": {"value": ["c"], "agent": "m"}}),
        record(responses={"p": answers}),
        record(),
    ]
    found = read_export(write("a.json", rows), question="q")
    assert dict(found.ballots.items()) == {
        ("u", "1"): {"b"},
        ("v", "1"): frozenset(),
        ("suggestion", "1"): {"a"},
        ("m", "r"): {"c"},
    }
    assert found.notes == (
        "these records do not say which responses are drafts or discarded, so every response with a value counts; "
        "records.to_datasets() keeps the status",
        "a suggestion counts as the ballot of its agent (2 times)",
    )
    rows = [record(responses=dict.fromkeys("gcbfead", answers))]
    assert refused(write("a.json", rows)) == (
        "a.json: choose the question to read with --question; there are 'a', 'b', 'c', 'd', 'e', 'f', 'g'"
    )
    assert "has no responses to any question" in refused(write("a.json", [record(responses={})]))


def test_argilla_records_flat(write):
    rows = [
        {
            "id": 0,
            "q.responses": [["b"], ["c"], ["d"], []],
            "q.responses.users": ["u", "v", "w", "x"],
            "q.responses.status": ["submitted", "discarded", "draft", "submitted"],
            "q.suggestion": [],
        },
        {"q.responses": [["a"]], "q.responses.users": ["u"], "q.suggestion": ["c"], "q.suggestion.agent": "m"},
        {"id": "r", "q.responses": None, "q.responses.users": None, "q.suggestion": None},
    ]
    found = read_export(write("a.json", rows))
    assert dict(found.ballots.items()) == {
        ("u", "0"): {"b"},
        ("x", "0"): frozenset(),
        ("suggestion", "0"): frozenset(),
        ("u", "2"): {"a"},
        ("m", "2"): {"c"},
    }
    assert found.notes == (
        "a response that is discarded counts as a missing ballot",
        "a response that is draft counts as a missing ballot",
        "a suggestion counts as the ballot of its agent (2 times)",
    )
    names = {f"{name}.responses": [["a"]] for name in "gcbfead"}
    path = write("a.json", [{**names, "c.responses.users": ["u"]}])
    assert "--question; there are 'a', 'b', 'c', 'd', 'e', 'f', 'g'" in refused(path)
    assert ballots_of(path, question="c") == {("u", "1"): {"a"}}
    assert "is not a argilla file that can be read (ValueError: zip()" in refused(path, question="b")
    rows = [{"id": "r", "q.responses": [["a", 1.5]], "q.responses.users": ["u"]}]
    assert refused(write("a.json", rows)) == "a.json, record r: 1.5 is not a name of an alternative; write it as text"
    rows = [{"id": "r", "q.responses": [True], "q.responses.users": ["u"]}]
    assert refused(write("a.json", rows)) == "a.json, record r: True is not a list of alternatives; export it again"
    rows = [{"id": "r", "q.responses": [[3, 4.0]], "q.responses.users": [2.0]}]
    assert ballots_of(write("a.json", rows)) == {("2", "r"): {"3", "4"}}
    rows = [{"id": "r", "q.responses": [3], "q.responses.users": ["\ud800"]}]
    assert "is not a name of a voter; write it as text" in refused(write("a.json", rows))


# doccano


def test_examples_are_told_by_number_text_or_file(write):
    write("d/ann.jsonl", [{"id": 1, "text": "t", "filename": "f", "label": ["a"]}, {"text": "u", "label": ["b"]}])
    write("d/bo.json", [{"filename": "f", "labels": ["b", "c"]}, {"id": 1, "labels": []}])
    write("d/cy.csv", "id,label\n1,a#c\n\n2,\n")
    write("d/all.jsonl", [{"id": 1, "label": ["a"]}])
    assert ballots_of("d") == {
        ("ann", "1"): {"a"},
        ("ann", "u"): {"b"},
        ("bo", "f"): {"b", "c"},
        ("cy", "1"): {"a", "c"},
    }
    found = read_export("d", blank="empty")
    assert found.ballots.voters == ("ann", "bo", "cy")
    assert found.ballots.ballot("cy", "2") == found.ballots.ballot("bo", "1") == frozenset()
    assert found.notes == (
        "all.jsonl does not say who labelled what and was left out",
        "an example without labels counts as an empty ballot (2 times)",
    )
    assert read_export("d", blank="missing").notes[1].startswith("an example without labels may never have been opened")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ann.jsonl", '\n{"text": "t", "label": "a"}\n', "d, ann.jsonl, line 2: 'a' is not a list of labels; only class"),
        ("ann.jsonl", '{"text": "t", "label": ["a", {"b": 1}]}', "d, ann.jsonl, line 1: ['a', {'b': 1}] is not a list"),
        ("ann.json", [{"id": 1, "label": ["a"]}, {"label": ["a"]}], "d, ann.json, record 2: it has no id, text"),
        ("ann.csv", "id,label\n\n1,a\n\n1,b\n", "d, ann.csv, line 5: voter 'ann' already has a ballot on instance '1' "),
        ("ann.csv", "id,label\n\n1,a\n\n1,b\n", "d, ann.csv, line 5: voter 'ann' already has a ballot on instance '1' "
         "(ann.csv, line 3); remove one"),
        ("ann.json", "{", "d (ann.json), line 1: not JSON (Expecting property name enclosed in double quotes at colu"),
        ("all.json", "[]", "d holds only all.json, which does not say who labelled what; turn off sharing"),
        ("ann.txt", "", "d holds no .jsonl, .json or .csv file; export the project again"),
    ],
)  # fmt: skip
def test_examples_that_cannot_be_read(write, name, content, message):
    write(f"d/{name}", content)
    assert refused("d", format="doccano").startswith(message)


def test_members_are_taken_by_name_wherever_they_lie(write):
    for name in "gcbfeadh":
        write(f"d/{name}.jsonl", [{"id": name, "label": [name]}])
    assert read_export("d").ballots.voters == tuple("abcdefgh")
