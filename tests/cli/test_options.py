"""Every option of every command, each where it changes what comes out, and how."""

import csv
import html
import json
import re
import warnings

import pytest

from epivote import (
    EM,
    CrowdWarning,
    Interval,
    Plan,
    PlanPoint,
    SizeBounds,
    read_ballots,
    read_truths,
    reference_crowd,
    simulate,
    write_ballots,
)
from epivote.cli import estimating, files
from epivote.simulation import Beta
from said import run, said, told

PLAIN = "voter,instance,alternatives\nann,q1,a\nbo,q1,a|b\nann,q2,b\nbo,q2,\n"
FORM = 'Timestamp,Username,"Q1 birds","Q2 birds","Age group"\n1,ann,owl;wren,wren,a;b\n2,bo,,owl;wren,a\n3,key,owl,wren,b\n'
FREE = "who,what,said\nann,q1,a\nbo,q1,a|b\n"
CHOICES = [
    {"from_name": name, "to_name": "i", "type": "choices", "value": {"choices": [f"a {name}"]}}
    for name in ("colour", "shape")
]
TWO = json.dumps([{"id": 1, "data": {}, "annotations": [{"id": 2, "completed_by": 3, "result": CHOICES}]}])


# How a file is understood


@pytest.mark.parametrize(
    ("content", "options", "printed"),
    [
        (PLAIN, (), "ann,q1,a bo,q1,a|b ann,q2,b bo,q2,"),
        (PLAIN, ("--blank", "missing"), "ann,q1,a bo,q1,a|b ann,q2,b"),
        (PLAIN, ("--none", "b"), "ann,q1,a bo,q1,a ann,q2, bo,q2,"),
        (PLAIN.replace("|", "+"), ("--separator", "+"), "ann,q1,a bo,q1,a|b ann,q2,b bo,q2,"),
        (PLAIN + "ann,q1,b\n", ("--duplicates", "first"), "ann,q1,a bo,q1,a|b ann,q2,b bo,q2,"),
        (PLAIN + "ann,q1,b\n", ("--duplicates", "last"), "ann,q1,b bo,q1,a|b ann,q2,b bo,q2,"),
        (FREE, ("--voter", "who", "--instances", "what", "--ticks", "said"), "ann,q1,a bo,q1,a|b"),
        (
            PLAIN.replace("alternatives", "alternative"),
            ("--format", "ballots", "--ticks", "alternative"),
            "ann,q1,a bo,q1,a|b ann,q2,b bo,q2,",
        ),
        (TWO, ("--question", "shape"), "3,1,a shape"),
        (TWO, ("--question", "colour"), "3,1,a colour"),
        (
            FORM,
            ("--instances", "Q*", "--gold-row", "key"),
            "ann,Q1 birds,owl|wren ann,Q2 birds,wren bo,Q2 birds,owl|wren",
        ),
        (FORM, ("--instances", "Q1*", "--blank", "empty"), "ann,Q1 birds,owl|wren bo,Q1 birds, key,Q1 birds,owl"),
    ],
)
def test_options_of_reading(content, options, printed, tmp_path):
    path = tmp_path / ("file.json" if content is TWO else "file.csv")
    path.write_text(content)
    head, *lines = run("convert", path, "-", *options).stdout.splitlines()
    assert head == "voter,instance,alternatives"
    assert sorted(lines) == sorted(re.split(r" (?=\w+,(?:q|Q|1))", printed))


def test_alternatives_and_menus_say_what_was_offered(tmp_path):
    path, menu = tmp_path / "b.csv", tmp_path / "menu.csv"
    path.write_text(PLAIN)
    menu.write_text("instance,alternatives\nq1,a|b\nq2,b|c|d\n")
    assert told("inspect", path)["alternatives"] == 2
    assert told("inspect", path, "--alternatives", "a|b|c")["alternatives"] == 3
    offered = told("inspect", path, "--menu", menu)
    assert (offered["alternatives"], offered["ticked"]["a"], offered["ticked"]["b"]) == (4, 1.0, 0.5)
    assert told("inspect", path)["ticked"]["b"] == 0.5


