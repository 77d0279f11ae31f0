"""What `inspect`, `convert`, `evaluate`, `plan`, `explain` and `pack` show, worked out anew."""

import json
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, median

import pytest

import oracles
from epivote import (
    EM,
    Ballots,
    Interval,
    Plan,
    PlanCheck,
    PlanPoint,
    Reproducibility,
    SizeBounds,
    check_plan,
    inspect_ballots,
    read_ballots,
    simulate,
    suggest_size,
    write_ballots,
)
from epivote.cli import estimating
from epivote.cli.show_files import Halves, inspection
from epivote.formats.export import Export
from said import percent, run, said, table, tables, told

ONE_EMPTY = "counted 1 row without a value as empty (--blank missing leaves them out)"
PLAIN = "voter,instance,alternatives\nann,q1,a\nbo,q1,a|b\nann,q2,b\nbo,q2,\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "ballots.csv"
    crowd = simulate(instances=14, voters=6, alternatives=4, bounds=(1, 2), coverage=0.6, seed=4)
    write_ballots(crowd.ballots, path)
    return path


@pytest.fixture(scope="module")
def cast(file):
    return {key: set(ticks) for key, ticks in read_ballots(file).items()}


# inspect


def test_a_look_at_a_file(file, cast):
    text = said("inspect", file)
    empty, ticks = sum(not t for t in cast.values()), [len(t) for t in cast.values()]
    lines = text.splitlines()
    assert lines[0] == f"{file}: detected format ballots (override with --format)."
    assert lines[1] == (
        f"Found 6 voters, 14 instances, 4 alternatives, {len(cast)} ballots ({empty} empty), {sum(ticks)} "
        f"approvals, {100 * len(cast) / 84:.0f} % answered."
    )
    sizes = table(text, "Approvals per ballot")
    assert sizes.heads == ["approvals", "ballots"]
    assert table(text, "Alternatives").heads == ["alternative", "ticked", "agreement"]
    most = max(map(ticks.count, range(5)))
    expected = [(size, ticks.count(size)) for size in range(5) if ticks.count(size)]
    assert sizes.rows == [
        [str(size), str(count), *["█" * round(30 * count / most)] * (round(30 * count / most) > 0)]
        for size, count in expected
    ]
    suggested = suggest_size(read_ballots(file))
    assert (
        f"\nSuggested: --size {suggested.bounds}, because {suggested.reason}. Ballots contain mistakes, so check it "
        "against what the task allows.\n"
    ) in text
    per = {}
    for place, names in ((1, {z for _, z in cast}), (0, {v for v, _ in cast})):
        per[place] = [sum(key[place] == name for key in cast) for name in names]
    spread = [f"{min(n)}-{max(n)} (median {median(n):.0f})" for n in (per[1], per[0])]
    assert f"\nPer instance {spread[0]} ballots, per voter {spread[1]}.\n" in text
    shares = {name: fmean(name in t for t in cast.values()) for name in ("a1", "a2", "a3", "a4")}
    cells = {
        name: {z: [name in ticks for (_, where), ticks in cast.items() if where == z] for _, z in cast}
        for name in shares
    }
    alphas = {name: oracles.krippendorff_alpha(cells[name], oracles.nominal_distance) for name in shares}
    assert table(text, "Alternatives").rows == [
        [name, percent(share), f"{alphas[name]:.2f}"]
        for name, share in sorted(shares.items(), key=lambda each: -each[1])
    ]
    sets = {z: [ticks for (_, where), ticks in cast.items() if where == z] for _, z in cast}
    masi = oracles.krippendorff_alpha(sets, oracles.masi_distance)
    assert f", {masi:.2f} with MASI distance, " in text
    assert text.endswith(
        "\nNothing looks odd.\nNext, find the sets (--size says how many alternatives a true set may have):\n"
        f"  epivote aggregate {file} --size {suggested.bounds} --out result\n"
    )
    found = told("inspect", file)
    assert {
        name: found[name] for name in ("format", "voters", "instances", "alternatives", "ballots", "approvals")
    } == {
        "format": "ballots",
        "voters": 6,
        "instances": 14,
        "alternatives": 4,
        "ballots": len(cast),
        "approvals": sum(ticks),
    }
    assert (found["coverage"], found["gold"], found["odd"]) == (len(cast) / 84, None, [])
    assert found["remarks"] == [f"counted {empty} rows without a value as empty (--blank missing leaves them out)"]
    assert found["agreement"]["masi"] == pytest.approx(masi)
    assert found["agreement"]["alternatives"] == pytest.approx(alphas)
    assert (found["agreement"]["n_ballots"], found["agreement"]["drawn_pairs"]) == (len(cast), None)
    assert found["suggested_size"] == asdict(suggested)
    assert found["sizes"] == {str(size): count for size, count in expected}
    assert found["per_voter"] == {"least": min(per[0]), "median": median(per[0]), "most": max(per[0])}
    assert found["per_instance"] == {"least": min(per[1]), "median": median(per[1]), "most": max(per[1])}
    assert found["ticked"] == pytest.approx(shares)


