"""Reports on voters: counted again from the ballots, and every flag just below, at and above its threshold."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta

from epivote import EM, Ballots, MaximumLikelihood, Parameters, Truths, open_packed, write_packed
from epivote.data.estimate import VoterCounts
from epivote.estimate import reliability as module
from epivote.estimate.model import Model
from small import posterior_of, rates_of, small_election, with_known_rates


def counted(election, truths):
    """Right alternatives ticked and seen, wrong ones ticked and seen, by voter."""
    counts = {voter: [0, 0, 0, 0] for voter in election.voters}
    for (voter, instance), ticks in election.ballots.items():
        right = set(truths[instance])
        wrong = set(election.menus[instance]) - right
        for place, number in enumerate((len(ticks & right), len(right), len(ticks & wrong), len(wrong))):
            counts[voter][place] += number
    return counts


def half_more(successes, trials):
    return successes + 0.5, trials - successes + 0.5


@pytest.mark.parametrize("seed", range(4))
def test_rates_intervals_and_ballots_are_those_of_the_counts(seed):
    election = small_election(seed, voters=5, instances=9)
    fitted = with_known_rates(election).fit(election.as_ballots())
    counts = counted(election, fitted.truth_)
    assert {voter: list(record) for voter, record in fitted.voter_history_.items()} == counts
    p, q, _ = rates_of(fitted)
    for report in fitted.reliability():
        hits, winners, alarms, losers = counts[report.voter]
        weight = math.log(p[report.voter] / (1 - p[report.voter])) - math.log(q[report.voter] / (1 - q[report.voter]))
        assert report.ballots == sum(voter == report.voter for voter, _ in election.ballots)
        assert report.hit_rate == pytest.approx(p[report.voter])
        assert report.false_alarm_rate == pytest.approx(q[report.voter])
        assert report.weight == pytest.approx(weight)
        odds = [half_more(hits, winners), half_more(alarms, losers)]
        for (yes, no), rate, interval in (
            (odds[0], p[report.voter], report.hit_rate_interval),
            (odds[1], q[report.voter], report.false_alarm_rate_interval),
        ):
            low, high = beta.ppf([0.025, 0.975], yes, no)
            assert interval == pytest.approx((min(low, rate), max(high, rate)), abs=1e-9)
        centre = math.log(odds[0][0] / odds[0][1]) - math.log(odds[1][0] / odds[1][1])
        half = 1.96 * math.sqrt(sum(1 / each for pair in odds for each in pair))
        expected = min(centre - half, weight), max(centre + half, weight)
        assert report.weight_interval == pytest.approx(expected, abs=1e-9)
    assert [report.voter for report in fitted.reliability()] == list(fitted.estimate_.ballots.voters)


def test_counts_of_soft_sets_are_expected_counts():
    election = small_election(5, voters=3)
    fitted = EM(election.size_bounds, max_iterations=1).fit(election.as_ballots())
    start = MaximumLikelihood(0.7, 0.2, 0.5, election.size_bounds).fit(election.as_ballots())
    expected = dict.fromkeys(election.voters, 0.0)
    for instance in election.instances:
        for right, chance in posterior_of(election, start, instance):
            for voter in election.voters:
                expected[voter] += chance * len(right & election.ballots.get((voter, instance), set()))
    assert {voter: record.hits for voter, record in fitted.voter_history_.items()} == pytest.approx(expected)


# Flags at their thresholds


def flags_of(hits, winners, alarms, losers, rates=(0.8, 0.3)):
    ballots = Ballots.from_mapping({("v", "z"): {"a"}}, alternatives=["a", "b"])
    model = Model(
        ("v",),
        ballots.alternatives,
        Parameters(np.array(rates[:1]), np.array(rates[1:]), np.array([0.5, 0.5])),
        VoterCounts(*(np.array([float(number)]) for number in (hits, winners, alarms, losers))),
    )
    (report,) = module.reliability(model, ballots, ballots, Truths.from_mapping({"z": {"a"}}, alternatives=["a", "b"]))
    assert report.ballots == 1
    return report.flags


def test_who_ticks_ninety_five_of_a_hundred_ticks_everything():
    assert flags_of(50, 50, 45, 50)[0] == "ticks everything"
    assert "ticks everything" not in flags_of(49, 50, 45, 50)
    assert "ticks everything" not in flags_of(50, 50, 44.9, 50)
    assert flags_of(48, 48, 47, 52)[0] == "ticks everything"


def test_who_ticks_one_of_a_hundred_ticks_nothing():
    assert flags_of(1, 40, 0, 60)[0] == "ticks nothing"
    assert flags_of(0, 40, 1, 60)[0] == "ticks nothing"
    assert "ticks nothing" not in flags_of(1.1, 40, 0, 60)
    assert "ticks nothing" not in flags_of(1, 40, 0.1, 60)
    assert flags_of(0, 40, 0, 60)[0] == "ticks nothing"


def test_ten_right_answers_are_enough_to_say_something():
    assert flags_of(9, 9.9, 0, 30) == ("too few ballots to say (10 right alternatives seen)",)
    assert flags_of(9, 9, 0, 30) == ("too few ballots to say (9 right alternatives seen)",)
    assert flags_of(0, 9, 29, 30, (0.1, 0.9)) == ("too few ballots to say (9 right alternatives seen)",)
    assert flags_of(9, 10, 0, 30) == ()
    assert flags_of(0, 0, 0, 0) == ("too few ballots to say (0 right alternatives seen)",)


WORSE = "worse than chance: an approval counts against the alternative"
GUESSING = "may be guessing"


@pytest.mark.parametrize(
    ("counts", "rates", "expected"),
    [
        ((90, 100, 10, 100), (0.9, 0.1), ()),
        ((10, 100, 90, 100), (0.1, 0.9), (WORSE,)),
        ((50, 100, 50, 100), (0.5, 0.5), (GUESSING,)),
        ((60, 100, 50, 100), (0.6, 0.5), (GUESSING,)),
        ((50, 100, 60, 100), (0.5, 0.6), (GUESSING,)),
        ((65, 100, 50, 100), (0.65, 0.5), ()),
        ((50, 100, 65, 100), (0.5, 0.65), (WORSE,)),
        ((90, 100, 10, 100), (0.5, 0.5), ()),
        ((10, 100, 90, 100), (0.5, 0.5), ()),
        ((90, 100, 10, 100), (0.4, 0.5), (GUESSING,)),
        ((10, 100, 90, 100), (0.5, 0.4), (GUESSING,)),
        ((55, 1000, 500, 10_000), (0.055, 0.05), (GUESSING,)),
        ((700, 1000, 300, 1000), (0.7, 0.3), ()),
    ],
)
def test_voters_are_worse_than_chance_or_guess_where_the_interval_of_their_weight_says_so(counts, rates, expected):
    assert flags_of(*counts, rates) == expected


# A crowd that is upside down


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(2, 40, 38, 40), (38, 40, 2, 40)], False),  # exactly half
        ([(2, 40, 39, 41), (38, 40, 2, 40)], True),
        ([(2, 40, 38, 40), (39, 41, 2, 40)], False),
        ([(2, 40, 38, 40), (58, 60, 2, 40)], False),  # 44 in 100
        ([(5, 20, 25, 40)] * 2 + [(40, 40, 0, 40)], True),  # two of three together
        ([(5, 20, 25, 40)] + [(40, 40, 0, 40)] * 2, False),
        ([(1, 5, 3, 5)] * 30, True),  # none of them surely, all together surely
        ([(2, 5, 2, 5)] * 30, False),
        ([(0, 1, 1, 1)] * 2, False),  # too little to say
        ([(5, 20, 25, 40)] * 2 + [(60, 60, 0, 59)], True),
        ([(5, 20, 25, 40)] * 2 + [(61, 61, 0, 60)], False),
    ],
)
def test_a_crowd_is_upside_down_if_most_that_was_seen_was_seen_by_voters_surely_worse_than_chance(rows, expected):
    counts = VoterCounts(*np.array(rows, float).T)
    assert module.upside_down(counts) == expected


# Near-copies

PAIRS = {  # (common ballots, identical ones, mistakes among the identical ones): whether a copy
    (10, 10, 3): True,
    (9, 9, 9): False,
    (10, 9, 9): False,
    (20, 19, 3): True,
    (20, 18, 18): False,
    (20, 20, 2): False,
    (40, 38, 3): True,
    (40, 37, 20): False,
    (11, 11, 11): True,
}


def suspicious_crowd(width):
    """Two voters for each kind of pair; all are right where nothing else is asked of them."""
    names = [f"a{j:03}" for j in range(width)]
    instances = [f"z{z:02}" for z in range(45)]
    size = width // 20 + 1
    gold = {z: set(names[:size]) for z in instances}
    ballots = {}
    for number, (common, same, mistakes) in enumerate(PAIRS):
        mine = {names[-1 - number], *names[size : 2 * size - 1]}
        one, other = f"one{number}", f"other{number}"
        for place, z in enumerate(instances):
            mistake = place < mistakes
            if place < common:
                ballots[one, z] = mine if mistake else gold[z]
                ballots[other, z] = ballots[one, z] if place < same else mine | {names[-2 - number], names[1]}
            else:
                ballots[one if place % 2 else other, z] = gold[z]
    return Ballots.from_mapping(ballots, alternatives=names), gold


@pytest.mark.parametrize("width", [14, 63, 64, 70, 256, 257, 300])
def test_copies_share_ten_ballots_and_three_mistakes_and_nearly_all_else(width):
    ballots, gold = suspicious_crowd(width)
    fitted = MaximumLikelihood(0.8, 0.1, 0.5, (1, None)).fit(ballots, gold=gold)
    flags = {report.voter: [flag for flag in report.flags if "copy" in flag] for report in fitted.reliability()}
    for number, ((common, same, _), copy) in enumerate(PAIRS.items()):
        for voter, twin in ((f"one{number}", f"other{number}"), (f"other{number}", f"one{number}")):
            told = f"near-copy of {twin} ({same} of {common} common ballots are identical)"
            assert flags[voter] == ([told] if copy else [])


@pytest.mark.parametrize("voters_at_a_time", [0, 1, 2, 5])
def test_copies_are_found_whatever_the_size_of_blocks(voters_at_a_time, monkeypatch):
    ballots, gold = suspicious_crowd(14)
    truths = Truths.from_mapping(gold, alternatives=ballots.alternatives)
    whole = module.near_copies(ballots, truths)
    monkeypatch.setattr(module, "NUMBERS_PER_BLOCK", voters_at_a_time * ballots.n_voters)
    assert module.near_copies(ballots, truths) == whole
    assert len(whole) == 2 * sum(PAIRS.values())


def test_of_several_originals_the_one_with_most_in_common_is_named():
    instances = [f"z{z:02}" for z in range(40)]
    gold = {z: {"a"} for z in instances}
    ballots = {("copy", z): {"b"} for z in instances}
    ballots |= {("early", z): {"b"} for z in instances[:20]}
    ballots |= {("most", z): {"b"} for z in instances[:30]}
    ballots |= {("as many", z): {"b"} for z in instances[10:]}
    ballots |= {("right", z): {"a"} for z in instances}
    ballots |= {("all", z): {"a", "b", "c"} for z in instances}
    ballots |= {("also all", z): {"a", "b", "c"} for z in instances}
    given = Ballots.from_mapping(ballots, alternatives=["a", "b", "c"])
    fitted = MaximumLikelihood(0.8, 0.1, 0.5, 1).fit(given, gold=gold)
    flags = {report.voter: " ".join(report.flags) for report in fitted.reliability()}
    assert "near-copy of most (30 of 30 common" in flags["copy"]
    assert "near-copy of copy (20 of 20 common" in flags["early"]
    assert "near-copy" not in flags["right"]
    assert flags["all"] == "ticks everything may be guessing", "who ticks all is no copy of who does so too"


def copies_by_hand(ticks, right):
    """Who almost copies whom, by comparing every two voters ballot by ballot; rows of NaN are missing ballots."""
    n_instances, n_voters, _ = ticks.shape
    found = {}
    for i, k in itertools.permutations(range(n_voters), 2):
        both = [z for z in range(n_instances) if not np.isnan(ticks[z, [i, k]]).any()]
        same = [z for z in both if (ticks[z, i] == ticks[z, k]).all()]
        mistakes = [z for z in same if (ticks[z, i] != right[z]).any()]
        is_copy = len(both) >= 10 and len(same) >= 0.95 * len(both) and len(mistakes) >= 3
        if is_copy and len(same) > found.get(i, (-1, -1, -1))[1]:
            found[i] = (k, len(same), len(both))
    return found


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_copies_are_those_that_comparing_every_two_voters_finds(missing, seed):
    rng = np.random.default_rng([seed, int(10 * missing)])
    ticks = (rng.random((60, 9, 3)) < 0.4).astype(float)
    for copy, changed in ((1, 0), (3, 2), (5, 3), (7, 4)):
        ticks[:, copy] = ticks[:, copy - 1]
        ticks[rng.choice(60, changed, replace=False), copy] += 1
    ticks %= 2
    ticks[rng.random((60, 9)) < missing] = np.nan
    right = np.zeros((60, 3))
    right[:, 0] = 1
    given = Ballots.from_array(ticks)
    truths = Truths(given.instances, given.alternatives, np.arange(len(given.instances) + 1), np.zeros(60, np.int64))
    assert len(given.instances) == 60
    assert module.near_copies(given, truths) == copies_by_hand(ticks, right)


def test_blank_ballots_are_told_from_ticks_and_mistakes_from_right_answers_by_instance():
    instances = [f"z{z:02}" for z in range(12)]
    gold = {z: set() if place % 2 else {"a"} for place, z in enumerate(instances)}
    ballots = {(voter, z): gold[z] for voter, z in itertools.product(("good", "fine"), instances)}
    ballots |= {(voter, z): {"a"} - gold[z] for voter, z in itertools.product(("bad", "worse"), instances)}
    given = Ballots.from_mapping(ballots, alternatives=["a", "b"])
    found = module.near_copies(given, Truths.from_mapping(gold, alternatives=given.alternatives))
    names = given.voters
    assert {names[i]: (names[j], *rest) for i, (j, *rest) in found.items()} == {
        "bad": ("worse", 12, 12),
        "worse": ("bad", 12, 12),
    }


def test_copies_who_share_very_many_ballots_are_counted_in_full():
    ticks = np.zeros((40_000, 3, 2))
    ticks[:, :2, 0] = ticks[:, 2, 1] = 1
    given = Ballots.from_array(ticks)
    members = np.ones(40_000, np.int64)
    truths = Truths(given.instances, given.alternatives, np.arange(40_001), members)
    assert module.near_copies(given, truths) == {0: (1, 40_000, 40_000), 1: (0, 40_000, 40_000)}


def test_reports_on_packed_ballots_look_for_copies_in_a_sample(tmp_path, monkeypatch):
    ballots, gold = suspicious_crowd(14)
    known = MaximumLikelihood(0.8, 0.1, 0.5, (1, None)).fit(ballots, gold=gold)
    packed = write_packed([ballots], tmp_path / "packed")
    learnt = MaximumLikelihood(0.8, 0.1, 0.5, (1, None)).fit(open_packed(packed.folder), gold=gold)
    asked = []
    sampled = type(packed).sample_instances
    monkeypatch.setattr(
        type(packed), "sample_instances", lambda self, every: asked.append(every) or sampled(self, every)
    )
    whole = {report.voter: report for report in known.reliability()}
    for most, step in ((ballots.n_ballots, 1), (ballots.n_ballots - 1, 2), (100, -(-ballots.n_ballots // 100))):
        monkeypatch.setattr(module, "BALLOTS_FOR_COPIES", most)
        for report in learnt.reliability():
            assert report.ballots == whole[report.voter].ballots
            assert report.weight_interval == pytest.approx(whole[report.voter].weight_interval)
        assert asked.pop() == step


def test_copies_among_many_ballots_are_looked_for_in_a_sample_of_instances(monkeypatch):
    ballots, gold = suspicious_crowd(14)
    known = MaximumLikelihood(0.8, 0.1, 0.5, (1, None)).fit(ballots, gold=gold)
    looked_at = []
    found = module.near_copies
    monkeypatch.setattr(module, "near_copies", lambda *given: looked_at.append(given) or found(*given))
    for most, every in ((ballots.n_ballots, 1), (ballots.n_ballots - 1, 2)):
        monkeypatch.setattr(module, "MOST_FOR_COPIES", most)
        known.reliability()
        some, truths = looked_at.pop()
        assert some.is_same(ballots.sample_instances(every))
        assert dict(truths) == {name: known.truth_[name] for name in some.instances}


def test_a_stream_reports_on_voters_who_are_not_in_the_last_batch():
    first = Ballots.from_mapping({("v", "1"): {"a"}, ("w", "1"): {"b"}}, alternatives=["a", "b"])
    second = Ballots.from_mapping({("w", "2"): {"a"}, ("x", "2"): {"a"}}, alternatives=["a", "b"])
    reports = EM(1).partial_fit(first).partial_fit(second).reliability()
    assert [(report.voter, report.ballots) for report in reports] == [("v", 0), ("w", 1), ("x", 1)]