def test_a_double_ballot_is_an_error_unless_told(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(PLAIN + "ann,q1,b\n")
    result = run("inspect", path)
    assert (result.exit_code, "'ann'" in result.stderr) == (1, True)
    assert told("inspect", path, "--duplicates", "last")["ballots"] == 4


def test_gold_of_a_row_counts_as_gold(tmp_path):
    path = tmp_path / "form.csv"
    path.write_text(FORM)
    assert told("inspect", path, "--instances", "Q*")["gold"] is None
    assert told("inspect", path, "--instances", "Q*", "--gold-row", "key")["gold"] == 2


@pytest.mark.parametrize("command", ["aggregate", "report", "explain", "plan", "pack"])
def test_every_command_that_reads_takes_the_options_of_reading(command, tmp_path, monkeypatch):
    path = tmp_path / "free.csv"
    path.write_text(FREE)
    monkeypatch.setattr(estimating, "make_plan", lambda *_given, **_options: Plan((), 0.95, 1))
    size = () if command == "pack" else ("--size", "1")
    given = {
        "aggregate": (path,),
        "report": (path, "-o", tmp_path / "r.html"),
        "explain": (path, "q1"),
        "plan": ("--ballots", path),
        "pack": (path, "-o", tmp_path / "packed"),
    }[command]
    assert run(command, *given, *size).exit_code == 1
    assert told(command, *given, *size, "--voter", "who", "--instances", "what", "--ticks", "said")


# How sets are found


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "ballots.csv"
    write_ballots(simulate(instances=12, voters=5, alternatives=4, bounds=(1, 2), seed=4).ballots, path)
    return path


def found(path, *options):
    return told("aggregate", path, "--method", "em", *options)


def sizes_of(answer):
    return [len(row["alternatives"]) for row in answer["truth"]]


def test_sizes_are_kept(crowd, tmp_path):
    assert set(sizes_of(found(crowd, "--size", "2"))) == {2}
    assert set(sizes_of(found(crowd, "--size", "3..4"))) <= {3, 4}
    own = tmp_path / "sizes.csv"
    own.write_text("instance,size\ni1,4\ni2,0\n")
    answer = found(crowd, "--size", "2", "--sizes", own)
    assert sizes_of(answer) == [4, 0] + [2] * 10
    assert answer["own_sizes"] == {"i1": [4, 4], "i2": [0, 0]}
    text = said("aggregate", crowd, "--method", "em", "--size", "2", "--sizes", own)
    assert "Found 12 sets of size 2 (2 instances with other size bounds): " in text
    assert re.search(r"^i2 +\(none\) +> 9", text, re.MULTILINE)
    assert "sets of size 1 or more:" in said("aggregate", crowd, "--method", "em", "--size", "1..")


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(("kind", "notes"), [(UserWarning, []), (CrowdWarning, ["look out"])])
def test_only_warnings_about_the_crowd_become_notes(crowd, monkeypatch, kind, notes):
    fit = EM.fit

    def warning(*given, **named):
        warnings.warn("look out", kind, stacklevel=1)
        return fit(*given, **named)

    monkeypatch.setattr(EM, "fit", warning)
    assert found(crowd, "--size", "1..2")["notes"] == notes


def test_gold_teaches_or_is_compared_with(crowd, tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("instance,alternatives\ni1,a1|a2\ni2,a3\nelsewhere,a1\n")
    learnt = found(crowd, "--size", "1..2", "--gold", gold)
    assert learnt["gold"] == ["i1", "i2"]
    assert [row["alternatives"] for row in learnt["truth"][:2]] == [["a1", "a2"], ["a3"]]
    assert learnt["notes"] == [
        "2 gold sets cannot calibrate confidence (3 are needed, 20 are better): they are used for fitting only, and "
        "confidence stays that of the model",
        "1 instance with a gold set has no ballots: 'elsewhere'",
    ]
    said("aggregate", crowd, "--method", "em", "--size", "1..2", "--gold", gold, "--report", tmp_path / "page.html")
    assert f"{html.escape(learnt['notes'][1])}." in (tmp_path / "page.html").read_text().replace("&#39;", "&#x27;")
    scored = found(crowd, "--size", "1..2", "--gold", gold, "--gold-use", "score")
    assert (scored["gold"], scored["accuracy"]["n_instances"]) == ([], 2)
    plain = found(crowd, "--size", "1..2")
    assert scored["truth"] == plain["truth"]
    for use in ("learn", "score"):
        result = run("aggregate", crowd, "--size", "1", "--gold-use", use)
        assert f"--gold-use {use} needs gold sets, but none are given" in result.stderr
    gold.write_text("instance,alternatives\n" + "".join(f"e{k},a1\n" for k in range(1, 6)))
    result = run("aggregate", crowd, "--size", "1", "--gold", gold, "--gold-use", "score")
    assert "gold has 'e1', 'e2', 'e3' and 2 more, the ballots 'i1', 'i2', 'i3' and 9 more" in result.stderr
    gold.write_text("instance,alternatives\nelsewhere,a1\nnowhere,a1\n")
    result = run("aggregate", crowd, "--size", "1", "--gold", gold, "--gold-use", "score")
    assert result.stderr == (
        "epivote: no gold instance has a ballot; gold has 'elsewhere', 'nowhere', the ballots 'i1', 'i2', 'i3' and 9 "
        "more\n"
    )


@pytest.mark.parametrize(("known", "scored"), [(11, False), (12, True), (13, True)])
def test_gold_of_all_instances_is_only_compared_with(known, scored, crowd, tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("instance,alternatives\n" + "".join(f"i{z},a1\n" for z in range(1, known + 1)))
    answer = found(crowd, "--size", "1", "--gold", gold)
    assert (answer["accuracy"] is not None) == scored
    assert len(answer["gold"]) == (0 if scored else 11)


def test_as_many_gold_sets_as_instances_but_of_others_teach(crowd, tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("instance,alternatives\n" + "".join(f"i{z},a1\n" for z in range(2, 15)))
    assert len(found(crowd, "--size", "1", "--gold", gold)["gold"]) == 11


def test_alternatives_that_only_gold_names_count_if_none_were_stated(tmp_path):
    path, gold = tmp_path / "b.csv", tmp_path / "gold.csv"
    path.write_text(PLAIN)
    gold.write_text("instance,alternatives\nq1,a|z\n")
    answer = told("aggregate", path, "--size", "1..2", "--gold", gold)
    assert [row["alternative"] for row in answer["alternatives"]] == ["a", "b", "z"]
    stated = run("aggregate", path, "--size", "1..2", "--gold", gold, "--alternatives", "a|b")
    assert (stated.exit_code, "'z'" in stated.stderr) == (1, True)


@pytest.mark.parametrize("method", ["em", "amle", "majority", "modal", "approval", "size-approval"])
def test_methods(method, crowd, tmp_path):
    assert told("aggregate", crowd, "--size", "1..2", "--method", method)["method"] == method
    said("report", crowd, "--size", "1..2", "--method", method, "-o", tmp_path / "r.html")
    kind = {"em": "EM", "amle": "AMLE", "size-approval": "Approval"}.get(method, method.capitalize())
    assert f"<bdi>{kind}(bounds=" in (tmp_path / "r.html").read_text()
    explained = run("explain", crowd, "i1", "--size", "1..2", "--method", method)
    assert explained.exit_code == (0 if method in ("em", "amle") else 1)


def test_a_report_says_how_it_was_made(crowd, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["epivote", "report", "a file.csv"])
    page = tmp_path / "r.html"
    options = ("report", crowd, "--size", "1..2", "--method", "em", "-o", page)
    said(*options, "--title", "Birds & bees")
    text = page.read_text()
    assert "<h1><bdi>Birds &amp; bees</bdi></h1>" in text
    assert "<bdi>epivote report &#39;a file.csv&#39;</bdi>" in text
    assert f"<dt>File</dt><dd><bdi>{crowd}</bdi>" in text
    assert "<dt>Method</dt><dd><bdi>em</bdi>" in text
    assert "<dt>Format</dt><dd><bdi>ballots</bdi>" in text
    answer = told(*options, "--anonymize")
    assert answer == {"files": [str(page)], "status": "converged", "instances": 12, "voters": 5}
    text = page.read_text()
    assert ("Command" in text, '"v1"' in text, '"voter 1"' in text) == (False, False, True)
    assert "<dt>File</dt><dd><bdi>ballots.csv</bdi>" in text
    said("aggregate", crowd, "--size", "1..2", "--report", page)
    assert '"v1"' in page.read_text(), "the report of aggregate has the names"
    assert re.search(r"<dt>Method</dt><dd><bdi>em \(few instances", page.read_text())
    monkeypatch.chdir(tmp_path)
    said("report", crowd, "--size", "1..2", "--method", "modal")
    assert (tmp_path / "report.html").exists()


def test_a_checkpoint_is_written(crowd, tmp_path):
    kept = tmp_path / "kept"
    assert found(crowd, "--size", "1..2", "--checkpoint", kept) == found(crowd, "--size", "1..2")
    assert kept.exists()


# Plans


@pytest.fixture
def planned(monkeypatch):
    """What `plan` is asked to simulate."""
    asked = []

    def stand_in(parameters, bounds, *, target):
        asked.append((parameters, bounds, target))
        return Plan((PlanPoint(1, Interval(0.5, 0.4, 0.6), Interval(0.5, 0.4, 0.6)),), target, 1)

    monkeypatch.setattr(estimating, "make_plan", stand_in)
    return asked


@pytest.mark.parametrize(
    ("options", "hits", "alarms", "priors", "target"),
    [
        ((), 0.7, 0.15, [0.3] * 5, 0.95),
        (("--hit-rate", 0.6), 0.6, 0.15, [0.3] * 5, 0.95),
        (("--false-alarm-rate", 0.2), 0.7, 0.2, [0.3] * 5, 0.95),
        (("--n-alternatives", 3), 0.7, 0.15, [0.3] * 3, 0.95),
        (("--n-alternatives", 1), 0.7, 0.15, [0.3], 0.95),
        (("--n-alternatives", 1000), 0.7, 0.15, [0.3] * 1000, 0.95),
        (("--prior", 0.4), 0.7, 0.15, [0.4] * 5, 0.95),
        (("--target", 0.8), 0.7, 0.15, [0.3] * 5, 0.8),
    ],
)
def test_plans_for_voters_all_alike(options, hits, alarms, priors, target, planned):
    said("plan", "--size", "1..2", *options)
    ((parameters, bounds, asked),) = planned
    assert parameters.hit_rates.tolist() == [hits]
    assert parameters.false_alarm_rates.tolist() == [alarms]
    assert parameters.priors.tolist() == priors
    assert (bounds, asked) == (SizeBounds(1, 2), target)


def test_plans_for_the_voters_of_a_file(crowd, planned):
    answer = told("plan", "--size", "1..2", "--ballots", crowd, "--hit-rate", 0.1)
    known = told("aggregate", crowd, "--size", "1..2")
    ((parameters, _, _),) = planned
    assert parameters.hit_rates.tolist() == [row["hit_rate"] for row in known["voters"]]
    assert parameters.priors.tolist() == [row["prior"] for row in known["alternatives"]]
    check = answer.pop("check")
    assert (check["against"], check["available"], check["n_instances"], check["gold"]) == ("the whole crowd", 5, 12, [])
    assert [point["ballots"] for point in check["crowd"]] == [1, 2]
    assert answer == {
        "assumes": "voters who err independently",
        "points": [
            {
                "ballots": 1,
                "exact": {"mean": 0.5, "low": 0.4, "high": 0.6},
                "hamming": {"mean": 0.5, "low": 0.4, "high": 0.6},
            }
        ],
        "target": 0.95,
        "needed": 1,
    }
    assert told("plan", "--size", "1..2")["check"] is None
    for count in (0, 1001):
        assert run("plan", "--size", "1", "--n-alternatives", count).exit_code == 2


# Made-up ballots


def same_as(folder, drawn):
    assert dict(read_ballots(folder / "ballots.csv").items()) == dict(drawn.ballots.items())
    assert read_truths(folder / "gold.csv") == drawn.gold
    with (folder / "voters.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["hit_rate"]) for row in rows] == drawn.parameters.hit_rates.tolist()
    assert [float(row["false_alarm_rate"]) for row in rows] == drawn.parameters.false_alarm_rates.tolist()


USUAL = {
    "instances": 100,
    "voters": 20,
    "alternatives": 5,
    "bounds": "1..2",
    "hit_rates": Beta(6, 3),
    "false_alarm_rates": Beta(2, 12),
    "ballots_per_instance": None,
    "spammers": 0.0,
    "seed": 0,
}


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ((), {}),
        (("--instances", 9), {"instances": 9}),
        (("--voters", 3), {"voters": 3}),
        (("--alternatives", 7), {"alternatives": 7}),
        (("--size", "2..3"), {"bounds": "2..3"}),
        (("--hit-rate", 0.8), {"hit_rates": 0.8}),
        (("--false-alarm-rate", 0.2), {"false_alarm_rates": 0.2}),
        (("--ballots-each", 4), {"ballots_per_instance": 4}),
        (("--spammers", 0.5), {"spammers": 0.5}),
        (("--copies", 0.3), {"copies": 0.3}),
        (("--shared-mistakes", 0.4), {"shared_mistakes": 0.4}),
        (("--difficulty", 0.6), {"difficulty": 0.6}),
        (("--seed", 8), {"seed": 8}),
    ],
)
def test_options_of_simulate(options, changed, tmp_path):
    bounds = SizeBounds.parse(changed.get("bounds", "1..2"))
    drawn = simulate(**USUAL | changed | {"bounds": bounds})
    text = said("simulate", "--out", tmp_path, *options)
    same_as(tmp_path, drawn)
    ballots = tmp_path / "ballots.csv"
    assert text.splitlines() == [
        f"Simulated {drawn.ballots.in_words()}.",
        f"Wrote ballots.csv, gold.csv, voters.csv to {tmp_path}.",
        f"Next: epivote aggregate {ballots} --size {bounds} --gold {tmp_path / 'gold.csv'}",
    ]


def test_simulate_on_standard_output_and_as_json(tmp_path):
    options = ("--instances", 4, "--voters", 3, "--seed", 2)
    answer = told("simulate", "--out", tmp_path, *options)
    assert answer == {
        "ballots": 12,
        "files": [str(tmp_path / name) for name in ("ballots.csv", "gold.csv", "voters.csv")],
    }
    assert said("simulate", "--out", "-", *options) == (tmp_path / "ballots.csv").read_text()
    assert run("simulate", "--out", tmp_path, "--seed", -1).exit_code == 2


@pytest.mark.parametrize(
    ("name", "sizes"), [("S", (2000, 100, 10, 3)), ("M", (50_000, 1000, 20, 4)), ("XL", (1_000_000, 10_000, 50, 5))]
)
def test_reference_crowds(name, sizes, tmp_path, monkeypatch):
    asked = []

    def smaller(instances, voters, alternatives, upper, seed, **options):
        asked.append((instances, voters, alternatives, upper))
        return reference_crowd(20, 6, alternatives, upper, seed, **options)

    monkeypatch.setattr(files, "reference_crowd", smaller)
    text = said("simulate", "--crowd", name, "--seed", 3, "--out", tmp_path, "--instances", 7, "--copies", 0.2)
    assert asked == [sizes]
    same_as(tmp_path, reference_crowd(20, 6, *sizes[2:], seed=3, copies=0.2))
    assert f" --size 1..{sizes[3]} --gold " in text
