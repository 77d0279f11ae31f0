"""Label Studio's predictions and PrefLib's kinds of files: every way in which they may be told."""

import json
from pathlib import Path

import pytest
from trying import ballots_of

from epivote import Ballots, EpivoteError, Majority, read_export, write_predictions


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return name


def refused(call, *arguments, **options):
    with pytest.raises(EpivoteError) as told:
        call(*arguments, **options)
    return str(told.value)


def result(chosen, name="q", kind="choices", **about):
    return {"from_name": name, "to_name": "text", "type": kind, "value": {kind: chosen}, **about}


def annotation(*results, by=1, **about):
    return {"id": 7, "completed_by": by, "result": list(results), **about}


ESTIMATE = Majority(1).fit(Ballots.from_mapping({("v", "1"): {"a"}, ("v", "2"): {"b"}})).estimate_


def test_predictions_need_an_annotation_that_says_what_it_is_about():
    said = "l.json: no annotation answers 'q', so its to_name is unknown; export answered tasks"
    predicted = [{"id": 1, "predictions": [{"model_version": "m", "result": [result(["a"])]}]}]
    assert refused(write_predictions, ESTIMATE, write("l.json", predicted), "p.json") == said
    unnamed = [{"id": 1, "annotations": [annotation({**result(["a"]), "to_name": None})]}]
    assert refused(write_predictions, ESTIMATE, write("l.json", unnamed), "p.json") == said
    elsewhere = [{"id": 1, "annotations": [annotation(result(["a"]), result(["a"], "p"))]}]
    write_predictions(ESTIMATE, write("l.json", elsewhere), "p.json", question="p")
    (task,) = json.loads(Path("p.json").read_text(encoding="utf-8"))
    assert task["result"] == [{"id": "epivote", **result(["a"], "p")}]
    assert "score" not in task
    assert task["task"] == 1


def test_the_first_answer_says_what_predictions_are_about():
    tasks = [
        {"id": 1, "data": {"text": "x"}, "annotations": [annotation(result([["a"], ["c", "b"]], kind="taxonomy"))]},
        {"annotations": [annotation({**result(["b"]), "to_name": "other"})], "data": {"text": "y"}},
        {"id": 9, "annotations": []},
    ]
    write_predictions(ESTIMATE, write("l.json", tasks), "p.json")
    first, second = json.loads(Path("p.json").read_text(encoding="utf-8"))
    assert first["result"] == [{"id": "epivote", **result([["a"]], kind="taxonomy")}]
    assert (first["id"], first["task"], first["data"]) == (1, 1, {"text": "x"})
    assert second["result"] == [{"id": "epivote", **result(["b"], kind="taxonomy")}]
    assert second.keys() == {"data", "predictions", "model_version", "result"}
    assert second["predictions"] == [{name: second[name] for name in ("model_version", "result")}]


def test_models_vote_where_they_answer_the_question():
    predictions = [
        {"model_version": "m1", "result": [result(["a"])]},
        {"model_version": None, "result": [result(["b"])]},
        {"model_version": "m3", "result": [result(["b"], "p")]},
        {"model_version": "epivote 1.0", "result": [result(["b"])]},
        17,
    ]
    tasks = [{"id": 1, "annotations": [annotation(result(["a"]))], "predictions": predictions}]
    found = read_export(write("l.json", tasks))
    assert ballots_of(found) == {("1", "1"): {"a"}, ("m1", "1"): {"a"}, ("model 2", "1"): {"b"}}
    assert found.notes == (
        "a prediction that epivote made from these ballots was left out",
        "a prediction counts as the ballot of its model version (2 times)",
    )
    tasks[0]["predictions"] = [{"result": [result(["b"])]}]
    alone = read_export(write("l.json", tasks))
    assert ballots_of(alone) == {("1", "1"): {"a"}, ("model", "1"): {"b"}}
    assert alone.notes == ("a prediction counts as the ballot of its model version",)


def test_regions_and_items_are_instances_of_their_own():
    def region(chosen, **value):
        return {"from_name": "q", "type": "choices", "id": "r1", "value": {"choices": chosen, **value}}

    tasks = [
        {
            "id": 1,
            "annotations": [
                annotation(region(["a"], start=0, end=5, text="word"), region(["b"], start=6, end=9), by=1),
                annotation(region(["b"], start=0, end=5, labels=["x"]), by=2),
                annotation({**region(["a"]), "item_index": 0}, by=2),
            ],
        }
    ]
    found = read_export(write("l.json", tasks))
    assert ballots_of(found) == {
        ("1", "1, start 0, end 5"): {"a"},
        ("1", "1, start 6, end 9"): {"b"},
        ("2", "1, start 0, end 5"): {"b"},
        ("2", "1, item 0"): {"a"},
    }
    assert found.notes == (
        "the choices for 'q' belong to regions or items of a task, so each region or item is an instance, shared by "
        "all who marked the same place; one without a choice counts as a missing ballot",
    )
    apart = [{"id": 1, "annotations": [annotation(region(["a"], start=0)), annotation(region(["a"], start=1), by=2)]}]
    assert refused(read_export, write("l.json", apart)) == (
        "l.json: the choices for 'q' belong to regions, and no two annotators chose for the same one, so there is "
        "nothing to compare; give all annotators the same regions, as predictions"
    )
    assert refused(write_predictions, ESTIMATE, write("l.json", tasks), "p.json") == (
        "l.json: 'q' is about regions or items; predictions are written for whole tasks"
    )


