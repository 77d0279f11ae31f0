"""The quiz of hidden shapes: what its generator makes, filled in by bots, exported and aggregated."""

import asyncio
import csv
import shlex
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from asking import apart, organiser
from epivote import read_truths
from examples.crowd.people import KINDS, crowd
from examples.crowd.served import serving
from examples.shapes.answers import HERE, QUIZ, answers, picture_of
from examples.shapes.draw import SHAPES
from examples.shapes.make_shapes import make
from examples.shapes.serve import fill_in
from watching import DESKTOP, PHONE, barriers, device, overflow


def test_the_carried_pictures_are_what_their_generator_makes(tmp_path):
    make(tmp_path)
    made = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.*")}
    carried = {name: (HERE / name).read_text() for name in made}
    assert made == carried
    assert len(list((HERE / "pictures").iterdir())) == 24


def test_the_quiz_asks_about_every_picture():
    import tomllib

    told = tomllib.loads(QUIZ.read_text())
    assert tuple(each["name"] for each in told["alternatives"]) == SHAPES
    gold = read_truths(HERE / "gold.csv")
    assert [each["name"] for each in told["instances"]] == list(gold)
    assert all(each["picture"] == picture_of(each["name"]) for each in told["instances"])
    assert all(frozenset(each["gold"]) == gold[each["name"]] for each in told["instances"] if "gold" in each)
    sizes = [len(shapes) for shapes in answers().values()]
    assert (sizes.count(1), sizes.count(2)) == (12, 12)


def test_a_crowd_has_all_kinds_in_their_shares():
    people = crowd(40, np.random.default_rng(0))
    kinds = [name.rsplit("-", 1)[0] for name, _ in people]
    assert {kind: kinds.count(kind) for kind in KINDS} == {kind: 2 * share for kind, (share, _) in KINDS.items()}
    assert len({name for name, _ in people}) == 40


@pytest.fixture(scope="module")
def filled_in(tmp_path_factory):
    """The example after forty bots: the running quiz, its folder, its participants."""
    folder = tmp_path_factory.mktemp("shapes")
    database = f"sqlite:///{folder / 'shapes.db'}"
    with serving(QUIZ, "--database", database, "--port", "0", log=folder / "log") as served:
        people = apart(asyncio.run, fill_in(served, 40, 0.02, np.random.default_rng(1)))
        yield served, folder, people


def test_every_bot_has_answered(filled_in):
    _, _, people = filled_in
    assert len(people) == 40
    assert sum(len(person.acknowledged) for person in people) > 900


def run(*arguments, folder=None):
    command = [sys.executable, "-m", "epivote", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_finds_the_same_sets_as_the_live_page(filled_in):
    """The printed command, run on the exported files; nothing is known of the quiz but what they say."""
    served, folder, people = filled_in
    ballots = folder / "ballots.csv"
    told = run("collect", "export", QUIZ, "--database", f"sqlite:///{folder / 'shapes.db'}", "-o", ballots)
    command = next(line for line in told.splitlines() if "epivote aggregate" in line)
    run(*shlex.split(command[command.index("aggregate") :]), "--out", "result", folder=folder)
    sent = sum(len(person.acknowledged) for person in people)
    with organiser(served) as boss:
        assert boss.get("/organiser/export/ballots.csv").text == ballots.read_text()
        live = settled(boss, sent)
    assert live == truth((folder / "result" / "truth.csv").read_text())
    gold = read_truths(HERE / "gold.csv")
    assert sum(frozenset(live[name]) == shapes for name, shapes in gold.items()) >= 22, (
        "bots err, together they see well"
    )


def settled(boss, ballots):
    """The sets of the live page, once they are those of so many ballots."""
    for _ in range(600):
        board = boss.get("/organiser/live").json()
        if sum(row["ballots"] for row in board["sets"]) == ballots:
            return {row["name"]: sorted(row["answer"]) for row in board["sets"]}
        time.sleep(0.1)
    raise TimeoutError(f"the live page never showed all {ballots} ballots")


def truth(text) -> dict[str, list[str]]:
    return {row["instance"]: sorted(row["alternatives"].split("|")) for row in csv.DictReader(text.splitlines())}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_live_page_of_a_crowd_can_be_used_by_everybody(browser, filled_in, scheme, width):
    served, _, _ = filled_in
    with device(browser, served, color_scheme=scheme, **width) as page:
        page.goto(served.organiser)
        page.locator("#map .dot").nth(39).wait_for(state="attached")
        assert barriers(page) == []
        assert overflow(page) <= 0


def test_nobody_is_asked_where_the_answer_is_clear(tmp_path):
    """Most doubtful first, no more than twelve ballots on a picture, none where the set is sure: fewer ballots are cast."""
    shutil.copytree(HERE, tmp_path / "shapes")
    quiz = tmp_path / "shapes" / "quiz.toml"
    told = QUIZ.read_text().replace('order = "shuffled"', 'order = "doubtful"\nconfidence = 0.99\nmost_ballots = 12')
    quiz.write_text(told)
    with serving(quiz, "--port", "0", log=tmp_path / "log") as served:
        people = apart(asyncio.run, fill_in(served, 30, 0.1, np.random.default_rng(2)))
        ballots = [picture for person in people for picture in person.acknowledged]
        with organiser(served) as boss:
            board = boss.get("/organiser/live").json()
    counts = {picture: ballots.count(picture) for picture in answers()}
    gold = {picture_of(row["name"]) for row in board["sets"] if row["gold"]}
    others = [count for picture, count in counts.items() if picture not in gold]
    assert all(counts[picture] > 20 for picture in gold), "gold questions are asked of everybody"
    assert sum(others) < 0.7 * 30 * len(others), (
        "who has a question on the screen may answer it, but few more are asked"
    )
    assert any(row["settled"] for row in board["sets"])
