"""Which question comes next, and when nobody is asked any more: values in, values out."""

from pathlib import Path

import pytest

from epivote import SizeBounds
from epivote.web.estimation.live import Live, SetFound
from epivote.web.questions import most_doubtful, next_open, own_order, settled, shuffled
from epivote.web.store import Voter
from epivote.web.store.store import Sheet
from epivote.web.task import Alternative, Instance, Task

CAT, DOG = Alternative("cat"), Alternative("dog")
NAMES = [f"q{number}" for number in range(8)]


def task_of(names=NAMES, gold=(), **options):
    size = SizeBounds(1, 2)
    instances = tuple(
        Instance(name, (CAT, DOG), size, text="?", gold=frozenset({"cat"}) if name in gold else None) for name in names
    )
    return Task("Quiz", Path(), size, (CAT, DOG), instances, **options)


def live_of(**confidences):
    return Live(sets={name: SetFound(("cat",), sure, 3, 0, ("cat",)) for name, sure in confidences.items()})


def sheet_of(ballots=(), skips=(), asked=(), token="token"):
    voter = Voter(1, "ann", True, token, 0, None)
    return Sheet(voter, dict.fromkeys(ballots, ("cat",)), frozenset(skips), tuple(asked), False)


def test_an_order_is_made_of_the_seed_alone():
    task = task_of()
    orders = {tuple(shuffled(task, f"seed {number}")) for number in range(20)}
    assert len(orders) == 20
    assert all(sorted(order) == NAMES for order in orders)
    assert len({order[0] for order in orders}) > 4
    assert shuffled(task, "seed") == shuffled(task, "seed") == shuffled(task_of(NAMES[::-1]), "seed")


def test_a_new_question_is_slipped_in_and_the_others_keep_their_order():
    for seed in "abcdefgh":
        before, after = shuffled(task_of(), seed), shuffled(task_of([*NAMES, "new"]), seed)
        assert [name for name in after if name != "new"] == before
    assert {shuffled(task_of([*NAMES, "new"]), seed).index("new") for seed in "abcdefgh"} != {8}


def test_an_order_is_the_one_that_participants_have_had_so_far():
    """Another order after an update would show somebody their old answers at other positions."""
    assert shuffled(task_of(), "seed") == ["q7", "q1", "q6", "q2", "q3", "q0", "q4", "q5"]


def test_enough_ballots_are_as_many_as_the_task_says():
    counts = {"q1": 2, "q2": 3, "q3": 4}
    assert settled(task_of(most_ballots=3), Live(), counts) == {"q2", "q3"}
    assert settled(task_of(), Live(), counts) == set()
    assert settled(task_of(most_ballots=3, gold=["q3"]), Live(), counts) == {"q2"}, "gold is asked of everybody"


def test_sure_enough_is_what_the_task_says():
    live = live_of(q1=0.9 - 1e-12, q2=0.9, q3=0.95)
    assert settled(task_of(confidence=0.9), live, {}) == {"q2", "q3"}
    assert settled(task_of(), live, {}) == set()
    assert settled(task_of(confidence=0.9, gold=["q3"]), live, {}) == {"q2"}
    assert settled(task_of(confidence=0.9, most_ballots=1), live, {"q5": 1}) == {"q2", "q3", "q5"}, "either is enough"


def test_the_own_order_is_shuffled_or_what_was_asked_so_far():
    sheet = sheet_of(asked=["q3", "gone", "q1"])
    assert own_order(task_of(), sheet) == shuffled(task_of(), "token")
    assert own_order(task_of(order="doubtful"), sheet) == ["q3", "q1"]


@pytest.mark.parametrize(
    ("after", "said", "closed", "expected"),
    [
        (0, [], [], 1),
        (1, [], [], 2),
        (3, [], [], 4),
        (4, [], [], 1),
        (2, ["c", "d"], [], 1),
        (2, ["a", "c", "d"], [], 2),
        (0, ["a"], ["b"], 3),
        (3, ["a"], ["d"], 2),
        (0, ["a", "b"], ["c", "d"], None),
        (4, ["a", "b", "c", "d"], [], None),
        (4, ["a", "b", "c"], [], 4),
    ],
)
def test_the_next_open_question_comes_after_the_last_one_else_before_it(after, said, closed, expected):
    for sheet in (sheet_of(ballots=said), sheet_of(skips=said)):
        assert next_open(list("abcd"), sheet, closed, after) == expected


def test_the_next_open_question_is_the_first_unless_told_otherwise():
    assert next_open(list("abcd"), sheet_of(), []) == 1
    assert next_open([], sheet_of(), []) is None


