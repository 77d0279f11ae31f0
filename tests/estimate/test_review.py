"""What to look at again: doubtful instances, their rivals, and how many more ballots would settle them."""

import itertools
import math

import numpy as np
import pytest

from epivote import AMLE, Ballots, InputError, MaximumLikelihood, SizeBounds, simulate
from epivote.estimate import review as module
from epivote.model.set_odds import SetOdds
from small import posterior_of, small_election, with_known_rates


def check_doubts(election, fitted, threshold, **options):
    ballots = election.as_ballots()
    doubts = fitted.review(threshold, most=0, **options)
    sure = dict(zip(ballots.instances, fitted.confidence_.tolist(), strict=True))
    expected = sorted((name for name in ballots.instances if sure[name] < threshold), key=lambda name: sure[name])
    assert [doubt.instance for doubt in doubts] == expected[: options.get("limit")]
    for doubt in doubts:
        chances = posterior_of(election, fitted, doubt.instance)
        answer = set(fitted.truth_[doubt.instance])
        assert doubt.confidence == sure[doubt.instance]
        assert doubt.confidence == pytest.approx(math.fsum(c for s, c in chances if s == answer), abs=1e-9)
        assert list(doubt.answer) == [a for a in election.menus[doubt.instance] if a in answer]
        others = [chance for names, chance in chances if names != answer]
        assert doubt.rival_probability == pytest.approx(max(others, default=0.0), abs=1e-9)
        rival = set(doubt.rival)
        assert list(doubt.rival) == [a for a in election.menus[doubt.instance] if a in rival]
        if others:
            assert rival != answer
            own = math.fsum(c for s, c in chances if s == rival)
            assert own == pytest.approx(doubt.rival_probability, abs=1e-9)
        assert doubt.ballots == sum(where == doubt.instance for _, where in election.ballots)
        assert doubt.more_ballots is None
    return doubts


@pytest.mark.parametrize("seed", range(6))
def test_doubts_of_known_rates_hold_what_the_ballots_say(seed):
    election = small_election(seed, voters=3, instances=8)
    fitted = with_known_rates(election).fit(election.as_ballots())
    for threshold in (0.5, 0.95, 1):
        check_doubts(election, fitted, threshold)
    check_doubts(election, fitted, 1, limit=3)
    assert fitted.review(1, limit=0) == []


def test_the_rival_of_an_answer_given_up_by_later_rates_is_the_set_they_would_choose():
    rivals_ahead = 0
    for seed in range(9):
        election = small_election(seed, voters=3, instances=6)
        fitted = AMLE(election.size_bounds, max_iterations=1).fit(election.as_ballots())
        doubts = check_doubts(election, fitted, 0.9)
        rivals_ahead += sum(doubt.rival_probability > doubt.confidence + 1e-6 for doubt in doubts)
    assert rivals_ahead >= 2


def test_an_instance_exactly_as_sure_as_the_threshold_is_not_doubtful():
    election = small_election(3, voters=3, instances=8)
    fitted = with_known_rates(election).fit(election.as_ballots())
    for sure in fitted.confidence_.tolist():
        names = {doubt.instance for doubt in fitted.review(sure, most=0)}
        assert len(names) == np.sum(fitted.confidence_ < sure)
        assert len(fitted.review(min(1, np.nextafter(sure, 2)), most=0)) == np.sum(
            fitted.confidence_ < min(1, np.nextafter(sure, 2))
        )


def test_gold_is_never_doubtful_and_equally_doubtful_instances_keep_their_order():
    cast = {(voter, f"z{z:02}"): {"a"} if voter == "v" else {"b"} for voter in "vw" for z in range(40)}
    ballots = Ballots.from_mapping(cast, alternatives=["a", "b"])
    fitted = MaximumLikelihood(0.7, 0.2, 0.5, (1, 2)).fit(ballots, gold={"z03": {"a"}})
    doubts = fitted.review(1, most=0)
    assert [doubt.instance for doubt in doubts] == [name for name in ballots.instances if name != "z03"]
    assert {doubt.confidence for doubt in doubts} == {doubts[0].confidence}


