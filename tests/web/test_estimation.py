"""What the crowd says, found beside the requests; the export finds the same."""

import asyncio
import csv
import io
import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import pytest
from few_rows import FewRows, written
from typer.testing import CliRunner

from epivote import FlagKind, rank_participants, simulate
from epivote.cli import app as command
from epivote.web.estimation.collected import ballots_of, usable
from epivote.web.estimation.estimate import fit, live
from epivote.web.estimation.gathered import gather
from epivote.web.estimation.live import MANY
from epivote.web.estimation.runner import Estimation
from epivote.web.exporting import export
from epivote.web.ranking import places, reference
from epivote.web.store import BallotRow
from epivote.web.task import Alternative, Instance, Task
from epivote.web.views.board import board_of
from in_process import app_of, organiser, store_of, until


def drawn(seed=3, gold=(), menus=False, sizes=False, **options):
    """A task, and rows of a simulated crowd that answered it."""
    crowd = simulate(instances=12, voters=15, alternatives=5, bounds=(1, 2), coverage=0.7, spammers=0.2, seed=seed)
    alternatives = tuple(Alternative(name) for name in reversed(crowd.ballots.alternatives))
    from pathlib import Path

    from epivote import SizeBounds

    instances = tuple(
        Instance(
            name,
            tuple(
                each
                for each in alternatives
                if not menus or number % 3 or each.name in crowd.gold[name] or each.name < "a4"
            ),
            SizeBounds(len(crowd.gold[name]), 2) if sizes and number % 4 == 0 else SizeBounds(1, 2),
            text="?",
            gold=crowd.gold[name] if name in gold or gold == "all" else None,
        )
        for number, name in enumerate(crowd.ballots.instances)
    )
    task = Task("Drawn", Path(), SizeBounds(1, 2), alternatives, instances, **options)
    cast = list(crowd.ballots.items())
    rows = [
        BallotRow(
            voter, voter != "v3", name, tuple(n for n in task.by_name[name].menu if n in ticks), 1_000_000 * number
        )
        for number, ((voter, name), ticks) in enumerate(Random(seed).sample(cast, len(cast)))
    ]
    return task, rows, crowd


CASES = {
    "plain": {},
    "gold": {"gold": ("i2", "i5")},
    "all gold": {"gold": "all"},
    "menus": {"menus": True},
    "sizes": {"sizes": True},
    "everything": {"gold": ("i2",), "menus": True, "sizes": True},
    "amle": {"method": "amle", "gold": ("i1",)},
    "auto": {"method": "auto"},
}


@pytest.mark.parametrize("case", CASES)
def test_the_export_aggregated_by_the_command_gives_the_live_sets(case, tmp_path, monkeypatch):
    task, rows, _ = drawn(**CASES[case])
    found = live((1, 1), gather(rows), task, is_over=False)
    made = export(FewRows(rows), task)
    for name, text in written(made).items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(command, [*shlex.split(made.command)[1:], "--out", "-"])
    assert told.exit_code == 0, told.stderr
    table = list(csv.DictReader(io.StringIO(told.stdout)))
    assert {row["instance"]: set(filter(None, row["alternatives"].split("|"))) for row in table} == {
        name: set(each.answer) for name, each in found.sets.items()
    }
    assert [float(row["confidence"]) for row in table] == [each.confidence for each in found.sets.values()]


def test_missing_and_empty_ballots_stay_different_in_the_export():
    task, rows, _ = drawn()
    rows = [rows[0]._replace(ticks=()), *rows[1:]]
    lines = list(csv.DictReader(io.StringIO(written(export(FewRows(rows), task))["ballots.csv"])))
    assert len(lines) == len(rows)
    assert sum(line["alternatives"] == "" for line in lines) == sum(not row.ticks for row in rows)