def test_who_annotated():
    tasks = [
        {"id": 1, "annotations": [annotation(result(["a"]), by={"id": 5, "email": "ann@x.org"})]},
        {
            "id": 2,
            "annotations": [annotation(result(["a"]), by=5), annotation(result(["b"]), by={"id": 6, "email": ""})],
        },
        {"id": 3, "annotations": [annotation(result(["a"]), by={"id": 5}), annotation(result(["b"]), by=6)]},
    ]
    found = read_export(write("l.json", tasks))
    assert set(found.ballots.voters) == {"ann@x.org", "6"}
    assert found.ballots.n_ballots == 5


# PrefLib


HEAD = "# NUMBER ALTERNATIVES: 2\n"
CATEGORIES = "# CATEGORY NAME 1: no\n# CATEGORY NAME 2: yes\n"


@pytest.mark.parametrize(
    ("name", "header", "is_order"),
    [
        ("e.soc", "", True),
        ("e.cat", CATEGORIES, False),
        ("e.soc", f"# DATA TYPE: cat\n{CATEGORIES}", False),
        ("e.soc", f"# DATA TYPE: CAT\n{CATEGORIES}", False),
        ("e.cat", f"# DATA TYPE: toi\n{CATEGORIES}", True),
        ("e.cat", "# DATA TYPE: soi\n", True),
        ("e.soi", "# DATA TYPE: soc\n", True),
        ("e.soc", f"# DATA TYPE: something\n{CATEGORIES}", False),
        ("e.soc", "# DATA TYPE: something\n", True),
        ("e.toc", "# DATA TYPE:\n", True),
    ],
)
def test_orders_are_told_from_categories(name, header, is_order):
    found = read_export(write(name, f"{HEAD}{header}1: 1, 2\n"))
    assert ballots_of(found) == {("line-1", "e"): {"1" if is_order else "2"}}
    assert found.notes[0].startswith("orders state no approvals" if is_order else "category 'yes' counts")


@pytest.mark.parametrize(
    ("given", "ticks"), [("1", {"2"}), (" 2 ", {"2", "1"}), ("3", {"2", "1", "3"}), ("99", {"1", "2", "3"})]
)
def test_places_of_an_order(given, ticks):
    path = write("e.soc", "# NUMBER ALTERNATIVES: 3\n2: 2, 1, 3\n")
    found = read_export(path, approved=given)
    assert ballots_of(found) == {("line-1", "e"): ticks}
    count = int(given)
    places = "the first place counts" if count == 1 else f"the first {count} places count"
    assert found.notes[0] == (
        f"orders state no approvals: {places} as approved (choose with --approved, such as --approved 2)"
    )
    for odd in ("0", "01", "two", "", "12345678", "-1"):
        assert refused(read_export, path, approved=odd) == (
            f"e.soc holds orders: --approved {odd!r} must say how many places count as approved, such as 2"
        )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0: 1, 2", "no voter cast this ballot; remove the line, or say how many did"),
        ("1: 1, 3", "'3' is not an alternative; they are 1 to 2"),
        ("1: 1, 1", "alternative 1 is listed twice; list it once"),
        ("1: {1, 2}, {1}", "alternative 1 is listed twice; list it once"),
        ("1: 1, 2, {}", "3 categories, but the header names fewer; name them all"),
        ("x: 1", "'x: 1' is not of the form 'count: {1, 2}, {3}'"),
        ("1 1, 2", "'1 1, 2' is not of the form 'count: {1, 2}, {3}'"),
    ],
)
def test_lines_of_preflib_that_are_refused(line, message):
    assert refused(read_export, write("e.cat", f"{HEAD}{CATEGORIES}1: 2, 1\n{line}\n")) == f"e.cat, line 5: {message}"


def test_alternatives_in_no_category_are_counted_by_voters():
    one = read_export(write("e.cat", f"{HEAD}{CATEGORIES}1: 1, {{}}\n3: 1, 2\n"))
    assert one.notes[1] == "1 ballot on 'e' has alternatives in no category, which count as not approved"
    several = read_export(write("e.cat", f"{HEAD}{CATEGORIES}2: 1, {{}}\n3: {{}}, 2\n"))
    assert several.notes[1] == "5 ballots on 'e' have alternatives in no category, which count as not approved"
    stated = read_export(write("e.cat", f"{HEAD}{CATEGORIES}# NUMBER VOTERS: 4\n2: 1, 2\n3: 1, 2\n"))
    assert stated.notes[1:] == (
        "the header of e.cat states 4 voters, but its lines add up to 5",
        "PrefLib files do not name voters, so the reliability of each voter rests on one file only",
    )
    assert stated.ballots.multiplicities is not None
    assert stated.ballots.multiplicities.tolist() == [2, 3]
