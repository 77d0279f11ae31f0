"""Accuracies, inspections and rankings recounted with sets and loops, and what is said in words."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import (
    Ballots,
    InputError,
    compare,
    confusions,
    hamming,
    harmonic,
    harmonic_weights,
    inspect_ballots,
    jaccard,
    rank_participants,
    score,
    zero_one,
)
from epivote.evaluate.confusion import tick_counts
from epivote.evaluate.inspection import Spread
from strategies import elections

MENUS = {"y": ["d", "a", "b"], "x": ["c"], "z": ["b", "c", "d", "e", "a"], "w": [], "v": ["a", "b", "c", "d"]}
MINE = {"y": {"a", "d"}, "x": {"c"}, "z": {"c", "e"}, "w": set(), "v": set(), "unasked": {"a"}}
GOLD = {"y": {"b", "d"}, "x": {"c"}, "z": {"c", "e", "b"}, "w": set(), "v": {"a", "b"}}


def steps(right, offered):
    """The appendix's harmonic accuracy of one instance."""
    if offered == 0:
        return 1.0
    return sum(1 / (offered + 1 - k) for k in range(1, right + 1)) / sum(1 / k for k in range(1, offered + 1))


def test_every_accuracy_is_recounted_where_menus_differ():
    found = compare(MINE, GOLD, MENUS)
    right = {z: sum((a in MINE[z]) == (a in GOLD[z]) for a in MENUS[z]) for z in GOLD}
    shares = [right[z] / len(MENUS[z]) if MENUS[z] else 1 for z in GOLD]
    exact = [float(MINE[z] == GOLD[z]) for z in GOLD]
    overlap = [len(MINE[z] & GOLD[z]) / len(MINE[z] | GOLD[z]) if MINE[z] | GOLD[z] else 1 for z in GOLD]
    stepped = [steps(right[z], len(MENUS[z])) for z in GOLD]
    assert found.instances == tuple(GOLD)
    assert found.alternatives == ("a", "b", "c", "d", "e")
    assert found.widths.tolist() == [3, 1, 5, 0, 4]
    assert found.correct.tolist() == list(right.values())
    for name, function, expected in (
        ("hamming", hamming, shares),
        ("zero_one", zero_one, exact),
        ("jaccard", jaccard, overlap),
        ("harmonic", harmonic, stepped),
    ):
        assert getattr(found, name).tolist() == pytest.approx(expected), name
        assert function(MINE, GOLD, MENUS) == pytest.approx(np.mean(expected)), name
    assert found.hits.tolist() == [1, 1, 2, 0, 0]
    assert found.false_alarms.tolist() == [1, 0, 0, 0, 0]
    assert found.misses.tolist() == [1, 0, 1, 0, 2]
    assert found.micro_f1 == pytest.approx(2 * 4 / (2 * 4 + 5))
    assert found.alternative_hits.tolist() == [0, 0, 2, 1, 1]
    assert found.alternative_errors.tolist() == [2, 3, 0, 0, 0]
    assert found.macro_f1 == pytest.approx(3 / 5)


def test_scores_are_means_with_intervals_of_level_95():
    scores, found = score(MINE, GOLD, MENUS), compare(MINE, GOLD, MENUS)
    assert scores.n_instances == 5
    exact = scipy.stats.binomtest(2, 5).proportion_ci(method="wilson")
    assert (scores.zero_one.mean, scores.zero_one.low, scores.zero_one.high) == pytest.approx(
        (0.4, exact.low, exact.high)
    )
    for name in ("hamming", "harmonic", "jaccard"):
        values, interval = getattr(found, name), getattr(scores, name)
        low, high = scipy.stats.t.interval(0.95, 4, values.mean(), scipy.stats.sem(values))
        assert (interval.mean, interval.low, interval.high) == pytest.approx((values.mean(), max(0, low), min(1, high)))
    assert (scores.micro_f1, scores.macro_f1) == (found.micro_f1, found.macro_f1)


