import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from epivote import EM, Truths, __version__, read_ballots, simulate, write_ballots, write_truths
from epivote.cli import app
from patience import in_time, read_until

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BIRDS, GOLD = EXAMPLES / "birds.csv", EXAMPLES / "birds-gold.csv"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_aggregate_prints_sets_and_voters():
    result = run("aggregate", BIRDS, "--size", "1..2")
    assert result.exit_code == 0
    assert "24 voters, 24 instances, 5 alternatives" in result.stdout
    assert "picture 6 " in result.stdout
    assert "everything-2" in result.stdout
    assert "--out result" in result.stdout
    assert "\x1b" not in result.stdout, "no colours when the output is piped"


def test_aggregate_writes_all_files(tmp_path):
    result = run("aggregate", BIRDS, "--size", "1..2", "--out", tmp_path / "result")
    assert result.exit_code == 0
    assert sorted(file.name for file in (tmp_path / "result").iterdir()) == [
        "alternatives.csv",
        "inclusion.csv",
        "truth.csv",
        "voters.csv",
    ]
    assert "Wrote truth.csv, voters.csv, alternatives.csv, inclusion.csv to" in result.stdout


@pytest.mark.parametrize("method", ["em", "amle", "majority", "modal", "approval", "size-approval"])
def test_aggregate_as_json_with_every_method(method):
    result = run("aggregate", BIRDS, "--size", "1..2", "--method", method, "--json")
    found = json.loads(result.stdout)
    assert (found["method"], found["size"], found["status"]) == (method, "1..2", "converged")
    rated = method in ("amle", "em")
    assert len(found["truth"]) == 24
    assert all(1 <= len(row["alternatives"]) <= 2 for row in found["truth"])
    assert (found["truth"][0]["confidence"] is None) == (not rated)
    assert len(found["voters"]) == 24
    assert len(found["inclusion"]) == (24 * 5 if rated else 0)
    assert len(found["reliability"]) == (24 if rated else 0)


def test_json_is_what_the_library_finds():
    found = json.loads(run("aggregate", BIRDS, "--size", "1..2", "--json").stdout)
    fitted = EM((1, 2)).fit(read_ballots(BIRDS))
    assert [row["confidence"] for row in found["truth"]] == fitted.confidence_.tolist()
    assert [row["hit_rate"] for row in found["voters"]] == fitted.parameters_.hit_rates.tolist()
    assert (found["log_likelihood"], found["objective"]) == (fitted.log_likelihood_, fitted.log_likelihoods_[-1])


def test_sizes_of_single_instances(tmp_path):
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("instance,size\npicture 1,2\npicture 2,2..3\n")
    found = json.loads(run("aggregate", BIRDS, "--size", "1", "--sizes", sizes, "--json").stdout)
    assert [len(row["alternatives"]) for row in found["truth"][:3]] == [2, 2, 1]
    sizes.write_text("instance,size\npicture 1,two\n")
    assert "sizes.csv, line 2: 'two' is not a size" in run("aggregate", BIRDS, "--size", "1", "--sizes", sizes).stderr


def test_auto_says_which_method_it_took_and_why(tmp_path):
    assert "Method em: few instances, where AMLE" in run("aggregate", BIRDS, "--size", "1..2", "--all").stdout
    sparse = tmp_path / "sparse.csv"
    crowd = simulate(instances=200, voters=50, alternatives=4, bounds=(1, 2), ballots_per_instance=5, seed=1)
    write_ballots(crowd.ballots, sparse)
    why = "Method em: voters voted on 10 % of the instances, less than AMLE needs"
    assert why in run("aggregate", sparse, "--size", "1..2").stdout
    assert why in run("aggregate", sparse, "--size", "1..2", "--all").stdout