def test_gold_notes_and_oddities_of_a_file(tmp_path):
    path = tmp_path / "form.csv"
    path.write_text('Timestamp,Username,"Q1","Q2"\n1,ann,owl;wren,wren\n2,bo,owl,owl;wren\n3,key,owl,wren\n')
    text = said("inspect", path, "--gold-row", "key", "--ticks", "x", "--format", "forms")
    assert "\nFound gold sets for 2 instances.\n" in text
    assert "\nNote: --ticks does not apply to forms files; ignored.\n" in text
    assert "\nPer instance 2 ballots, per voter 2.\n" in text
    assert "Nothing looks odd" in text
    path.write_text(PLAIN)
    text = said("inspect", path, "--alternatives", "a|b|c")
    assert "\nOdd: never ticked: 'c'.\n" in text
    assert "Nothing looks odd" not in text
    assert told("inspect", path, "--alternatives", "a|b|c")["odd"] == ["never ticked: 'c'"]


# convert


def test_what_a_conversion_says(tmp_path):
    path, to = tmp_path / "b.csv", tmp_path / "to.jsonl"
    path.write_text(PLAIN)
    words = "2 voters, 2 instances, 2 alternatives, 4 ballots (1 empty), 4 approvals, 100 % answered"
    assert said("convert", path, to) == (f"{path} (format ballots): {words}.\nNote: {ONE_EMPTY}.\nWrote {to}.\n")
    never = (
        "alternatives that nobody ticked are not in the new file ('c', 'd', 'e' and 1 more); name all with "
        "--alternatives when you read it"
    )
    many = ("convert", path, to, "--alternatives", "a|b|c|d|e|f")
    assert f"\nNote: {never}.\n" in said(*many)
    assert told(*many) == {"format": "ballots", "remarks": [ONE_EMPTY], "lost": [never], "files": [str(to)]}
    menu = tmp_path / "menu.csv"
    menu.write_text("instance,alternatives\nq1,a|b\nq2,b|c\n")
    kept = tmp_path / "kept.csv"
    assert told("convert", path, to, "--menu", menu)["lost"] == [
        "menus are not in the new file; write them with --menu-out FILE"
    ]
    both = told("convert", path, to, "--menu", menu, "--menu-out", kept)
    assert (both["lost"], both["files"]) == ([], [str(to), str(kept)])
    assert kept.read_text() == menu.read_text()
    assert f"\nWrote {to} and 1 more.\n" in said("convert", path, to, "--menu", menu, "--menu-out", kept)


