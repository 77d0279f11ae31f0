"""However much a file holds, a message names a few of it: so many names, so many letters, and how many more there are."""

import json

import pytest

from epivote import EpivoteError, read_export


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(here, name, content, **options):
    text = content if isinstance(content, str) else json.dumps(content)
    (here / name).write_text(text, encoding="utf-8")
    with pytest.raises(EpivoteError) as told:
        read_export(name, **options)
    return str(told.value)


def names(start, count):
    return [f"{start}{number:02}" for number in range(1, count + 1)]


def listed(given, most):
    shown = ", ".join(map(repr, given[:most]))
    return shown if len(given) <= most else f"{shown} and {len(given) - most} more"


COUNTS = (5, 10, 11, 20, 21, 25)


@pytest.mark.parametrize("count", COUNTS)
def test_questions_of_argilla(here, count):
    asked = names("q", count)
    records = [{"id": "r", "fields": {}, "responses": {name: [] for name in asked}}]
    chosen = refused(here, "a.json", records)
    assert chosen == f"a.json: choose the question to read with --question; there are {listed(asked, 20)}"
    wrong = refused(here, "a.json", records, question="zz")
    assert wrong == f"a.json has no responses to 'zz'; its questions are {listed(asked, 20)}"


@pytest.mark.parametrize("count", COUNTS)
def test_questions_of_label_studio(here, count):
    asked = names("q", count)
    results = [{"from_name": name, "type": "choices", "value": {"choices": ["a"]}} for name in asked]
    tasks = [{"id": 1, "annotations": [{"completed_by": 1, "result": results}]}]
    chosen = refused(here, "t.json", tasks)
    assert chosen == f"t.json: choose the question to read with --question; its questions are {listed(asked, 20)}"
    wrong = refused(here, "t.json", tasks, question="zz")
    assert wrong == f"t.json has no choices for 'zz'; its questions are {listed(asked, 20)}"
    other = [{**result, "type": "rating"} for result in results]
    none = refused(here, "t.json", [{"id": 1, "annotations": [{"completed_by": 1, "result": other}]}])
    held = listed([f"{name} (rating)" for name in asked], 20)
    assert none == f"t.json has no choices or taxonomy, which is all that can be read; it holds {held}"


@pytest.mark.parametrize("count", COUNTS)
def test_fields_of_json_min(here, count):
    asked = names("q", count)
    about = {"id": 1, "annotator": 1, "annotation_id": 1}
    texts = [{**about, **dict.fromkeys(asked, "a")}]
    wrong = refused(here, "m.json", texts, question="zz")
    assert wrong == f"m.json has no field 'zz'; its fields are {listed(asked, 20)}"
    none = refused(here, "m.json", texts)
    assert none == (
        f"m.json: it is unclear which field holds the choices (its fields are {listed(asked, 20)}); name it with "
        "--question"
    )
    several = refused(here, "m.json", [{**about, **{name: {"choices": ["a"]} for name in asked}}])
    assert several == (
        f"m.json: it is unclear which field holds the choices (several do: {listed(asked, 20)}); name it with "
        "--question"
    )


@pytest.mark.parametrize("count", COUNTS)
def test_fields_of_unknown_records(here, count):
    fields = names("f", count)
    record = dict.fromkeys(fields, 1)
    for name, content in (("u.json", [record]), ("u.jsonl", record)):
        said = refused(here, name, content)
        assert said.startswith(f"{name} is not a known export: its first record has {listed(fields, 10)}; looked for ")
    said = refused(here, "o.json", json.dumps(record, indent=1))
    assert said == (
        f"o.json is one JSON object with {listed(fields, 10)}, not a list of records; name the tool that wrote it with "
        "--format if it is a known one"
    )


@pytest.mark.parametrize("count", COUNTS)
def test_labels_of_prodigy(here, count):
    labels = names("l", count)
    lines = [{"_input_hash": 1, "_annotator_id": "ann", "label": name, "answer": "accept"} for name in labels]
    (here / "p.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = read_export("p.jsonl")
    assert found.notes == (
        f"accept was taken as a tick of the label ({listed(labels, 5)}) and reject as a ballot without it; sets may be "
        "empty, so --size should begin with 0",
    )
    wanted = names("w", count)
    said = refused(here, "p.jsonl", "\n".join(map(json.dumps, lines)), alternatives=wanted)
    assert said == f"p.jsonl holds no record about {listed(wanted, 5)}; its labels are {listed(labels, 10)}"


@pytest.mark.parametrize("count", COUNTS)
def test_questions_of_a_form(here, count):
    asked = names("q", count)
    rows = [",".join(["Timestamp", "Email Address", *asked]), ",".join(["1", "ann", *["a"] * count])]
    (here / "f.csv").write_text("\n".join(rows), encoding="utf-8")
    said = f"{count} questions read: {listed(asked, 5)}; --question or --instances selects others"
    assert said in read_export("f.csv").notes
    wrong = refused(here, "f.csv", "\n".join(rows), question="zz")
    assert wrong == f"f.csv: no column matches 'zz'; correct --question; there are {listed(asked, 8)}"


def test_formats_are_all_named(here):
    said = refused(here, "f.csv", "voter,instance,alternatives\n", format="nothing")
    assert said.startswith("'nothing' is not a format; it is one of 'ballots', 'ticks', 'indicators', ")
    assert said.endswith("'preflib', 'abcvoting', 'pabulib'")


LETTERS = "".join(chr(ord("a") + place % 26) for place in range(300))


@pytest.mark.parametrize("length", [39, 40, 41, 59, 60, 61, 100])
def test_long_lines_and_cells_are_cut(here, length):
    text = LETTERS[:length]
    said = {
        "j.jsonl": (json.dumps(text), f"j.jsonl, line 1: {json.dumps(text)[:40]!r} is not an object"),
        "b.pb": (f"{text};1\n", f"b.pb, line 1: {f'{text};1'[:40]!r} comes before META"),
        "c.cat": (
            f"# NUMBER ALTERNATIVES: 1\n# CATEGORY NAME 1: yes\n{text}\n",
            f"c.cat, line 3: {text[:60]!r} is not of the form",
        ),
    }
    for name, (content, message) in said.items():
        assert refused(here, name, content).startswith(message)
    mturk = "HITId,WorkerId,Answer.q.labels\nh,w,{}\n"
    assert refused(here, "m.csv", mturk.format(text)) == (
        f"m.csv, line 2: {text[:60]!r} is not JSON; export the batch again"
    )
    number = "1" * length
    assert refused(here, "m.csv", mturk.format(number)) == (
        f"m.csv, line 2: {number[:60]!r} is not a list of labels; export the batch again"
    )
    toloka = f"INPUT:i\tASSIGNMENT:worker_id\tOUTPUT:o\ni\tw\t[{text}\n"
    assert refused(here, "t.tsv", toloka) == (
        f"t.tsv, line 2: {f'[{text}'[:60]!r} is not JSON; export the assignments again"
    )
    cell = f"['x', {text}]"
    judgments = f"_unit_id,_worker_id,a\nu,w,\"{cell}\"\nu,v,\"['x', 'y']\"\n"
    assert refused(here, "c.csv", judgments) == (
        f"c.csv, line 2: {cell[:60]!r} is not a list of alternatives; correct it there"
    )
    argilla = f"id,q.responses,q.responses.users\nr,[{text},[u]\n"
    assert refused(here, "a.csv", argilla) == (
        f"a.csv: {f'[{text}'[:60]!r} in 'q.responses' cannot be read back as a list; export JSONL or Parquet"
    )