def test_gold_is_kept_and_reported_apart(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("".join(GOLD.read_text().splitlines(keepends=True)[:9]))
    result = run("aggregate", BIRDS, "--size", "1..2", "--gold", gold)
    assert result.exit_code == 0
    assert "confidence is calibrated with 8 gold" in result.stdout
    assert "Gold sets left out in turn: " in result.stdout
    found = json.loads(run("aggregate", BIRDS, "--size", "1..2", "--gold", gold, "--json").stdout)
    assert found["gold"] == sorted(f"picture {z}" for z in range(1, 9))
    assert [row["confidence"] for row in found["truth"][:8]] == [1.0] * 8


def test_an_upside_down_crowd_is_said(tmp_path):
    path = tmp_path / "b.csv"
    crowd = simulate(
        instances=200, voters=8, alternatives=5, bounds=1, hit_rates=0.1, false_alarm_rates=0.7, priors=0.2
    )
    write_ballots(crowd.ballots, path)
    assert (
        "Warning: most ballots come from voters who seem to be worse than"
        in run("aggregate", path, "--size", "1").stdout
    )


def test_explain_in_words_numbers_and_pictures(tmp_path):
    result = run("explain", BIRDS, "picture 4", "--size", "1..2", "--plot", tmp_path / "why.png")
    assert result.exit_code == 0
    assert "picture 4: {blackbird, robin}" in result.stdout
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads(run("explain", BIRDS, "picture 4", "--size", "1..2", "--json").stdout)
    for account in told["accounts"]:
        assert account["margin"] == pytest.approx(account["prior"] + sum(account["pushes"].values()))
    assert "'picture 44' is not an instance (did you mean" in run("explain", BIRDS, "picture 44", "--size", "1").stderr
    assert "cannot explain its sets" in run("explain", BIRDS, "picture 4", "--size", "1", "--method", "modal").stderr
    odd = run("explain", BIRDS, "picture 4", "--size", "1", "--plot", tmp_path / "why.doc")
    assert "use a name that ends in .png, .svg or .pdf" in odd.stderr


def test_alternatives_and_menus_can_be_stated(tmp_path):
    ballots, menu = tmp_path / "ballots.csv", tmp_path / "menu.csv"
    ballots.write_text("voter,instance,alternatives\nann,q1,a\nbo,q1,a|b\nann,q2,b\nbo,q2,\n")
    menu.write_text("instance,alternatives\nq1,a|b\nq2,b|c|d\n")
    found = json.loads(run("aggregate", ballots, "--size", "1", "--alternatives", "a|b|z", "--json").stdout)
    assert [row["alternative"] for row in found["alternatives"]] == ["a", "b", "z"]
    found = json.loads(run("aggregate", ballots, "--size", "1", "--menu", menu, "--json").stdout)
    assert [(row["instance"], row["alternative"]) for row in found["inclusion"]] == [
        ("q1", "a"),
        ("q1", "b"),
        ("q2", "b"),
        ("q2", "c"),
        ("q2", "d"),
    ]


def test_evaluate_says_how_many_sets_are_right(tmp_path):
    run("aggregate", BIRDS, "--size", "1..2", "--out", tmp_path)
    result = run("evaluate", tmp_path / "truth.csv", GOLD)
    assert result.exit_code == 0
    assert "of 24 sets are exactly right" in result.stdout
    assert "Hamming" in result.stdout
    found = json.loads(run("evaluate", tmp_path / "truth.csv", GOLD, "--json").stdout)
    assert found["n_instances"] == 24
    assert set(found["zero_one"]) == {"mean", "low", "high"}


def test_evaluate_counts_alternatives_that_nobody_chose(tmp_path):
    write_truths(Truths.from_mapping({"q": {"a"}}), tmp_path / "truth.csv")
    write_truths(Truths.from_mapping({"q": {"b"}}), tmp_path / "gold.csv")
    files = (tmp_path / "truth.csv", tmp_path / "gold.csv", "--json")
    assert json.loads(run("evaluate", *files).stdout)["hamming"]["mean"] == 0
    assert json.loads(run("evaluate", *files, "--alternatives", "a|b|c|d").stdout)["hamming"]["mean"] == 0.5
    (tmp_path / "menu.csv").write_text("instance,alternatives\nq,a|b|c\n")
    assert json.loads(run("evaluate", *files, "--menu", tmp_path / "menu.csv").stdout)["hamming"]["mean"] == 1 / 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("aggregate", "nowhere.csv", "--size", "1"), "epivote: nowhere.csv does not exist\n"),
        (
            ("aggregate", BIRDS, "--size", "one"),
            "epivote: 'one' is not a size; write 2, 1..2 or 1.. (no upper bound)\n",
        ),
        (("aggregate", BIRDS, "--size", "2..1"), "(2, 1) allow no set"),
        (("aggregate", BIRDS, "--size", "9"), "instance 'picture 1' offers 5 alternatives"),
        (("aggregate", BIRDS, "--size", "1", "--alternatives", "wren|robin"), "is not an alternative"),
        (("aggregate", BIRDS, "--size", "1", "--alternatives", "a||b"), "--alternatives 'a||b' has an empty name"),
        (("aggregate", BIRDS, "--size", "1", "--out", BIRDS / "x"), "cannot write"),
        (("evaluate", GOLD, "nowhere.csv"), "nowhere.csv does not exist"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_1(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_bad_usage_gets_exit_code_2():
    assert run("aggregate", BIRDS).exit_code == 2
    assert run("aggregate", BIRDS, "--size", "1", "--method", "guess").exit_code == 2


def test_version_and_help():
    assert run("--version").stdout == f"epivote {__version__}\n"
    for command in ("aggregate", "evaluate", "explain"):
        assert command in run("--help").stdout
        assert f"Example: epivote {command}" in run(command, "--help").stdout


def test_markup_in_names_stays_text(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("voter,instance,alternatives\n[red]ann[/red],[b]q[/b],[i]a[/i]\n")
    result = run("aggregate", path, "--size", "1")
    assert "[red]ann[/red]" in result.stdout
    assert "[b]q[/b]" in result.stdout
    assert "[i]a[/i]" in result.stdout


def test_interrupting_a_long_run_keeps_the_best_so_far(tmp_path):
    path = tmp_path / "ballots.csv"
    crowd = simulate(instances=6_000, voters=300, alternatives=30, bounds=(1, 4), ballots_per_instance=4, spammers=0.5)
    write_ballots(crowd.ballots, path)
    code = (
        "import sys; from epivote.estimate.workload import Workload; old = Workload.hard_step; steps = []\n"
        "def told(self, parameters, **options):\n"
        "    print('step', file=sys.stderr, flush=True); steps.append(parameters)\n"
        "    while len(steps) > 2:\n"
        "        old(self, parameters, **options)\n"
        "    return old(self, parameters, **options)\n"
        "Workload.hard_step = told\n"
        "from epivote.cli import app; app()"
    )
    command = [sys.executable, "-c", code, "aggregate", str(path), "--size", "1..4"]
    command += ["--method", "amle", "--out", str(tmp_path / "out")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with in_time(subprocess.Popen(command, env=os.environ, **pipes)) as process:
        for _ in range(3):
            read_until(process.stderr, "step")
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
    assert process.returncode == 130
    assert "interrupted after" in output
    assert "these are the best sets so far" in output
    assert len((tmp_path / "out" / "truth.csv").read_text().splitlines()) == 6_001


@pytest.mark.parametrize("command", [("aggregate",), ("report",), ("explain", "picture 4")])
def test_without_a_size_the_error_names_what_the_ballots_suggest(command, tmp_path):
    name, *rest = command
    result = run(name, BIRDS, *rest)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "epivote: --size is missing; add --size 1..5 if that is what the task allows (the middle 90 % of the ballots have "
        "0 to 5 ticks, and few instances have mostly empty ballots)\n"
    )


def test_without_a_size_a_packed_folder_suggests_one_too(tmp_path):
    run("pack", BIRDS, "-o", tmp_path / "packed")
    assert "--size is missing; add --size 1..5 if" in run("aggregate", tmp_path / "packed").stderr


def test_bounds_that_the_ballots_contradict_are_warned_about(tmp_path):
    words = "91 % of the ballots have a size that the size bounds 5 forbid, while bounds of 1 would allow 32 % of them; check"
    page = tmp_path / "page.html"
    shown = run("aggregate", BIRDS, "--size", "5", "--report", page).stdout
    assert f"\nWarning: {words} the size bounds.\n" in shown.split("voters are suspicious")[0].replace(
        "\n", " "
    ).replace(" Warning", "\nWarning").replace("size bounds. ", "size bounds.\n")
    assert page.read_text().replace("\u00a0", " ").count(words) == 1
    assert any(
        note.startswith(words) for note in json.loads(run("aggregate", BIRDS, "--size", "5", "--json").stdout)["notes"]
    )
    assert "size bounds" not in run("aggregate", BIRDS, "--size", "1..2").stdout
    run("pack", BIRDS, "-o", tmp_path / "packed")
    found = run("aggregate", tmp_path / "packed", "--size", "5").stdout
    assert "Warning: 91 % of the ballots have a size that the size bounds 5 forbid" in found
