"""What pages, JSON and files show, worked out once more from the stored ballots."""

import csv
import io
import json
import random
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from epivote import EM, Ballots, SizeBounds, in_percent
from in_process import organiser, token_in, visitor, who_of
from one_moment import Clock, estimate_now, program, still_app

QUIZ = """
title = "Which animals?"
size = "1..2"
ranking = true
most_ballots = 13
closes = 2027-01-02T00:00:00Z
""" + "".join(f'[[alternatives]]\nname = "{name}"\n' for name in ("owl", "dog", "cat", "ape"))
RIGHT = {"q0": ["owl"], "q1": ["dog", "cat"], "q2": ["cat"], "q3": ["ape"], "q4": ["owl", "ape"], "q5": ["dog"]}
EXTRA = {"q1": 'gold = ["cat", "ape"]', "q3": 'size = "1..3"', "q4": 'alternatives = ["ape", "owl", "dog"]'}
QUIZ += "".join(f'[[instances]]\nname = "{name}"\ntext = "?"\n{EXTRA.get(name, "")}\n' for name in [*RIGHT, "q6"])
ALL = ("owl", "dog", "cat", "ape")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A quiz that fourteen people and two programs answered at known times, some of them everything: app and clock."""
    with pytest.MonkeyPatch.context() as patch, still_app(tmp_path_factory.mktemp("asked"), QUIZ) as app:
        clock, draw, store = Clock(patch), random.Random(5), app.state.site.store
        for number in range(14):
            voter = store.join(f"p{number}", f"visit {number}")
            for name, right in RIGHT.items():
                clock.at(datetime.fromtimestamp(clock.moment.timestamp() + 7.25, UTC))
                menu = app.state.site.task.by_name[name].menu
                if number == 11 or draw.random() < 0.12:
                    store.skip(voter.id, name)
                else:
                    store.answer(voter.id, name, [each for each in menu if (each in right) == (draw.random() < 0.85)])
            if number % 3 == 0:
                store.finish(voter.id)
        store.answer(store.join("p2", "visit 2").id, "gone", ["cat"])
        store.answer(store.join("p4", "visit 4").id, "q0", ["yak"])
        store.answer(store.join("p5", "visit 5").id, "q4", ["cat"])
        for name in ("robot", "Robot 2"):
            for instance in ("q2", "q0"):
                store.answer_as_program(name, instance, RIGHT[instance])
        estimate_now(app)
        yield app, clock


def rows_of(app):
    """Every ballot as it is kept, read without the store's own questions."""
    with app.state.site.store.database.reading() as connection:
        told = connection.exec_driver_sql(
            "SELECT name, is_person, instance, ticks, cast_at FROM ballots JOIN voters ON voters.id = voter_id"
        )
        return [
            (name, bool(person), instance, tuple(json.loads(ticks)), at) for name, person, instance, ticks, at in told
        ]


def fitting(app):
    """The ballots that fit the task."""
    menus = {each.name: each.menu for each in app.state.site.task.instances}
    return [row for row in rows_of(app) if row[2] in menus and set(row[3]) <= set(menus[row[2]])]


def test_the_tiles_count_what_is_stored(asked):
    app, _ = asked
    tiles = {label: value for value, label in organiser(app).get("/organiser/live").json()["tiles"]}
    rows = rows_of(app)
    counts = {name: sum(row[2] == name for row in rows) for name in app.state.site.task.by_name}
    sets = app.state.site.estimation.live.sets
    assert 13 in counts.values()
    assert tiles == {
        "ballots": str(len(rows)),
        "voters": "16",
        "programs among them": "2",
        "handed in": "5",
        "sets sure, gold aside": f"{sum(sets[name].confidence >= 0.95 for name in sets if name != 'q1')} of 6",
        "instances no longer asked": str(sum(count >= 13 for name, count in counts.items() if name != "q1")),
    }