def test_ballots_that_no_longer_fit_are_left_out_and_told():
    task, rows, _ = drawn()
    smaller = replace(task, instances=task.instances[1:])
    gone = sum(row.instance == task.instances[0].name for row in rows)
    found = live((1, 1), gather(rows), smaller, is_over=False)
    assert found.left_out == gone > 0
    made = export(FewRows(rows), smaller)
    written(made)
    assert made.left_out == gone
    assert f"{gone} of the ballots are left out" in board_of(smaller, found, [], (), "open")["warnings"][0]


def test_before_anybody_answered():
    task, _, _ = drawn()
    found = live((0, 0), gather([]), task, is_over=False)
    assert (found.sets, found.voters, found.places) == ({}, (), {})
    board = board_of(task, found, [], (), "early")
    assert {row["more"] for row in board["sets"]} == {"–"}
    assert fit(gather([]), task) is None


@pytest.mark.parametrize("method", ["em", "amle", "auto"])
@pytest.mark.parametrize("ticks", [(), ("a1",), ("a1", "a2", "a3", "a4", "a5")])
@pytest.mark.parametrize("voters", [1, 3])
def test_crowds_that_say_little(method, ticks, voters):
    task, _, _ = drawn(method=method)
    for count in (1, 2, 12):
        rows = [BallotRow(f"v{i}", True, each.name, ticks, 5) for i in range(voters) for each in task.instances[:count]]
        assert len(live((1, 1), gather(rows), task, is_over=False).sets) == count


def test_what_is_found_is_what_the_library_finds():
    task, rows, _ = drawn(gold=("i2",))
    found = live((1, 1), gather(rows), task, is_over=False)
    fitted = fit(gather(rows), task)
    assert {name: frozenset(each.answer) for name, each in found.sets.items()} == dict(fitted.estimator.truth_)
    assert [each.hit_rate for each in found.voters] == fitted.estimator.voters_["hit_rate"].to_list()
    doubts = {each.instance: each.more_ballots or MANY for each in fitted.estimator.review(0.95)}
    assert {name: each.more for name, each in found.sets.items() if each.more != 0} == doubts
    assert [count for _, count in found.times][-1] == len(rows)
    assert [count for _, count in found.times] == sorted(count for _, count in found.times)
    assert any(
        flag.kind is FlagKind.TOO_FEW_BALLOTS and flag.startswith("too few ballots")
        for each in live((1, 1), gather(rows[:30]), task, is_over=False).voters
        for flag in each.flags
    )


def test_only_the_most_doubtful_are_reviewed_and_no_other_is_said_to_be_settled(monkeypatch):
    task, rows, _ = drawn()
    everything = live((1, 1), gather(rows[:40]), task, is_over=False).sets
    monkeypatch.setattr("epivote.web.estimation.estimate.MOST_REVIEWED", 2)
    found = live((1, 1), gather(rows[:40]), task, is_over=False).sets
    doubtful = sorted(
        (name for name in found if found[name].confidence < 0.95), key=lambda name: found[name].confidence
    )
    assert len(doubtful) > 2
    assert [found[name].more for name in doubtful] == [
        *(everything[name].more for name in doubtful[:2]),
        *[None] * (len(doubtful) - 2),
    ]
    words = {
        row["name"]: row["more"]
        for row in board_of(task, live((1, 1), gather(rows[:40]), task, is_over=False), [], (), "open")["sets"]
    }
    assert words[doubtful[-1]] == "–"


def test_places_are_the_papers_ranking():
    task, rows, crowd = drawn(gold="all")
    people = {row.voter for row in rows if row.is_person}
    over = live((1, 1), gather(rows), task, is_over=True)
    ballots = ballots_of(usable(gather(rows), task), task).select(voters=people)
    expected = {each.voter: (each.rank, each.points, each.ticks) for each in rank_participants(ballots, crowd.gold)}
    assert {name: (each.rank, each.points, each.ticks) for name, each in over.places.items()} == expected
    assert "v3" not in over.places, "programs are not ranked"