def test_numbers_are_worked_out_for_as_many_as_asked_and_the_rest_is_listed_without():
    crowd = simulate(instances=12, voters=5, alternatives=4, bounds=(1, 2), coverage=0.6, seed=3)
    fitted = MaximumLikelihood(0.75, 0.2, 0.4, (1, 2)).fit(crowd.ballots)
    whole = fitted.review(0.95)
    assert len(whole) > 5
    assert all(doubt.more_ballots is not None for doubt in whole)
    for most in (0, 1, 3):
        found = fitted.review(0.95, most=most)
        assert found[:most] == whole[:most]
        assert [doubt.instance for doubt in found] == [doubt.instance for doubt in whole]
        assert all(doubt.more_ballots is None for doubt in found[most:])
    assert [doubt.instance for doubt in fitted.review()] == [doubt.instance for doubt in whole]


def test_the_first_hundred_get_a_number_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr(module, "_ballots_to_settle", lambda *_: 7)
    many = simulate(instances=110, voters=2, alternatives=4, bounds=(1, 2), seed=3)
    listed = MaximumLikelihood(0.7, 0.3, 0.4, (1, 2)).fit(many.ballots).review(1)
    assert [doubt.more_ballots for doubt in listed] == [7] * 100 + [None] * 10


@pytest.mark.parametrize("threshold", [0, -0.1, 1.0001, "a", None])
def test_a_threshold_that_is_no_probability_above_zero_is_refused(threshold):
    fitted = MaximumLikelihood(0.7, 0.2).fit(Ballots.from_mapping({("v", "z"): {"a"}}))
    with pytest.raises(InputError, match="must be a probability above 0"):
        fitted.review(threshold)
    assert fitted.review(1e-9) == []
    assert len(fitted.review(1)) == 1


# How many more ballots


def expected_confidence(margins, bounds, p, q, ballots):
    """The mean confidence after so many more ballots, over all sets and all ballots that may come."""
    p, q = (min(max(rate, 1e-3), 1 - 1e-3) for rate in (p, q))
    sets = [s for s in itertools.product((0, 1), repeat=len(margins)) if bounds[0] <= sum(s) <= bounds[1]]
    prior = [math.exp(sum(m * inside for m, inside in zip(margins, s, strict=True))) for s in sets]
    prior = [each / sum(prior) for each in prior]

    def chance(ticks, rate):
        return math.comb(ballots, ticks) * rate**ticks * (1 - rate) ** (ballots - ticks)

    total = 0.0
    for ticks in itertools.product(range(ballots + 1), repeat=len(margins)):
        joint = [
            before * math.prod(chance(k, p if inside else q) for k, inside in zip(ticks, s, strict=True))
            for before, s in zip(prior, sets, strict=True)
        ]
        total += max(joint)
    return total


CASES = [
    # rates by voter, bounds, threshold
    ((0.8, 0.3), (1, 1), 0.9),
    ((0.8, 0.3), (0, 2), 0.9),
    ((0.9, 0.15), (1, 2), 0.99),
    ((0.7, 0.45), (1, 1), 0.8),
    ((0.55, 0.05), (0, 1), 0.97),
]


@pytest.mark.parametrize(("rates", "bounds", "threshold"), CASES)
def test_the_number_of_further_ballots_is_the_smallest_that_is_expected_to_settle_it(
    rates, bounds, threshold, monkeypatch
):
    monkeypatch.setattr(module, "DRAWS", 3000)
    crowd = simulate(
        instances=40, voters=3, alternatives=2, bounds=bounds, hit_rates=rates[0], false_alarm_rates=rates[1], seed=4
    )
    cast = {**dict(crowd.ballots.items()), ("v1", "open"): {"a1"}, ("v2", "open"): {"a2"}}
    ballots = Ballots.from_mapping(cast, alternatives=crowd.ballots.alternatives)
    gold = {name: crowd.gold[name] for name in crowd.ballots.instances}
    fitted = MaximumLikelihood(*rates, [0.4, 0.45], bounds).fit(ballots, gold=gold)
    (doubt,) = fitted.review(threshold)
    records = np.array(list(fitted.voter_history_.values())).sum(axis=0)
    p, q = records[0] / records[1], records[2] / records[3]
    by_name = {account.alternative: account.margin for account in fitted.explain("open").accounts}
    margins = [by_name["a1"], by_name["a2"]]
    assert doubt.confidence == pytest.approx(expected_confidence(margins, bounds, p, q, 0))

    def after(count):
        return expected_confidence(margins, bounds, p, q, count)

    found = doubt.more_ballots
    assert found is not None
    assert after(found) > threshold - 0.01
    assert after(found - 1) < threshold + 0.01