def test_the_sets_are_what_the_library_finds_in_the_fitting_ballots(asked):
    app, _ = asked
    rows = fitting(app)
    menus = {each.name: each.menu for each in app.state.site.task.instances if each.name != "q6"}
    votes = {(row[0], row[2]): row[3] for row in sorted(rows, key=lambda row: row[2])}
    ballots = Ballots.from_mapping(votes, alternatives=ALL, menu=menus)
    bounds = SizeBounds(1, 2, {"q3": (1, 3)})
    estimator = EM(bounds).fit(ballots, gold={"q1": frozenset({"cat", "ape"})})
    board = organiser(app).get("/organiser/live?sort=task").json()
    app.state.site.store.close_task()
    told = program(app).get("/api/v1/estimate").json()
    app.state.site.store.open_task()
    expected = dict(zip(ballots.instances, estimator.estimate_.truth_table()["confidence"], strict=True))
    more = {each.instance: each.more_ballots or 65 for each in estimator.review(0.95)}
    assert [row["name"] for row in board["sets"]] == [f"q{number}" for number in range(7)]
    for row in board["sets"][:6]:
        name = row["name"]
        assert row["answer"] == [each for each in ALL if each in estimator.truth_[name]]
        assert row["confidence"] == pytest.approx(expected[name], abs=1e-12)
        sure = in_percent(expected[name])
        assert row["confidence_words"] == ("gold" if name == "q1" else sure)
        assert row["ballots"] == sum(each[2] == name for each in rows)
        assert (row["gold"], row["settled"]) == (name == "q1", name != "q1" and counted(app, name) >= 13)
        needed = more.get(name, 0)
        assert row["more"] == ("none" if needed == 0 else f"about {needed}" if needed < 65 else "more than 64")
    assert board["sets"][6] == {
        "name": "q6",
        "thumb": "",
        "gold": False,
        "settled": False,
        "answer": None,
        "confidence": None,
        "confidence_words": "–",
        "ballots": 0,
        "more": "–",
    }
    assert board["sets"][1]["crowd"] == ["dog", "cat"], "what the ballots alone say of a gold question"
    assert [row["name"] for row in board["sets"] if "crowd" in row] == ["q1"]
    assert (told["method"], told["ballots"]) == ("em", len(rows_of(app)))
    assert [
        (each["instance"], each["alternatives"], each["confidence"], each["ballots"], each["more_ballots"])
        for each in told["sets"]
    ] == [
        (row["name"], row["answer"], row["confidence"], row["ballots"], more.get(row["name"], 0))
        for row in board["sets"][:6]
    ]


def counted(app, name):
    return sum(row[2] == name for row in rows_of(app))


def test_participants_are_listed_with_their_own_numbers(asked):
    app, _ = asked
    rows = organiser(app).get("/organiser/live").json()["voters"]
    reports = {each.voter: each for each in app.state.site.estimation.live.voters}
    assert [row["name"] for row in rows] == [*(f"p{number}" for number in range(14)), "robot", "Robot 2"]
    for row in rows:
        name = row["name"]
        assert row["ballots"] == sum(each[0] == name for each in rows_of(app))
        is_program, has_finished = "obot" in name, name in ("p0", "p3", "p6", "p9", "p12")
        assert row["tags"] == ["program"] * is_program + ["handed in"] * has_finished
        if name == "p11":
            assert row == {
                "name": "p11",
                "ballots": 0,
                "tags": [],
                "hits": None,
                "false_alarms": None,
                "rates": "–",
                "flags": [],
                "flagged": False,
            }
            continue
        report = reports[name]
        assert report.ballots == sum(each[0] == name for each in fitting(app))
        assert (row["hits"], row["false_alarms"]) == (report.hit_rate, report.false_alarm_rate)
        assert row["rates"] == (
            f"hit rate {in_percent(report.hit_rate)}, false-alarm rate {in_percent(report.false_alarm_rate)}"
        )
        assert row["flags"] == list(report.flags)
        assert row["flagged"] == any("too few ballots" not in flag for flag in report.flags)


def test_what_no_longer_fits_is_told_and_when_sets_were_found(asked):
    app, clock = asked
    board = organiser(app).get("/organiser/live").json()
    left_out = len(rows_of(app)) - len(fitting(app))
    assert left_out == 3
    assert board["warnings"][-1] == (
        "3 of the ballots are left out: their instance or a ticked alternative is no longer in the task"
    )
    assert board["problem"] == ""
    found = app.state.site.estimation.live
    assert board["as_of"] == (
        f"{clock.moment:%Y-%m-%d %H:%M} UTC, from {len(fitting(app))} ballots, 3 left out, by em in {found.seconds:.2f} s"
    )
    assert 0 < found.seconds < 60
    assert found.moment == clock.microseconds
    assert board["files"] == [
        "ballots.csv",
        "menu.csv",
        "sizes.csv",
        "gold.csv",
        "participants.csv",
        "times.csv",
        "truth.csv",
    ]


def test_ballots_over_time_are_counted_in_equal_steps(asked):
    app, _ = asked
    times = [row[4] for row in rows_of(app)]
    points = organiser(app).get("/organiser/live").json()["times"]
    check_over_time(times, points)
    assert points[-1][1] == len(times)


def check_over_time(times, points):
    first, last = min(times), max(times)
    assert points[0] == [first, 0]
    assert points[-1] == [last, len(times)]
    assert len(points) <= 61
    steps = {after - before for (before, _), (after, _) in pairwise(points[:-1])}
    assert len(steps) <= 1
    for moment, count in points[1:-1]:
        assert count == sum(each < moment for each in times)