def doubtful(sheet=None, closed=(), gold=(), names=NAMES, **confidences):
    return most_doubtful(task_of(names, gold), sheet or sheet_of(), live_of(**confidences), closed)


def test_the_least_sure_question_is_asked_next():
    sure = dict.fromkeys(NAMES, 0.99)
    for name in NAMES:
        assert doubtful(**{**sure, name: 0.5}) == name
    assert doubtful(**{**sure, "q1": 0.5, "q2": 0.7}) == "q1"
    without = {name: 0.6 for name in NAMES if name != "q6"}
    assert doubtful(**without) == "q6", "what has no ballots is most in doubt"
    assert doubtful(**dict.fromkeys(NAMES[1:], 1.0), q0=1 - 1e-9) == "q0"


def test_doubts_of_about_the_same_size_are_told_apart_by_the_own_order():
    """0.95 and 0.96 are both doubts of about a twentieth; 0.95 and 0.5 are not."""
    close = {name: 0.95 + number / 2000 for number, name in enumerate(NAMES)}
    firsts = set()
    for seed in "abcdefghijklmnop":
        first = doubtful(sheet_of(token=seed), **close)
        assert first == shuffled(task_of(), seed)[0]
        firsts.add(first)
    assert len(firsts) > 3, "a crowd spreads out"


def test_each_halving_of_the_doubt_is_a_step():
    order = shuffled(task_of(["a", "b"]), "token")
    late, early = order[1], order[0]
    for doubt in (0.5, 0.25, 2**-10, 2**-30):
        assert doubtful(names=["a", "b"], **{late: 1 - doubt, early: 1 - doubt / 2}) == late
        assert doubtful(names=["a", "b"], **{late: 1 - doubt, early: 1 - doubt / 1.3}) == early
    assert doubtful(names=["a", "b"], **{late: 1 - 1e-11, early: 1.0}) == late, "doubts of a hundred billionth differ"
    assert doubtful(names=["a", "b"], **{late: 1 - 1e-13, early: 1.0}) == early, "smaller ones do not"


def test_what_was_asked_answered_or_settled_is_not_asked_again():
    order = shuffled(task_of(), "token")
    assert doubtful() == order[0]
    assert doubtful(sheet_of(asked=[order[0]])) == order[1]
    assert doubtful(sheet_of(ballots=[order[0]])) == order[1]
    assert doubtful(closed=[order[0]]) == order[1]
    assert doubtful(sheet_of(asked=order[:3], ballots=order[3:5]), closed=order[5:]) is None


def test_gold_questions_come_where_a_shuffled_order_has_them():
    order = shuffled(task_of(), "token")
    gold = [order[1], order[4]]
    asked = []
    while (name := doubtful(sheet_of(asked=asked), gold=gold, **dict.fromkeys(NAMES, 0.9))) is not None:
        asked.append(name)
    assert [name in gold for name in asked] == [False, True, False, False, True, False, False, False]
    assert [name for name in asked if name in gold] == gold
    assert [name for name in asked if name not in gold] == [name for name in order if name not in gold]
    assert len(asked) == 8


def test_gold_questions_are_asked_when_nothing_else_is_left():
    order = shuffled(task_of(), "token")
    gold = order[6:]
    assert doubtful(closed=order[:6], gold=gold) == gold[0]
    assert doubtful(sheet_of(asked=[gold[0]]), closed=order[:6], gold=gold) == gold[1]
    assert doubtful(sheet_of(asked=[*order, "x", "y"]), names=[*NAMES, "z"], gold=["z"]) == "z"


def test_gold_questions_come_at_their_place_however_sure_they_and_the_others_are():
    order = shuffled(task_of(), "token")
    gold = [order[2]]
    sure = dict.fromkeys(NAMES, 0.9) | {order[0]: 0.999, order[1]: 0.99, order[2]: 0.1}
    asked = []
    while (name := doubtful(sheet_of(asked=asked), gold=gold, **sure)) is not None:
        asked.append(name)
    assert asked == [order[3], order[4], order[2], order[5], order[6], order[7], order[1], order[0]]


def test_a_place_for_gold_is_used_for_another_question_when_gold_is_done():
    order = shuffled(task_of(), "token")
    assert doubtful(sheet_of(ballots=[order[0]]), gold=[order[0]]) == order[1]
    assert doubtful(sheet_of(asked=[order[1]], skips=[order[1]]), gold=[order[1]]) == order[0]


def test_questions_that_are_gone_do_not_end_the_others():
    gone = [f"gone {number}" for number in range(len(NAMES))]
    assert doubtful(sheet_of(asked=gone)) == shuffled(task_of(), "token")[0]