def test_rows_of_scores_show_each_accuracy_under_its_own_name():
    scores = score({**MINE, "v": {"a"}}, GOLD, MENUS)
    shown = {name: (mean, interval) for name, mean, interval, _ in scores.rows()}
    assert list(shown) == ["0/1", "Hamming", "harmonic", "Jaccard", "micro F1", "macro F1"]
    named = {"0/1": scores.zero_one, "Hamming": scores.hamming, "harmonic": scores.harmonic, "Jaccard": scores.jaccard}
    for name, interval in named.items():
        assert shown[name] == (f"{interval.mean:.3f}", f"{interval.low:.3f}-{interval.high:.3f}")
    assert len({mean for mean, _ in shown.values()}) == 6, "so that none can stand in for another"
    assert shown["micro F1"] == (f"{10 / 14:.3f}", "")
    assert shown["macro F1"] == (f"{11 / 15:.3f}", "")
    assert next(words for *_, words in scores.rows()) == "sets exactly right"


def test_f1_is_one_where_nothing_is_right_and_nothing_is_said():
    nothing = compare({"z": set()}, {"z": set()}, ["a", "b"])
    assert (nothing.micro_f1, nothing.macro_f1) == (1, 1)
    wrong = compare({"z": {"a"}}, {"z": {"b"}}, ["a", "b"])
    assert (wrong.micro_f1, wrong.macro_f1) == (0, 0)
    assert compare({"z": {"a"}}, {"z": {"a"}}, ["a", "b"]).micro_f1 == 1


@pytest.mark.parametrize("m", range(8))
def test_harmonic_weights_are_the_appendixs_sum(m):
    assert harmonic_weights(m) == pytest.approx([steps(c, m) for c in range(m + 1)])


def test_alternatives_of_a_list_or_of_ballots_keep_their_order():
    assert compare({"z": {"a"}}, {"z": {"b"}}, ["b", "c", "a"]).alternatives == ("b", "c", "a")
    ballots = Ballots.from_mapping({("v", "z"): {"a"}}, alternatives=["b", "c", "a"])
    found = compare({"z": {"a"}}, {"z": {"b"}}, ballots)
    assert (found.alternatives, found.alternative_errors.tolist()) == (("b", "c", "a"), [1, 0, 1])


@pytest.mark.parametrize(
    ("mine", "gold", "offered", "message"),
    [
        (
            {"a": set()},
            {name: set() for name in "abcdef"},
            ["x"],
            "5 of 6 gold instances have no estimated set: 'b', 'c', 'd' and 2 more; check",
        ),
        (
            {"z": {"q", "p", "a"}},
            {"z": set()},
            ["f", "e", "d", "c", "b", "a"],
            r"the estimated set of 'z' has 'p', .* \('a', 'b', 'c', 'd', 'e', 'f'\)",
        ),
        (
            dict.fromkeys("xyz", ()),
            dict.fromkeys("xyz", ()),
            {"x": ["a"]},
            "instance 'y' has a gold set but no menu; add its menu",
        ),
        (
            dict.fromkeys("xyz", ()),
            dict.fromkeys("xyz", ()),
            Ballots.from_mapping({("v", "x"): {"a"}}),
            "instance 'y' has a gold set but is not in the ballots; leave it out",
        ),
    ],
)
def test_refusals_name_the_first_offender(mine, gold, offered, message):
    with pytest.raises(InputError, match=message):
        compare(mine, gold, offered)


# Inspection