def standing(rows, right, crowd):
    """The paper's rule, spelt out: place, points, ticks, answered, agreed of every person."""
    people = list(dict.fromkeys(row[0] for row in rows if row[1]))
    own = {name: [row for row in rows if row[0] == name] for name in people}
    points = {name: sum(right[row[2]] <= set(row[3]) for row in own[name]) for name in people}
    ticks = {name: sum(len(row[3]) for row in own[name]) for name in people}
    score = {name: (-points[name], ticks[name]) for name in people}
    return {
        name: (
            1 + sum(other < score[name] for other in score.values()),
            points[name],
            ticks[name],
            len(people),
            len(own[name]),
            sum(set(row[3]) == crowd[row[2]] for row in own[name]),
        )
        for name in people
    }


@pytest.mark.parametrize("is_over", [False, True])
def test_places_follow_the_rule(asked, is_over):
    app, _ = asked
    site = app.state.site
    if is_over:
        site.store.close_task()
    found = estimate_now(app)
    site.store.open_task()
    crowd = {name: set(each.crowd) for name, each in found.sets.items()}
    right = {**crowd, "q1": {"cat", "ape"}} if is_over else crowd
    expected = standing(fitting(app), right, crowd)
    assert {
        name: (each.rank, each.points, each.ticks, each.of, each.counted, each.agreed)
        for name, each in found.places.items()
    } == expected
    ranks = [each.rank for each in found.places.values()]
    assert ranks == sorted(ranks)
    assert [name for name, _ in found.leaders] == list(found.places)[:10]
    assert len(expected) == 13
    client = visitor(app)
    client.cookies[site.cookie("epivote")] = site.signer.seal("epivote", site.store.join("p3", "visit 3").token)
    page = client.get("/end").text
    rank, points, _, of, answered, agreed = expected["p3"]
    assert f"Place {rank} of {of}, with {points} points." in page
    assert f"On {agreed} of {answered} questions you ticked exactly" in page
    assert f"You have answered {answered} of 7 questions." in page
    assert page.count("<bdi>") == 11
    assert page.count('class="own"') == ("p3" in list(found.places)[:10])
    estimate_now(app)


def test_the_exported_files_are_what_is_stored(asked):
    app, _ = asked
    boss = organiser(app)

    def table(name):
        sent = boss.get(f"/organiser/export/{name}")
        assert sent.headers["content-type"] == "text/csv; charset=utf-8"
        assert sent.headers["content-disposition"] == f'attachment; filename="{name}"'
        return list(csv.DictReader(io.StringIO(sent.text)))

    ballots = table("ballots.csv")
    assert {(row["voter"], row["instance"]): row["alternatives"] for row in ballots} == {
        (row[0], row[2]): "|".join(row[3]) for row in fitting(app)
    }
    assert len(ballots) == len(fitting(app))
    joined = {name: number for number, name in enumerate([*(f"p{number}" for number in range(14)), "robot", "Robot 2"])}
    places = [(row["instance"], joined[row["voter"]]) for row in ballots]
    assert places == sorted(places), "instance after instance, those of the first voter first"
    assert table("menu.csv") == [
        {"instance": name, "alternatives": "owl|dog|ape" if name == "q4" else "owl|dog|cat|ape"}
        for name in [*RIGHT, "q6"]
    ]
    assert table("sizes.csv") == [{"instance": "q3", "size": "1..3"}]
    assert table("gold.csv") == [{"instance": "q1", "alternatives": "cat|ape"}]
    sets = app.state.site.estimation.live.sets
    assert table("truth.csv") == [
        {"instance": name, "alternatives": "|".join(each.answer), "confidence": str(each.confidence)}
        for name, each in sets.items()
    ]
    people = table("participants.csv")
    assert [(row["voter"], row["kind"], row["ballots"]) for row in people] == [
        (name, "program" if "obot" in name else "person", str(sum(row[0] == name for row in rows_of(app))))
        for name in [*(f"p{number}" for number in range(14)), "robot", "Robot 2"]
    ]
    assert [row["voter"] for row in people if row["finished"]] == ["p0", "p3", "p6", "p9", "p12"]


def test_before_anything_was_found_there_is_nothing_to_tell(tmp_path):
    with still_app(tmp_path) as app:
        app.state.site.store.close_task()
        assert program(app).get("/api/v1/estimate").json() == {"method": "", "ballots": 0, "sets": []}
        app.state.site.store.open_task()
        board = organiser(app).get("/organiser/live").json()
        assert (board["as_of"], board["warnings"], board["times"], board["problem"]) == ("not yet", [], [], "")
        assert not app.state.site.estimation._has_changed(), "without ballots there is nothing to find"
        assert organiser(app).get("/organiser/export/truth.csv").text == "instance,alternatives,confidence\n"


def test_handing_in_twice_is_handing_in_once(asked):
    app, _ = asked
    client = visitor(app)
    site = app.state.site
    client.cookies[site.cookie("epivote")] = site.signer.seal("epivote", site.store.join("p3", "visit 3").token)
    before = site.store.participants()
    assert (
        client.post("/finish", data={"csrf": token_in(client.get("/leave")), "who": who_of(app, client)}).status_code
        == 303
    )
    assert site.store.participants() == before
