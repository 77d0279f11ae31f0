"""Everything that the live page is told, for a small task: each word and number of it."""

from dataclasses import replace
from pathlib import Path

from epivote import Flag, FlagKind, SizeBounds, VoterReport
from epivote.web.estimation.live import Live, SetFound
from epivote.web.store.store import Participant
from epivote.web.task import Alternative, Instance, Task
from epivote.web.views.board import board_of
from epivote.web.views.looking import Look

CAT, DOG, OWL = Alternative("cat"), Alternative("dog"), Alternative("owl")
ONE = SizeBounds(1, 1)
BOTH = (0.0, 1.0)
GUESSES, TOO_FEW = Flag(FlagKind.GUESSING), Flag(FlagKind.TOO_FEW_BALLOTS, right_seen=2.0)
TASK = Task(
    "Pets",
    Path(),
    ONE,
    (CAT, DOG, OWL),
    (
        Instance("yard", (CAT, DOG, OWL), ONE, text="In the yard?", picture="yard.png"),
        Instance("barn", (CAT, DOG), ONE, text="In the barn?", gold=frozenset({"dog"})),
        Instance("roof", (CAT, DOG, OWL), SizeBounds(0, 2), text="On the roof?", gold=frozenset({"owl"})),
        Instance("street", (CAT, DOG, OWL), ONE, text="In the street?"),
        Instance("field", (CAT, DOG, OWL), ONE, text="In the field?"),
    ),
)
SETS = {
    "yard": SetFound(("cat",), 0.75, 4, 2, ("cat", "owl")),
    "barn": SetFound(("dog",), 1, 3, 0, ("dog",)),
    "roof": SetFound(("cat", "owl"), 1.0, 2, None, ("cat", "owl")),
    "street": SetFound((), 0.95, 1, 65, ()),
}


def report(name, ballots, hits, false_alarms, *flags):
    return VoterReport(name, ballots, hits, BOTH, false_alarms, BOTH, 1.0, BOTH, flags)


REPORTS = (
    report("ann", 3, 0.876, 0.123, TOO_FEW),
    report("bot", 5, 0.5, 0.5, TOO_FEW, GUESSES),
    report("cy", 4, 1.0, 0.0),
)
PEOPLE = [
    Participant("ann", True, 0, None, 3),
    Participant("bot", False, 0, None, 1_005),
    Participant("cy", True, 0, 7, 4),
    Participant("di", True, 0, 8, 0),
]
LIVE = Live(
    stamp=(10, 12),
    moment=1_800_000_000_000_000,
    seconds=0.126,
    method="em",
    sets=SETS,
    voters=REPORTS,
    times=((1, 0), (5, 10)),
    left_out=1,
    warnings=("few ballots",),
)
BLANK = {
    "thumb": "",
    "gold": False,
    "settled": False,
    "answer": None,
    "confidence": None,
    "confidence_words": "–",
    "ballots": 0,
    "more": "–",
}
LEFT_OUT = "1 of the ballots are left out: their instance or a ticked alternative is no longer in the task"


def row(name, answer, confidence, words, ballots, more, **others):
    found = {"name": name, "answer": answer, "confidence": confidence, "confidence_words": words}
    return BLANK | found | {"ballots": ballots, "more": more} | others


ROWS = {
    "yard": row("yard", ["cat"], 0.75, "75 %", 4, "about 2", thumb="/see/yard.png", crowd=["cat", "owl"]),
    "barn": row("barn", ["dog"], 1, "gold", 3, "none", gold=True),
    "roof": row("roof", ["cat", "owl"], 1.0, "> 99.9 %", 2, "–", gold=True, settled=True),
    "street": row("street", [], 0.95, "95.0 %", 1, "more than 64"),
    "field": BLANK | {"name": "field"},
}
UNKNOWN = {"hits": None, "false_alarms": None, "rates": "–", "flags": [], "flagged": False}


def told(live=LIVE, look=None, task=TASK, people=PEOPLE, settled=("roof",), gate="open"):
    return board_of(task, live, people, settled, gate, "/see/{}".format, look or Look())


def names(board, table="sets"):
    return [each["name"] for each in board[table]]


def test_the_whole_board():
    assert told() == {
        "gate": "open",
        "gate_words": "Open: ballots are accepted.",
        "problem": "",
        "warnings": ["few ballots", LEFT_OUT],
        "as_of": "2027-01-15 08:00 UTC, from 10 ballots, 1 left out, 1,001 newer ones not counted yet, by em in 0.13 s",
        "tiles": [
            ["1,012", "ballots"],
            ["4", "voters"],
            ["1", "programs among them"],
            ["2", "handed in"],
            ["1 of 3", "sets sure, gold aside"],
            ["1", "instances no longer asked"],
        ],
        "times": [[1, 0], [5, 10]],
        "sets": [ROWS[name] for name in ("yard", "street", "barn", "roof", "field")],
        "sets_page": {"words": "1 to 5 of 5", "before": "", "after": ""},
        "voters_page": {"words": "1 to 4 of 4", "before": "", "after": ""},
        "map": [
            {"name": "bot", "ballots": 5, "hits": 0.5, "false_alarms": 0.5, "flagged": True},
            {"name": "cy", "ballots": 4, "hits": 1.0, "false_alarms": 0.0, "flagged": False},
            {"name": "ann", "ballots": 3, "hits": 0.88, "false_alarms": 0.12, "flagged": False},
        ],
        "voters": [
            {
                "name": "ann",
                "ballots": 3,
                "tags": [],
                "hits": 0.876,
                "false_alarms": 0.123,
                "rates": "hit rate 88 %, false-alarm rate 12 %",
                "flags": [TOO_FEW],
                "flagged": False,
            },
            {
                "name": "bot",
                "ballots": 1_005,
                "tags": ["program"],
                "hits": 0.5,
                "false_alarms": 0.5,
                "rates": "hit rate 50 %, false-alarm rate 50 %",
                "flags": [TOO_FEW, GUESSES],
                "flagged": True,
            },
            {
                "name": "cy",
                "ballots": 4,
                "tags": ["handed in"],
                "hits": 1.0,
                "false_alarms": 0.0,
                "rates": "hit rate > 99.9 %, false-alarm rate < 0.1 %",
                "flags": [],
                "flagged": False,
            },
            {"name": "di", "ballots": 0, "tags": ["handed in"], **UNKNOWN},
        ],
        "files": ["ballots.csv", "menu.csv", "sizes.csv", "gold.csv", "participants.csv", "times.csv", "truth.csv"],
        "command": "epivote aggregate ballots.csv --size 1 --alternatives 'cat|dog|owl' --menu menu.csv "
        "--sizes sizes.csv --gold gold.csv --gold-use learn --method em",
    }


