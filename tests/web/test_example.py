"""The quiz of hidden shapes: what its generator makes, filled in by bots, exported and aggregated."""

import asyncio
import csv
import shlex
import shutil
import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

from asking import organiser
from epivote import read_truths
from epivote.cli import app
from epivote.web.site import Settings
from examples.crowd.people import KINDS, crowd
from examples.crowd.served import serving
from examples.shapes.answers import HERE, QUIZ, answers, look_of, picture_of
from examples.shapes.draw import SHAPES
from examples.shapes.make_shapes import make
from examples.shapes.serve import fill_in
from in_process import until
from listening import serving_here
from patience import apart
from watching import DESKTOP, PHONE, barriers, device, overflow


@pytest.mark.slow
def test_the_carried_pictures_are_what_their_generator_makes(tmp_path):
    make(tmp_path)
    made = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.*")}
    carried = {name: (HERE / name).read_text() for name in made}
    assert made == carried
    assert len(list((HERE / "pictures").iterdir())) == 24


def test_the_quiz_asks_about_every_picture():
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


def answer_without_pages(served, people, rng):
    """Ballots of simulated people, put where the pages would put them."""
    truths = answers()
    for nickname, answer in people:
        person = served.store.join(nickname, "")
        for instance in read_truths(HERE / "gold.csv"):
            ticks = answer(truths[look_of(instance)], len(SHAPES), rng)
            if ticks is not None:
                served.store.answer(person.id, instance, [SHAPES[k] for k in sorted(ticks)])


@pytest.fixture(
    scope="module", params=[pytest.param((5, 20), id="few"), pytest.param((40, 40), id="many", marks=pytest.mark.slow)]
)
def filled_in(request, tmp_path_factory):
    """The example after so many bots, some of whom used the pages: the quiz, its folder, these, and how many there are."""
    by_pages, everybody = request.param
    folder = tmp_path_factory.mktemp("shapes")
    with serving_here(QUIZ, f"sqlite:///{folder / 'shapes.db'}") as served:
        others = [(f"quiet {name}", answer) for name, answer in crowd(everybody, np.random.default_rng(3))[by_pages:]]
        answer_without_pages(served, others, np.random.default_rng(4))
        people = apart(asyncio.run, fill_in(served, by_pages, 0.02, np.random.default_rng(1)))
        yield served, folder, people, everybody
        assert served.failures == []


@pytest.mark.slow
def test_every_bot_has_answered(filled_in):
    served, _, people, everybody = filled_in
    assert all(len(person.acknowledged) > 15 for person in people)
    assert len({row["voter"] for row in ballots_of(served)}) == everybody
    kept = [(row["voter"], look_of(row["instance"])) for row in ballots_of(served)]
    for person in people:
        assert {picture for voter, picture in kept if voter == person.nickname} == set(person.acknowledged)


def ballots_of(served):
    with organiser(served) as boss:
        return list(csv.DictReader(boss.get("/organiser/export/ballots.csv").text.splitlines()))


def run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_command_finds_the_same_sets_as_the_live_page(filled_in, monkeypatch):
    """The printed command, run on the exported files; nothing is known of the quiz but what they say."""
    served, folder, _, everybody = filled_in
    ballots = folder / "ballots.csv"
    told = run("collect", "export", QUIZ, "--database", f"sqlite:///{folder / 'shapes.db'}", "-o", ballots)
    command = next(line for line in told.splitlines() if "epivote aggregate" in line)
    monkeypatch.chdir(folder)
    run(*shlex.split(command[command.index("aggregate") :]), "--out", "result")
    with organiser(served) as boss:
        assert boss.get("/organiser/export/ballots.csv").text == ballots.read_text()
        live = settled(boss, len(ballots_of(served)))
    assert live == truth((folder / "result" / "truth.csv").read_text())
    gold = read_truths(HERE / "gold.csv")
    right = sum(frozenset(live[name]) == shapes for name, shapes in gold.items())
    assert right >= 18 + everybody // 10, "bots err, together they see well"


def settled(boss, ballots):
    """The sets of the live page, once they are those of so many ballots."""
    board = until(lambda: shown if counted(shown := boss.get("/organiser/live").json()) == ballots else None)
    return {row["name"]: sorted(row["answer"]) for row in board["sets"]}


def counted(board) -> int:
    """How many ballots the sets of a live page rest on."""
    return sum(row["ballots"] for row in board["sets"])


def truth(text) -> dict[str, list[str]]:
    return {row["instance"]: sorted(row["alternatives"].split("|")) for row in csv.DictReader(text.splitlines())}


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.slow),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_the_live_page_of_a_crowd_can_be_used_by_everybody(browser, filled_in, scheme, width):
    served, _, _, everybody = filled_in
    with device(browser, served, color_scheme=scheme, **width) as page:
        page.goto(served.organiser)
        page.locator("#map .dot").nth(everybody - 1).wait_for(state="attached")
        assert barriers(page) == []
        assert overflow(page) <= 0


@pytest.fixture
def doubtful_first(tmp_path):
    """The quiz with the most doubtful first, no more than twelve ballots on a picture, none where the set is sure."""
    shutil.copytree(HERE, tmp_path / "shapes")
    quiz = tmp_path / "shapes" / "quiz.toml"
    told = QUIZ.read_text().replace('order = "shuffled"', 'order = "doubtful"\nconfidence = 0.99\nmost_ballots = 12')
    quiz.write_text(told)
    return quiz


@pytest.mark.slow
def test_the_next_bot_is_asked_only_what_is_doubtful(doubtful_first, tmp_path):
    with serving_here(doubtful_first, f"sqlite:///{tmp_path / 'shapes.db'}", Settings(estimate_every=0.3)) as served:
        answer_without_pages(served, crowd(11, np.random.default_rng(3)), np.random.default_rng(4))
        with organiser(served) as boss:
            settled(boss, len(ballots_of(served)))
            board = boss.get("/organiser/live").json()
        gold = {look_of(row["name"]) for row in board["sets"] if row["gold"]}
        sure = {look_of(row["name"]) for row in board["sets"] if row["settled"]} - gold
        (person,) = apart(asyncio.run, fill_in(served, 1, 0.0, np.random.default_rng(2)))
    asked = {*person.seen.values()} & answers().keys()
    assert sure, "nothing would be left out"
    assert len(sure) < len(answers()) - len(gold), "nothing would be asked"
    assert asked >= gold
    assert not asked & sure
    assert served.failures == []


@pytest.mark.slow
def test_nobody_is_asked_where_the_answer_is_clear(doubtful_first, tmp_path):
    """Fewer ballots are cast, though who has a question on the screen may answer it."""
    with serving(doubtful_first, "--port", "0", log=tmp_path / "log") as served:
        people = apart(asyncio.run, fill_in(served, 30, 0.1, np.random.default_rng(2)))
        ballots = [picture for person in people for picture in person.acknowledged]
        with organiser(served) as boss:
            board = boss.get("/organiser/live").json()
    counts = {picture: ballots.count(picture) for picture in answers()}
    gold = {look_of(row["name"]) for row in board["sets"] if row["gold"]}
    others = [count for picture, count in counts.items() if picture not in gold]
    assert all(counts[picture] > 20 for picture in gold), "gold questions are asked of everybody"
    assert sum(others) < 0.7 * 30 * len(others), "few more are asked"
    assert any(row["settled"] for row in board["sets"])
