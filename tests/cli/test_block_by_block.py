"""Commands on a packed folder: none holds more than a block of ballots, and all say what they say of the same file."""

import weakref

import polars as pl
import pytest

from epivote import (
    Ballots,
    open_packed,
    read_ballots,
    reference_crowd,
    write_ballots,
    write_packed,
    write_truths,
)
from epivote.cli import estimating
from epivote.data import packed as packed_module
from epivote.data import packing
from epivote.data.packed_block import PackedBlock
from epivote.estimate import probe, reliability, reproducibility, size_evidence, starts
from epivote.evaluate import looked_at
from epivote.formats.write import write_menu
from epivote.report import content, embedded
from reading import Page
from said import run, said, told

PER_BLOCK = 40  # ballots
TOGETHER = 3 * PER_BLOCK  # ballots of single instances, or of a sample, that may be held at once
DRAWN = reference_crowd(100, 15, 5, 2, seed=3)
CAST = {key: ticks or {"a1"} for key, ticks in DRAWN.ballots.items()}  # no empty ballots, of which readers would tell
CROWD = Ballots.from_mapping(CAST)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", PER_BLOCK)
    write_ballots(CROWD, tmp_path / "crowd.csv")
    packed = write_packed([read_ballots(tmp_path / "crowd.csv")], tmp_path / "crowd.packed")
    assert len(packed.blocks) > 10
    write_truths(DRAWN.gold, tmp_path / "gold.csv")
    return packed.folder


@pytest.fixture
def held(monkeypatch):
    """The largest numbers of ballots that were held together: in blocks as they were read, and put together."""
    alive, most = [], {"blocks": 0, "together": 0}
    read, join = PackedBlock.in_memory, packed_module.joined

    def in_memory(block, rows=None):
        found = read(block, rows)
        alive.append(weakref.ref(found))
        ballots = [each() for each in alive]
        alive[:] = [weakref.ref(each) for each in ballots if each is not None]
        most["blocks"] = max(most["blocks"], sum(each.n_ballots for each in ballots if each is not None))
        return found

    def joined(parts):
        found = join(parts)
        most["together"] = max(most["together"], found.n_ballots)
        return found

    monkeypatch.setattr(PackedBlock, "in_memory", in_memory)
    monkeypatch.setattr(packed_module, "joined", joined)
    return most


@pytest.fixture
def few(monkeypatch):
    """Samples of so few ballots or instances that they are far from all."""
    for module, name, most in (
        (looked_at, "MOST_BALLOTS", PER_BLOCK),
        (reliability, "BALLOTS_FOR_COPIES", PER_BLOCK),
        (reproducibility, "BALLOTS_CHECKED", PER_BLOCK),
        (reproducibility, "MOST_CHECKED", PER_BLOCK),
        (size_evidence, "BALLOTS_ASKED", PER_BLOCK),
        (probe, "SAMPLE_INSTANCES", 5),
        (starts, "ENOUGH_PAIRS", PER_BLOCK),
        (starts, "PAIRS_PER_VOTER", 1),
        (estimating, "MOST_AHEAD", 5),
        (embedded, "MOST_INSTANCES", 8),
        (content, "DOUBTS_SHOWN", 5),
    ):
        monkeypatch.setattr(module, name, most)