def test_one_ballot_can_be_enough_and_sixty_four_may_be_too_few():
    easy = Ballots.from_mapping(
        {(f"v{i}", f"z{z}"): {"a"} for i in range(4) for z in range(9)} | {("v0", "open"): {"b"}},
        alternatives=["a", "b"],
    )
    gold = {f"z{z}": {"a"} for z in range(9)}
    assert [d.more_ballots for d in MaximumLikelihood(0.8, 0.3, 0.5, 1).fit(easy, gold=gold).review(0.95)] == [1]
    hard = {(f"v{i}", f"z{z}"): {"a"} if (i + z) % 2 else {"b"} for i in range(4) for z in range(8)}
    hard |= {("v0", "open"): {"b"}}
    gold = {f"z{z}": {"a"} for z in range(8)}
    known = MaximumLikelihood(0.8, 0.3, 0.5, 1).fit(Ballots.from_mapping(hard, alternatives=["a", "b"]), gold=gold)
    assert [doubt.more_ballots for doubt in known.review(0.95)] == [None], "voters who guess settle nothing"


def test_the_search_finds_every_number_up_to_sixty_four(monkeypatch):
    """Each number is the smallest for which the mean of the drawn confidences reaches the threshold."""
    steps = np.linspace(0.01, 0.64, 64)
    odds = SetOdds(np.zeros((1, 1)), 0, 1)
    monkeypatch.setattr(
        SetOdds,
        "probabilities",
        lambda new, _: np.full(len(new.log_odds), steps[round(-new.log_odds[0, 0]) - 1]),
    )
    monkeypatch.setattr(SetOdds, "draw", lambda *_: np.zeros((5, 1), bool))

    class Voter:
        hit_rates, false_alarm_rates = np.array([0.0]), np.array([0.0])
        weights, thresholds = np.array([0.0]), np.array([1.0])

    for count in range(1, 65):
        found = module._ballots_to_settle(odds, 0, steps[count - 1], Voter, 1.0, np.random.default_rng(0))
        assert found == count
    assert module._ballots_to_settle(odds, 0, 0.641, Voter, 1.0, np.random.default_rng(0)) is None


def test_a_crowd_that_found_nothing_right_is_asked_all_the_same():
    ballots = Ballots.from_mapping({(v, z): set() for v in "vw" for z in "xyz"}, alternatives=["a", "b"])
    fitted = MaximumLikelihood(0.6, 0.3, 0.4, (0, 2)).fit(ballots)
    assert set(map(len, fitted.truth_.values())) == {0}
    assert [doubt.ballots for doubt in fitted.review(1)] == [2, 2, 2]
    full = Ballots.from_mapping({(v, z): {"a", "b"} for v in "vw" for z in "xyz"}, alternatives=["a", "b"])
    assert len(MaximumLikelihood(0.6, 0.5, 0.5, (0, 2)).fit(full).review(1)) == 3


@pytest.fixture(scope="module")
def unsure():
    crowd = simulate(
        instances=40,
        voters=8,
        alternatives=4,
        bounds=(1, 2),
        hit_rates=0.7,
        false_alarm_rates=0.2,
        coverage=0.4,
        seed=5,
    )
    return MaximumLikelihood(0.7, 0.2, 0.4, SizeBounds(1, 2, {"i3": (0, 4)})).fit(crowd.ballots)


def test_a_set_below_095_is_doubtful_unless_told_otherwise(unsure):
    confidence = unsure.confidence_
    assert np.any((confidence > 0.475) & (confidence < 0.95))
    assert {doubt.instance for doubt in unsure.review()} == {
        name for name, sure in zip(unsure.truth_, confidence, strict=True) if sure < 0.95
    }


def test_ballots_that_just_reach_the_threshold_are_enough():
    """Voters who hardly ever err: after some of them the confidence is 1 to the last bit."""
    ballots = simulate(instances=6, voters=1, alternatives=3, bounds=1, hit_rates=0.9, seed=1).ballots
    more = [doubt.more_ballots for doubt in MaximumLikelihood(0.999, 0.001, 0.3, 1).fit(ballots).review(1.0)]
    assert more
    assert all(number is not None and number < 64 for number in more)


def test_numbers_depend_on_the_seed_and_on_nothing_else(unsure):
    def numbers(**options):
        return [doubt.more_ballots for doubt in unsure.review(0.97, limit=12, **options)]

    assert numbers() == numbers(seed=0) == [14, 13, 12, 13, 12, 13, 13, 13, 13, 12, 13, 11]
    assert numbers(seed=1) == numbers(seed=np.random.default_rng(1)) != numbers()