def test_one_election_per_file_holds_its_own_alternatives(tmp_path):
    path, menu = tmp_path / "b.csv", tmp_path / "menu.csv"
    path.write_text(PLAIN)
    menu.write_text("instance,alternatives\nq1,a|b\nq2,b|c\n")
    lost = "PrefLib files do not say who voted, so voters cannot be recognised across instances"
    assert told("convert", path, tmp_path / "x", "--to", "preflib", "--menu", menu)["lost"] == [lost]
    assert told("convert", path, tmp_path / "y", "--to", "preflib", "--alternatives", "a|b|c")["lost"] == [lost]
    found = told("convert", path, tmp_path / "z", "--to", "abcvoting", "--alternatives", "a|b|c")
    assert (found["lost"], len(found["files"])) == ([], 2)


@pytest.mark.parametrize(
    ("to", "start"),
    [((), "voter,instance"), (("--to", "crowd-kit"), "task,worker,label"), (("--to", "ballots"), "voter,instance")],
)
def test_conversions_on_standard_output(to, start, tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(PLAIN)
    result = run("convert", path, "-", *to, "--alternatives", "a|b|c")
    assert result.stdout.startswith(start)
    assert result.stderr.startswith("Note: alternatives that nobody ticked are not in the new file ('c')")
    one = tmp_path / "one.csv"
    one.write_text("voter,instance,alternatives\nann,q1,a\nbo,q1,b\n")
    assert run("convert", one, "-", "--to", "preflib").stdout.startswith("# ")
    assert "num_cand: 2" in run("convert", one, "-", "--to", "abcvoting").stdout


def test_gold_of_a_file_can_be_kept(tmp_path):
    path = tmp_path / "form.csv"
    path.write_text('Timestamp,Username,"Q1","Q2"\n1,ann,owl;wren,wren\n3,key,owl,wren\n')
    options = ("convert", path, tmp_path / "b.csv", "--gold-row", "key")
    assert told(*options)["lost"] == ["gold sets are not in the new file; write them with --gold-out FILE"]
    kept = told(*options, "--gold-out", tmp_path / "gold.csv")
    assert (kept["lost"], kept["files"]) == ([], [str(tmp_path / "b.csv"), str(tmp_path / "gold.csv")])
    assert (tmp_path / "gold.csv").read_text() == "instance,alternatives\nQ1,owl\nQ2,wren\n"


# evaluate


@pytest.fixture
def sets(tmp_path):
    truth, gold = tmp_path / "truth.csv", tmp_path / "gold.csv"
    truth.write_text("instance,alternatives,confidence\nq1,a,0.95\nq2,a|b,0.93\nq3,b,0.4\nq4,a,0.2\n")
    gold.write_text("instance,alternatives\nq1,a\nq2,a\nq3,b\n")
    return truth, gold


@pytest.mark.parametrize(("count", "ending"), [(10, "'i', 'j'. If"), (11, "'i', 'j' and 1 more. If")])
def test_ten_alternatives_are_named(count, ending, tmp_path):
    (tmp_path / "t.csv").write_text(
        "instance,alternatives\n" + "".join(f"q{name},{name}\n" for name in "abcdefghijk"[:count])
    )
    assert ending in said("evaluate", tmp_path / "t.csv", tmp_path / "t.csv")


def test_scores(sets, tmp_path):
    text = said("evaluate", *sets)
    lines = text.splitlines()
    assert lines[:2] == [
        "2 of 3 sets are exactly right, 0.67 (95 % CI 0.21-0.94); 4 were estimated.",
        "Alternatives found in both files: 'a', 'b'. If more were offered, name all with --alternatives or --menu.",
    ]
    accuracy, promises = tables(text)
    assert accuracy.rows[0][:3] == ["0/1", "0.667", "0.208-0.939"]
    assert accuracy.rows[1][:2] == ["Hamming", f"{fmean([1, 0.5, 1]):.3f}"]
    assert promises.rows == [
        ["40 to 50 %", "1", "40 %", "100 %", "21 to 100 %"],
        ["90 to 100 %", "2", "94.0 %", "50 %", "9 to 91 %"],
    ]
    assert promises.title == "Was the stated confidence right?"
    found = told("evaluate", *sets)
    assert [each["count"] for each in found["calibration"]] == [1, 2]
    assert found["calibration"][1]["mean_confidence"] == pytest.approx(0.94)
    stated = said("evaluate", *sets, "--alternatives", "a|b|c|d")
    assert "found in both files" not in stated
    assert tables(stated)[0].rows[1][1] == f"{fmean([1, 0.75, 1]):.3f}"
    menu = tmp_path / "menu.csv"
    menu.write_text("instance,alternatives\nq1,a|b\nq2,a|b|c\nq3,b\n")
    offered = said("evaluate", *sets, "--menu", menu)
    assert "found in both files" not in offered
    assert tables(offered)[0].rows[1][1] == f"{fmean([1, 2 / 3, 1]):.3f}"
    both = run("evaluate", *sets, "--menu", menu, "--alternatives", "a|b")
    assert (both.exit_code, "use only one of them" in both.stderr) == (1, True)


def test_sets_without_confidence_have_no_promises(sets):
    truth, gold = sets
    truth.write_text("instance,alternatives\nq1,a\nq2,a|b\nq3,b\n")
    assert len(tables(said("evaluate", truth, gold))) == 1
    assert told("evaluate", truth, gold)["calibration"] == []


# plan


@pytest.mark.parametrize(
    ("target", "needed", "last"),
    [
        (
            0.95,
            2,
            "2 ballots per instance give 95 % exactly right sets, once the voters are known and if they err independently.",
        ),
        (
            0.5,
            1,
            "1 ballot per instance gives 50 % exactly right sets, once the voters are known and if they err independently.",
        ),
        (
            0.995,
            12,
            "12 ballots per instance give 99.5 % exactly right sets, once the voters are known and if they err independently.",
        ),
        (
            0.95,
            None,
            "More than 200 ballots per instance are needed for 95 % exactly right sets, even if voters err independently.",
        ),
    ],
)
def test_a_plan(target, needed, last, monkeypatch):
    points = [
        PlanPoint(ballots, Interval(mean, mean - 0.015, mean + 0.025), Interval(0, 0, 0))
        for ballots, mean in ((1, 0.525), (2, 0.951), (200, 0.97))
    ]
    monkeypatch.setattr(estimating, "make_plan", lambda *_given, **_options: Plan(tuple(points), target, needed))
    text = said("plan", "--size", "1..2")
    (shown,) = tables(text)
    assert shown.heads == ["ballots per instance", "sets exactly right", "95 % CI"]
    assert shown.rows == [
        ["1", "52 %", "51 % to 55 %", "█" * 10],
        ["2", "95.1 %", "93.6 % to 97.6 %", "█" * 19],
        ["200", "97.0 %", "95.5 % to 99.5 %", "█" * 19],
    ]
    assert text.splitlines()[-2:] == [
        last,
        "With voters who make the same mistakes, fewer sets are right; --ballots FILE checks the plan on real ballots.",
    ]


def interval(mean):
    return Interval(mean, mean - 0.05, mean + 0.05)


MODEL = tuple(PlanPoint(k, interval(mean), interval(0)) for k, mean in ((1, 0.5), (2, 0.75), (4, 0.9)))
CROWD = tuple(PlanPoint(k, interval(mean), interval(0)) for k, mean in ((1, 0.45), (2, 0.65), (3, 0.8)))
GOLD = tuple(PlanPoint(k, interval(mean), interval(0)) for k, mean in ((1, 0.4), (2, 0.6)))
CHECKED = "Checked by leaving out ballots: 30 of 50 instances with 7 or more ballots were estimated again with fewer"
ONLY_MODEL = "per instance, only the model gives figures; it assumes that voters err independently."


@pytest.mark.parametrize(
    ("check", "target", "heads", "rows", "last"),
    [
        (
            PlanCheck(CROWD, (), 7, 30, 30, 50),
            0.8,
            ["ballots per instance", "same as all ballots", "95 % CI", "model"],
            [
                ["1", "45 %", "40 % to 50 %", "█" * 9, "50 %"],
                ["2", "65 %", "60 % to 70 %", "█" * 13, "75 %"],
                ["3", "80 %", "75 % to 85 %", "█" * 16],
                ["4", "90.0 %"],
            ],
            [
                f"{CHECKED}.",
                "All ballots together may be wrong too; --gold FILE checks against known true sets.",
                f"For more than 3 ballots {ONLY_MODEL}",
                "3 ballots per instance give the same set as all ballots on 80 % of the instances in this check.",
            ],
        ),
        (
            PlanCheck(CROWD, GOLD, 7, 30, 12, 50),
            0.9,
            ["ballots per instance", "exactly right", "95 % CI", "model"],
            [
                ["1", "40 %", "35 % to 45 %", "█" * 8, "50 %"],
                ["2", "60 %", "55 % to 65 %", "█" * 12, "75 %"],
                ["4", "90.0 %"],
            ],
            [
                f"{CHECKED}, and 12 sets compared with gold.",
                f"For more than 2 ballots {ONLY_MODEL}",
                "None of the numbers that could be checked gives 90 % exactly right sets.",
                "By the model: 4 ballots per instance give 90 % exactly right sets, once the voters are known and if they err "
                "independently.",
            ],
        ),
        (
            PlanCheck(GOLD[:1], (), 2, 50, 50, 50),
            0.4,
            ["ballots per instance", "same as all ballots", "95 % CI", "model"],
            [["1", "40 %", "35 % to 45 %", "█" * 8, "50 %"], ["2", "75 %"], ["4", "90.0 %"]],
            [
                "Checked by leaving out ballots: 50 instances with 2 or more ballots were estimated again with fewer.",
                "All ballots together may be wrong too; --gold FILE checks against known true sets.",
                f"For more than 1 ballot {ONLY_MODEL}",
                "1 ballot per instance gives the same set as all ballots on 40 % of the instances in this check.",
            ],
        ),
        (
            PlanCheck((), (), 1, 50, 50, 50),
            0.9,
            ["ballots per instance", "same as all ballots", "95 % CI", "model"],
            [["1", "50 %"], ["2", "75 %"], ["4", "90.0 %"]],
            [
                "Not checked: too many instances have a single ballot.",
                "4 ballots per instance give 90 % exactly right sets, once the voters are known and if they err independently.",
            ],
        ),
    ],
)
def test_a_checked_plan(check, target, heads, rows, last, file, monkeypatch):
    monkeypatch.setattr(estimating, "make_plan", lambda *_given, **_options: Plan(MODEL, target, 4))
    monkeypatch.setattr(estimating, "check_plan", lambda *_given, **_options: check)
    text = said("plan", "--size", "1..2", "--ballots", file)
    (shown,) = tables(text)
    assert (shown.heads, shown.rows) == (heads, rows)
    assert text.splitlines()[-len(last) :] == last
    answer = told("plan", "--size", "1..2", "--ballots", file)
    assert answer["check"]["against"] == check.against
    assert answer["check"]["needed"] == check.needed(target)
    assert len(answer["check"]["crowd"]) == len(check.crowd)
    assert len(answer["points"]) == 3


@pytest.mark.slow
def test_a_plan_is_checked_against_gold(file, tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("instance,alternatives\ni1,a1\ni2,a2\n")
    found = told("plan", "--size", "1..2", "--ballots", file, "--gold", gold)["check"]
    assert (found["against"], found["n_compared"], found["n_in_file"]) == ("gold", 2, 14)
    expected = check_plan(EM((1, 2)).fit(read_ballots(file)), {"i1": {"a1"}, "i2": {"a2"}})
    assert [point["exact"]["mean"] for point in found["gold"]] == [point.exact.mean for point in expected.gold]
    alone = run("plan", "--size", "1..2", "--gold", gold)
    assert (alone.exit_code, alone.stderr) == (
        1,
        "epivote: --gold checks a plan on ballots; give them with --ballots FILE\n",
    )
    gold.write_text("instance,alternatives\nelsewhere,a1\n")
    assert "no gold instance has a ballot" in run("plan", "--size", "1", "--ballots", file, "--gold", gold).stderr


def test_gold_of_the_file_itself_is_checked_against_too(tmp_path):
    path = tmp_path / "form.csv"
    path.write_text("who,Q1,Q2\nann,a,b\nbo,a,b\ncy,b,b\nkey,a,b\n")
    found = told("plan", "--size", "1", "--ballots", path, "--voter", "who", "--instances", "Q*", "--gold-row", "key")[
        "check"
    ]
    assert (found["against"], found["n_compared"]) == ("gold", 2)


def test_pictures_are_written_beside_the_words(file, tmp_path, monkeypatch):
    point = PlanPoint(1, Interval(0.5, 0.4, 0.6), Interval(0, 0, 0))
    monkeypatch.setattr(estimating, "make_plan", lambda *_given, **_options: Plan((point,), 0.95, 1))
    written = []
    monkeypatch.setattr(estimating, "save_plan", lambda found, path: written.append((found.needed, path)))
    monkeypatch.setattr(estimating, "save_waterfall", lambda found, path: written.append((found.instance, path)))
    said("plan", "--size", "1", "--plot", tmp_path / "plan.png")
    said("explain", file, "i2", "--size", "1..2", "--plot", tmp_path / "why.png")
    assert written == [(1, tmp_path / "plan.png"), ("i2", tmp_path / "why.png")]
    said("plan", "--size", "1")
    said("explain", file, "i2", "--size", "1..2")
    assert len(written) == 2
    for command in (("plan", "--size", "1"), ("explain", "no file", "i2", "--size", "1")):
        odd = run(*command, "--plot", tmp_path / "x.doc")
        assert (odd.exit_code, "use a name that ends in .png" in odd.stderr) == (1, True)


# explain and pack


def test_an_explanation_adds_up(file):
    fitted = EM((1, 2)).fit(read_ballots(file))
    known = fitted.explain("i3")
    assert said("explain", file, "i3", "--size", "1..2", "--method", "em") == known.to_text() + "\n"
    found = told("explain", file, "i3", "--size", "1..2", "--method", "em")
    assert found == json.loads(json.dumps(known.to_dict()))
    for account in found["accounts"]:
        assert account["margin"] == pytest.approx(account["prior"] + sum(account["pushes"].values()))


def test_what_was_packed(file, cast, tmp_path):
    ticks = sum(map(len, cast.values()))
    text = said("pack", file, "-o", tmp_path / "one")
    assert text == (
        f"Packed 6 voters, 14 instances, 4 alternatives, {len(cast)} ballots, {ticks} approvals in 1 block into "
        f"{tmp_path / 'one'}.\nNext: epivote aggregate {tmp_path / 'one'} --size 1..2 --out result\n"
    )
    assert told("pack", file, "-o", tmp_path / "two") == {
        "folder": str(tmp_path / "two"),
        "blocks": 1,
        "n_voters": 6,
        "n_instances": 14,
        "n_alternatives": 4,
        "n_ballots": len(cast),
        "n_approvals": ticks,
        "different_voters": 6,
        "remarks": [],
    }


@pytest.mark.parametrize("has_halves", [False, True])
def test_what_halves_said_is_told_to_programs_as_well(capsys, has_halves):
    ballots = Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"b"}})
    check = Reproducibility(0.5, 0.75, 0.125, 0.25, 0.0, 1.0, 60, False)
    for halves in (Halves(SizeBounds(1, 2), check if has_halves else None), None):
        inspection(Export(ballots), inspect_ballots(ballots), Path("x.csv"), halves, as_json=True)
        expected = asdict(check) if has_halves and halves is not None else None
        assert json.loads(capsys.readouterr().out)["reproducibility"] == expected