@settings(max_examples=25)
@given(elections(max_voters=5, max_instances=5))
def test_an_inspection_is_recounted_from_the_ballots(election):
    ballots, cast = election.as_ballots(), election.ballots
    found = inspect_ballots(ballots)
    lengths = [len(ticks) for ticks in cast.values()]
    assert found.sizes == {size: lengths.count(size) for size in sorted(set(lengths))}
    per_instance = [sum(z == each for _, each in cast) for z in election.instances]
    per_voter = [sum(v == each for each, _ in cast) for v in ballots.voters]
    assert found.per_instance == Spread(min(per_instance), np.median(per_instance), max(per_instance))
    assert found.per_voter == Spread(min(per_voter), np.median(per_voter), max(per_voter))
    for name in election.alternatives:
        seen = sum(name in election.menus[z] for _, z in cast)
        ticked = sum(name in ticks for ticks in cast.values())
        assert found.ticked[name] == pytest.approx(ticked / seen if seen else 0.0)
    told = " ".join(found.odd)
    never = [name for name in ballots.alternatives if all(name not in ticks for ticks in cast.values())]
    assert ("never ticked" in told) == bool(never)
    single = per_instance.count(1)
    assert ("instances have a single ballot" in told) == (single > 0)
    assert single == 0 or f"{single} of {len(per_instance)} instances have a single ballot" in told
    mine = {v: [(z, ticks) for (who, z), ticks in cast.items() if who == v] for v in ballots.voters}
    for words, who in (
        ("tick everything, always", [v for v, b in mine.items() if all(t == set(election.menus[z]) for z, t in b)]),
        ("never tick anything", [v for v, b in mine.items() if not any(t for _, t in b)]),
    ):
        who = [v for v in who if len(mine[v]) > 1]
        assert (words in told) == bool(who)
        assert not who or f"{len(who)} of {ballots.n_voters} voters {words}: {who[0]!r}" in told
    once = [v for v in ballots.voters if len(mine[v]) == 1] if len(election.instances) > 1 else []
    assert ("cast one ballot only" in told) == bool(once)
    assert not once or f"{len(once)} of {ballots.n_voters} voters cast one ballot only" in told


def crowd(count, extra):
    """`count` ballots on two alternatives that nothing is odd about, and some more."""
    cast = {(f"v{i}", f"z{z}"): {"robin", "wren"} if i % 2 else set() for i in range(count // 2) for z in range(2)}
    return Ballots.from_mapping({**cast, **extra}, alternatives=["robin", "wren", "a", "b", "c", "d", "e"])


@pytest.mark.parametrize(("count", "told"), [(38, False), (40, True)])
def test_rare_names_are_odd_only_among_more_than_forty_ballots(count, told):
    ballots = crowd(count, {("x", "z0"): {"b", "a"}, ("x", "z1"): {"c", "a"}})
    odd = [each for each in inspect_ballots(ballots).odd if each.startswith("ticked only once")]
    assert odd == (["ticked only once: 'b', 'c'; check the spelling"] if told else [])


def test_what_one_line_of_many_voters_ticked_is_not_rare():
    cast = {("many", "q"): {"a"}, ("few", "q"): {"b"}, ("one", "q"): {"c"}}
    ballots = Ballots.from_mapping(cast, multiplicities={"many": 90, "few": 2, "one": 1})
    assert "ticked only once: 'c'; check the spelling" in inspect_ballots(ballots).odd


def test_what_is_odd_is_listed_with_three_names_at_most():
    odd = inspect_ballots(crowd(4, {("v2", "z0"): {"robin"}, ("v2", "z1"): {"wren"}})).odd
    assert "never ticked: 'a', 'b', 'c' and 2 more" in odd
    assert not any("single ballot" in each or "no ballot" in each for each in odd)


def test_voters_without_any_ballot_are_not_odd():
    silent = Ballots.from_array(np.ones((3, 3, 1)), missing=[[False, False, True]] * 3)
    found = inspect_ballots(silent)
    assert found.per_voter == Spread(0, 3, 3)
    assert found.odd == ("2 of 3 voters tick everything, always: 'voter1', 'voter2'",)


def test_instances_without_any_ballot_are_counted():
    empty = Ballots(
        ("v", "w"), ("y", "z", "x"), ("a",), np.array([0, 2, 2, 2]), np.arange(2), np.array([0, 1, 1]), np.zeros(1, int)
    )
    assert "2 instances have no ballot at all" in inspect_ballots(empty).odd


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Owl", "owl "], "alternatives 'Owl', 'owl ' differ only"),
        (["grey owl", "Grey  Owl", "wren"], "alternatives 'grey owl', 'Grey  Owl' differ only"),
        (["hibou", "hîbou"], "alternatives 'hibou', 'hîbou' differ only"),
        (["straße", "STRASSE"], "alternatives 'straße', 'STRASSE' differ only"),
        (["owl", "owls"], None),
        (["a", "b", "a; b"], "alternative 'a; b' looks like several in one"),
        (["a", "b", "a/b"], "alternative 'a/b' looks like several in one"),
        (["a", "b", "b,a", "a,b"], "alternative 'b,a' looks like several in one"),
        (["a", "c", "a, b"], None),
        (["a b", "a", "b"], "alternative 'a b' looks like several in one"),
        (["a", "b", "a\nb"], "alternative 'a\\nb' looks like several in one"),
        (["a b", "a", "c"], None),
        (["N/A", "b"], "alternative 'N/A' looks like a missing ballot; if so, add --missing 'N/A'"),
        (["e\u0301", "\u00e9"], "alternatives 'e\u0301', '\u00e9' differ only"),
        (["{a}", "b", "[c]"], "alternative '{a}' looks like a list"),
        (["(a", "b"], "alternative '(a' looks like a list"),
        (["a]", "b)"], None),
    ],
)
def test_names_that_look_wrong(names, expected):
    cast = {(voter, z): set(names) if z == "y" else set() for voter in ("ann", "bo") for z in "yz"}
    odd = inspect_ballots(Ballots.from_mapping(cast, alternatives=names)).odd
    assert len(odd) == (expected is not None)
    assert expected is None or odd[0].startswith(expected)