COMMANDS = {
    "inspect": ("inspect", "{folder}"),
    "inspect with bounds": ("inspect", "{folder}", "--size", "1..2"),
    "aggregate": ("aggregate", "{folder}", "--size", "1..2", "--method", "amle", "--out", "{out}/all"),
    "aggregate to a pipe": ("aggregate", "{folder}", "--size", "1..2", "--method", "amle", "--out", "-"),
    "aggregate with report": (
        "aggregate",
        "{folder}",
        "--size",
        "1..2",
        "--method",
        "amle",
        "--report",
        "{out}/r.html",
    ),
    "aggregate with gold": (
        "aggregate",
        "{folder}",
        "--size",
        "1..2",
        "--method",
        "amle",
        "--gold",
        "{gold}",
        "--json",
    ),
    "report": ("report", "{folder}", "--size", "1..2", "--method", "em", "-o", "{out}/r.html", "--gold", "{gold}"),
    "report of a rule": ("report", "{folder}", "--size", "1..2", "-o", "{out}/r.html", "--method", "approval"),
    "report without names": (
        "report",
        "{folder}",
        "--size",
        "1..2",
        "-o",
        "{out}/r.html",
        "--method",
        "amle",
        "--anonymize",
    ),
    "review": ("review", "{folder}", "--size", "1..2", "--method", "amle", "-o", "{out}/review.csv"),
    "explain": ("explain", "{folder}", CROWD.instances[40], "--size", "1..2"),
    "gold": ("gold", "{folder}", "--size", "1..2", "-o", "{out}/answer.csv"),
    "plan": ("plan", "--ballots", "{folder}", "--size", "1..2"),
    "convert to CSV": ("convert", "{folder}", "{out}/b.csv", "--menu-out", "{out}/menu.csv"),
    "convert to a pipe": ("convert", "{folder}", "-"),
    "convert to Parquet": ("convert", "{folder}", "{out}/b.parquet"),
    "convert to JSONL": ("convert", "{folder}", "{out}/b.jsonl"),
    "convert to crowd-kit": ("convert", "{folder}", "{out}/b.csv", "--to", "crowd-kit"),
    "convert to elections": ("convert", "{folder}", "{out}/abc", "--to", "abcvoting"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("few")
def test_no_command_holds_more_than_a_block(folder, held, tmp_path, monkeypatch, name):
    if name == "plan":  # it draws as many instances as it is told, and compares them one number of ballots at a time
        monkeypatch.setattr("epivote.planning.check_plan.__kwdefaults__", {"instances": 5, "seed": 0})
    names = {"folder": folder, "out": tmp_path, "gold": tmp_path / "gold.csv"}
    result = run(*(each.format(**names) for each in COMMANDS[name]))
    assert result.exit_code == 0, result.output
    assert 0 < held["blocks"] <= 2 * PER_BLOCK, "the last block may live until the next one is read"
    assert held["together"] <= TOGETHER


def test_the_count_of_what_is_held_sees_everything(folder, held):
    open_packed(folder).in_memory()
    assert held == {"blocks": CROWD.n_ballots, "together": CROWD.n_ballots}


# The same as of a file


@pytest.fixture
def both(folder, tmp_path):
    """The same ballots as a packed folder and as a file, and what to say about reading and estimating them.

    AMLE counts whole numbers, so that nothing may differ by rounding.
    """
    return (folder, tmp_path / "crowd.csv"), ("--size", "1..2", "--method", "amle")


def test_what_is_found_in_ballots_is_the_same(both):
    (packed, file), _ = both
    one, other = (told("inspect", each, "--size", "1..2") for each in (packed, file))
    assert (one.pop("format"), other.pop("format")) == ("packed", "ballots")
    assert one == other
    assert one["agreement"]["sampled"] is None


@pytest.mark.parametrize("gold", [(), ("--gold", "gold.csv"), ("--gold", "gold.csv", "--gold-use", "learn")])
def test_reports_are_the_same(both, tmp_path, monkeypatch, gold):
    monkeypatch.chdir(tmp_path)
    (packed, file), how = both
    pages = []
    for number, source in enumerate((packed, file)):
        said("report", source, *how, *gold, "-o", tmp_path / f"{number}.html")
        pages.append(Page(tmp_path / f"{number}.html"))
    assert pages[0].data == pages[1].data
    for page in pages:
        page.texts = page.root.one("main").text().partition("How this was computed")[0]
    assert pages[0].texts == pages[1].texts
    assert len(pages[0].texts) > 1000


@pytest.mark.parametrize("most", [10, 90])
def test_a_report_of_many_instances_has_the_most_doubtful_and_a_sample(both, tmp_path, monkeypatch, most):
    monkeypatch.setattr(embedded, "MOST_INSTANCES", most)
    (packed, file), how = both
    for number, source in enumerate((packed, file)):
        said("report", source, *how, "-o", tmp_path / f"{number}.html")
    one, other = (Page(tmp_path / f"{number}.html") for number in range(2))
    assert one.data == other.data
    found = pl.DataFrame(told("aggregate", file, *how)["truth"]).sort("confidence")
    doubtful = min((found["confidence"] < 0.95).sum(), most - most // 10)
    names = set(one.data["instances"]["names"])
    assert len(names) == most
    assert set(found["instance"][:doubtful]) <= names
    assert names != set(found["instance"][:most])
    words = f"The page holds {most} of 100 instances: the {doubtful} most doubtful and a random sample of"
    assert f"{words} {most - doubtful} others (seed 0)." in one.root.text()
    assert f"{(found['confidence'] >= 0.95).sum()} of 100" in one.root.text(), "all instances are counted"


@pytest.mark.parametrize(
    "command", [("review", "--threshold", "0.9"), ("explain", CROWD.instances[40]), ("plan", "--ballots")]
)
def test_what_is_said_is_the_same(both, command):
    sources, how = both
    name, *rest = command
    if name == "plan":
        told_of = [told(name, *rest, each, "--size", "1..2") for each in sources]
    else:
        told_of = [told(name, each, *rest, *how) for each in sources]
    assert told_of[0] == told_of[1]


def test_the_instances_to_answer_are_the_same(both, tmp_path):
    sources, how = both
    for number, source in enumerate(sources):
        said("gold", source, *how, "-o", tmp_path / f"{number}.csv", "--seed", 5)
    assert (tmp_path / "0.csv").read_text() == (tmp_path / "1.csv").read_text()


def test_sets_in_a_pipe_are_those_of_the_file(both):
    sources, how = both
    one, other = (said("aggregate", each, *how, "--out", "-") for each in sources)
    assert one == other
    assert one.count("\n") == 101


def test_gold_that_was_kept_aside_is_scored(both, tmp_path):
    sources, how = both
    gold = ("--gold", tmp_path / "gold.csv")
    one, other = (told("aggregate", each, *how, *gold)["accuracy"] for each in sources)
    assert one == other
    assert one["n_instances"] == 100
    shown = said("aggregate", sources[0], *how, *gold)
    assert "Scored against gold (not used for fitting): " in shown
    (tmp_path / "other.csv").write_text("instance,alternatives\nnowhere,x\n")
    result = run(
        "aggregate", sources[0], *how, "--gold", tmp_path / "other.csv", "--gold-use", "score", "--out", tmp_path / "o"
    )
    assert "no gold instance has a ballot; gold has 'nowhere', the ballots " in result.stderr
    assert not (tmp_path / "o").exists()


# Conversion


def with_menus():
    """Twelve instances that offer different alternatives, and voters who stand for several."""
    menu = {f"z{z}": [f"a{(z + k) % 7}" for k in range(2 + z % 4)] for z in range(12)}
    cast = {(f"v{i}", name): names[: (i + k) % 3] for k, (name, names) in enumerate(menu.items()) for i in range(3)}
    return Ballots.from_mapping(cast, menu=menu, multiplicities={"v1": 4})


@pytest.mark.parametrize("ballots", [CROWD, with_menus()], ids=["plain", "menus"])
@pytest.mark.parametrize("target", ["b.csv", "b.tsv", "b.jsonl", "b.parquet", "k.csv", "abc", "cat"])
def test_conversions_are_those_of_ballots_in_memory(tmp_path, monkeypatch, held, ballots, target):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 7)
    packed = write_packed([ballots], tmp_path / "packed")
    to = {"k.csv": "crowd-kit", "abc": "abcvoting", "cat": "preflib"}.get(target)
    for name, source in (("one", packed), ("other", ballots)):
        write_ballots(source, tmp_path / name / target, format=to)
        write_menu(source, tmp_path / name / "menu.csv")
    assert held["together"] == 0
    one, other = (sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in ("one", "other"))
    assert [path.name for path in one] == [path.name for path in other]
    for mine, theirs in zip(one, other, strict=True):
        if target == "b.parquet" and mine.name == target:
            assert pl.read_parquet(mine).equals(pl.read_parquet(theirs))
        else:
            assert mine.read_bytes() == theirs.read_bytes()
    assert all(not path.name.startswith(".") for path in tmp_path.rglob("*"))


def test_a_lone_tick_with_a_comma_is_closed_whatever_the_block(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 1)
    for ticks, written in (({"a, b"}, '"a, b|"'), ({"a, b", "c"}, '"a, b"')):
        ballots = Ballots.from_mapping({("v", "y"): {"a, b"}, ("v", "z"): ticks}, alternatives=["a, b", "c"])
        folder = tmp_path / str(len(ticks))
        write_ballots(write_packed([ballots], folder), tmp_path / "b.csv")
        assert (tmp_path / "b.csv").read_text().splitlines()[1] == f"v,y,{written}"