def test_before_the_end_places_do_not_depend_on_gold():
    """Otherwise whoever joins twice, with one answer changed, could read the gold sets from the points."""
    task, rows, _ = drawn(gold="all")
    without = replace(task, instances=tuple(replace(each, gold=None) for each in task.instances))
    assert (
        live((1, 1), gather(rows), task, is_over=False).places
        == live((1, 1), gather(rows), without, is_over=False).places
    )
    crowd = {"q": frozenset("a")}
    assert reference(crowd, {"q": frozenset("b")}, is_over=False) == crowd
    assert reference(crowd, {"q": frozenset("b")}, is_over=True) == {"q": frozenset("b")}


def test_agreement_counts_equal_ballots():
    task, rows, _ = drawn()
    ballots = ballots_of(gather(rows), task)
    crowd = dict(fit(gather(rows), task).estimator.truth_)
    found = places(ballots, set(ballots.voters), crowd, crowd)
    for voter in ballots.voters:
        own = [(ballots.ballot(voter, name), crowd[name]) for name in ballots.instances]
        answered = [(ticks, right) for ticks, right in own if ticks is not None]
        assert found[voter].counted == len(answered)
        assert found[voter].agreed == sum(ticks == right for ticks, right in answered)
    assert places(ballots, set(), crowd, crowd) == {}


def test_the_live_value_follows_the_ballots_and_the_report_is_made(tmp_path):
    with app_of(tmp_path) as app:
        site = app.state.site
        boss = organiser(app)
        assert boss.get("/organiser/report").status_code == 409
        for number in range(5):
            voter = site.store.join(f"p{number}", "")
            for name in site.task.by_name:
                site.store.answer(voter.id, name, ["cat"])
        until(lambda: site.estimation.live.stamp == site.store.stamp())
        board = boss.get("/organiser/live").json()
        assert board["tiles"][0] == ["20", "ballots"]
        assert {tuple(row["answer"]) for row in board["sets"]} == {("cat",)}
        assert "cat" in boss.get("/organiser").text
        report = boss.get("/organiser/report")
        assert report.status_code == 200
        assert "sandbox" in report.headers["content-security-policy"]
        assert "Which animals?" in report.text
        for name, head in {
            "ballots.csv": "voter,instance,alternatives",
            "participants.csv": "voter,kind,joined,finished,ballots",
            "truth.csv": "instance,alternatives,confidence",
        }.items():
            assert boss.get(f"/organiser/export/{name}").text.splitlines()[0] == head
        assert boss.get("/organiser/export/secrets.csv").status_code == 404
        site.store.forget(site.store.join("p0", "").id)
        until(lambda: boss.get("/organiser/live").json()["sets"][0]["ballots"] == 4)


def test_a_failed_estimation_is_told_and_fails_no_request(tmp_path):
    with app_of(tmp_path) as app:
        site, boss = app.state.site, organiser(app)
        site.store.answer(site.store.join("ann", "").id, "yard", ["cat"])
        until(lambda: site.estimation.live.sets)
        process, _ = site.estimation.process._running
        assert os.getpriority(os.PRIO_PROCESS, process.pid) > os.getpriority(os.PRIO_PROCESS, 0)
        process.kill()
        site.store.answer(site.store.join("bo", "").id, "yard", ["cat"])
        until(lambda: "The estimation has a problem" in boss.get("/organiser").text)
        assert boss.get("/").status_code == 200
        until(lambda: site.estimation.live.sets["yard"].ballots == 2)
        assert not site.estimation.live.problem, "it recovers by itself"


def test_estimation_ends_when_it_is_cancelled(tmp_path):
    task, _, _ = drawn()
    with store_of(tmp_path) as store:

        async def run_a_little():
            running = asyncio.create_task(Estimation(store, task, every=0.01).run())
            await asyncio.sleep(0.05)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        with ThreadPoolExecutor(1) as thread:  # a browser of other tests may keep a loop running in this one
            thread.submit(lambda: asyncio.run(run_a_little())).result(60)