def test_voters_that_look_alike_are_told_apart_from_alternatives():
    cast = {(voter, z): {"a"} if z == "y" else set() for voter in ("Zoe", "zoé", "Bo") for z in "yz"}
    assert inspect_ballots(Ballots.from_mapping(cast)).odd == (
        "voters 'Zoe', 'zoé' differ only in blanks, accents or capitals; are they the same?",
    )


def test_a_single_instance_is_no_reason_to_complain_of_single_ballots():
    assert inspect_ballots(Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"a"}})).odd == ()


# Mistakes and places


@settings(max_examples=15)
@given(elections(max_voters=4, max_instances=4), st.data())
def test_the_ranking_is_recounted(election, data):
    ballots = election.as_ballots()
    asked = sorted(data.draw(st.sets(st.sampled_from(election.instances))))
    gold = {z: data.draw(st.sets(st.sampled_from(election.menus[z]))) for z in asked}
    points = {v: sum(who == v and z in gold and gold[z] <= t for (who, z), t in election.ballots.items()) for v in ballots.voters}  # fmt: skip
    ticks = {v: sum(len(t) for (who, z), t in election.ballots.items() if who == v and z in gold) for v in ballots.voters}  # fmt: skip
    found = rank_participants(ballots, gold)
    assert sorted(each.voter for each in found) == sorted(ballots.voters)
    for each in found:
        assert (each.points, each.ticks) == (points[each.voter], ticks[each.voter])
        better = [v for v in ballots.voters if (-points[v], ticks[v]) < (-each.points, each.ticks)]
        assert each.rank == len(better) + 1
    assert [each.rank for each in found] == sorted(each.rank for each in found)
    for one, other in itertools.pairwise(found):
        assert one.rank < other.rank or ballots.voters.index(one.voter) < ballots.voters.index(other.voter)


def test_sets_of_other_numbering_and_other_instances_are_counted_rightly():
    ballots = Ballots.from_mapping({(v, z): {"a"} if z == "y" else {"b", "c"} for v in "uvw" for z in "yz"})
    sets = {"elsewhere": {"c"}, "z": {"unknown", "c", "a"}}
    assert confusions(ballots, sets).tolist() == [[0, 3, 0], [0, 0, 0], [0, 0, 0]]
    assert [each.tolist() for each in tick_counts(ballots, sets)] == [[3, 0, 3], [0, 0, 3], [0, 3, 0], [0, 3, 0]]