def test_the_board_before_anybody_came():
    empty = told(Live(), people=[], settled=(), gate="early", task=replace(TASK, instances=TASK.instances[3:]))
    assert (empty["gate_words"], empty["as_of"], empty["warnings"]) == (
        "Not open yet: the opening time of the task has not come.",
        "not yet",
        [],
    )
    assert [number for number, _ in empty["tiles"]] == ["0", "0", "0", "0", "0 of 2", "0"]
    assert empty["sets"] == [BLANK | {"name": "street"}, BLANK | {"name": "field"}]
    assert (empty["map"], empty["voters"], empty["times"]) == ([], [], [])
    assert empty["voters_page"] == {"words": "nothing found", "before": "", "after": ""}
    assert empty["files"] == ["ballots.csv", "participants.csv", "times.csv", "truth.csv"]
    assert told(gate="over")["gate_words"] == "Closed: the closing time of the task has passed."
    assert told(gate="closed")["gate_words"] == "Closed by you: no ballots are accepted until you open it again."


def test_when_sets_were_found_and_from_how_many_ballots():
    def as_of(count, left_out, total):
        live = Live(method="amle", sets={"yard": replace(SETS["yard"], ballots=count)}, left_out=left_out, seconds=2)
        return told(live, people=[Participant("ann", True, 0, None, total)])["as_of"].removeprefix(
            "1970-01-01 00:00 UTC, from "
        )

    assert as_of(1, 0, 1) == "1 ballot, by amle in 2.00 s"
    assert as_of(2, 0, 2) == "2 ballots, by amle in 2.00 s"
    assert as_of(2, 0, 3) == "2 ballots, 1 newer ones not counted yet, by amle in 2.00 s"
    assert as_of(1_234, 5_678, 9_999) == (
        "1,234 ballots, 5,678 left out, 3,087 newer ones not counted yet, by amle in 2.00 s"
    )
    assert as_of(5, 1, 3) == "5 ballots, 1 left out, by amle in 2.00 s", "some were withdrawn since"


def test_sorted_and_searched():
    assert names(told(look=Look(sort="task"))) == ["yard", "barn", "roof", "street", "field"]
    assert names(told(look=Look(sort="ballots"))) == ["field", "street", "roof", "barn", "yard"]
    assert names(told(look=Look(sort="doubt"))) == ["yard", "street", "barn", "roof", "field"]
    turned = replace(TASK, instances=TASK.instances[::-1])
    assert names(told(task=turned)) == ["yard", "street", "roof", "barn", "field"], "those without ballots come last"
    for find, sets, voters in (
        ("YARD", ["yard"], []),
        ("in the", ["yard", "street", "barn", "field"], []),
        ("owl", ["roof"], []),
        ("cat", ["yard", "roof"], []),
        ("n", ["yard", "street", "barn", "roof", "field"], ["ann"]),
        ("xyz", [], []),
    ):
        found = told(look=Look(find=find))
        assert (names(found), names(found, "voters")) == (sets, voters), find
    assert told(look=Look(find="xyz"))["tiles"] == told()["tiles"], "numbers about everything stay"


def test_a_set_is_called_gold_only_where_it_was_told():
    def words(name, found):
        return next(each for each in told(Live(sets={name: found}))["sets"] if each["name"] == name)["confidence_words"]

    assert words("barn", SetFound(("dog",), 1.0, 1, 0, ("dog",))) == "gold"
    assert words("barn", SetFound(("dog",), 0.999, 1, 0, ("dog",))) == "99.9 %"
    assert words("barn", SetFound(("cat",), 1.0, 1, 0, ("cat",))) == "> 99.9 %"
    assert words("yard", SetFound(("dog",), 1.0, 1, 0, ("dog",))) == "> 99.9 %"


def test_of_many_voters_the_map_shows_the_flagged_ones_and_those_with_most_ballots():
    many = [report(f"v{number}", number, 0.5, 0.5) for number in range(301)]
    shown = names(told(Live(voters=tuple(many))), "map")
    assert shown == [f"v{number}" for number in range(300, 0, -1)]
    flagged = [report("last", 0, 0.5, 0.5, GUESSES), report("new", 0, 0.5, 0.5, TOO_FEW)]
    assert names(told(Live(voters=(*many, *flagged))), "map") == ["last", *shown[:-1]]
