"""Which size bounds ballots suggest, and whether given ones fit them."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from epivote import (
    EM,
    Ballots,
    Beta,
    SizeBounds,
    SizeCheck,
    SizeSuggestion,
    check_sizes,
    inspect_ballots,
    open_packed,
    read_ballots,
    simulate,
    suggest_size,
    summarize,
    write_packed,
)
from epivote.estimate.size_evidence import far_likelier
from epivote.evaluate import looked_at
from epivote.evaluate.sizes import _by_distance
from epivote.report import content
from epivote.summary import weighed_sizes
from strategies import elections

NAMES = list("abcdefghij")


def ballots_of(counts, voters=1):
    """Ballots with so many ballots of each size, `voters` of them on every instance; sizes are mixed evenly."""
    lengths = [size for size, count in counts.items() for _ in range(count)]
    np.random.default_rng(1).shuffle(lengths)
    cast = {(f"v{k % voters}", f"z{k // voters}"): set(NAMES[:size]) for k, size in enumerate(lengths)}
    return Ballots.from_mapping(cast, alternatives=NAMES)


# Suggestions


@pytest.mark.parametrize(
    ("counts", "lower", "upper"),
    [
        ({1: 4, 2: 96}, 2, 2),  # 4 of 100 are smaller: left out
        ({1: 5, 2: 95}, 1, 2),  # 5 of 100: in
        ({2: 96, 3: 4}, 2, 2),
        ({2: 95, 3: 5}, 2, 2),  # at most one in twenty may be larger
        ({2: 94, 3: 6}, 2, 3),
        ({1: 1}, 1, 1),
        ({0: 3}, 0, 0),
        ({1: 10, 4: 80, 9: 10}, 1, 9),
    ],
)
def test_the_middle_ninety_percent_of_the_ballots_are_suggested(counts, lower, upper):
    found = suggest_size(ballots_of(counts))
    assert (found.lower, found.upper, found.least, found.most) == (lower, upper, lower, upper)
    assert found.bounds == SizeBounds(lower, upper)


@settings(max_examples=20)
@given(elections(max_voters=5, max_instances=5))
def test_no_narrower_sizes_hold_as_many_ballots(election):
    found = suggest_size(election.as_ballots())
    lengths = [len(ticks) for ticks in election.ballots.values()]
    assert sum(size < found.least for size in lengths) < len(lengths) / 20
    assert sum(size <= found.least for size in lengths) >= len(lengths) / 20
    assert sum(size > found.most for size in lengths) <= len(lengths) / 20
    assert sum(size >= found.most for size in lengths) > len(lengths) / 20
    assert found.lower <= min(map(len, election.menus.values())), "a lower bound that every menu admits"
    EM(found.bounds).fit(election.as_ballots())


@pytest.mark.parametrize(("instances", "lower"), [(0, 1), (1, 1), (2, 0), (3, 0)])
def test_zero_is_suggested_where_one_instance_in_twenty_has_mostly_empty_ballots(instances, lower):
    """Forty instances with four ballots each; a quarter of all ballots is empty in any case."""
    cast = {}
    for z, i in product(range(40), range(4)):
        empty = i < (2 if z < instances else 1)
        cast[f"v{i}", f"z{z}"] = set() if empty else {"a", "b"}
    found = suggest_size(Ballots.from_mapping(cast, alternatives=NAMES))
    assert (found.lower, found.upper, found.least) == (lower, 2, 0)


def test_instances_without_ballots_are_not_mostly_empty():
    cast = {(f"v{i}", f"z{z}"): {"a"} if i else set() for z in range(10) for i in range(3)}
    whole = Ballots.from_mapping(cast)
    some = whole.select(instances=whole.instances[:4])
    assert suggest_size(some).lower == 1
    unanswered = Ballots(
        voters=whole.voters,
        instances=(*whole.instances, "x", "y"),
        alternatives=whole.alternatives,
        ballot_start=np.append(whole.ballot_start, [30, 30]),
        ballot_voter=whole.ballot_voter,
        approval_start=whole.approval_start,
        approved=whole.approved,
    )
    assert suggest_size(unanswered).lower == 1


def test_the_reason_is_told():
    assert SizeSuggestion(1, 3, 1, 3).reason == "the middle 90 % of the ballots have 1 to 3 ticks"
    assert SizeSuggestion(1, 1, 1, 1).reason == "the middle 90 % of the ballots have 1 tick"
    assert SizeSuggestion(2, 2, 2, 2).reason == "the middle 90 % of the ballots have 2 ticks"
    assert SizeSuggestion(1, 3, 0, 3).reason == (
        "the middle 90 % of the ballots have 0 to 3 ticks, and few instances have mostly empty ballots"
    )


def test_suggestions_hold_the_true_sets_of_simulated_crowds():
    """As the guide says; the crowds have 5, 10 or 20 alternatives, and voters of two kinds."""
    kinds = list(product((5, 10, 20), ((1, 1), (2, 2), (1, 2), (1, 3)), (0.05, 0.15)))
    assert len(kinds) == 24
    for m, bounds, false_alarm_rate in kinds:
        crowd = simulate(
            instances=300,
            voters=30,
            alternatives=m,
            bounds=bounds,
            ballots_per_instance=5,
            false_alarm_rates=false_alarm_rate,
            priors=1.5 / m,
            seed=1,
        )
        found = suggest_size(crowd.ballots)
        assert found.lower <= crowd.gold.sizes.min(), (m, bounds, false_alarm_rate)
        assert found.upper >= crowd.gold.sizes.max(), (m, bounds, false_alarm_rate)


# Bounds that do not fit


def counts_inside(cast, pairs, most):
    """By brute force: how many ballots are inside, for every shift of all bounds."""
    return {
        shift: sum([pairs[z][0] + shift <= len(ticks) <= pairs[z][1] + shift for (_, z), ticks in cast.items()])
        for shift in range(-most, most + 1)
    }


@given(elections(max_voters=5, max_instances=4))
def test_shares_are_those_of_every_shift(election):
    found = check_sizes(election.as_ballots(), election.size_bounds)
    pairs = {z: (low, min(high, len(election.menus[z]))) for z, (low, high) in election.bounds.items()}
    inside = counts_inside(election.ballots, pairs, len(election.alternatives))
    best = max(inside.values())
    assert (found.n_ballots, found.n_inside, found.n_inside_shifted) == (len(election.ballots), inside[0], best)
    assert found.outside == pytest.approx(1 - inside[0] / len(election.ballots))
    assert abs(found.shift) == min(abs(shift) for shift, share in inside.items() if share == best)
    assert inside[found.shift] == best
    assert (found.warning is not None) == (best > 2 * inside[0])


@pytest.mark.parametrize(("inside", "warned"), [(34, False), (33, False), (32, True)])
def test_bounds_are_doubtful_where_others_allow_more_than_twice_as_many_ballots(inside, warned):
    found = check_sizes(ballots_of({1: 66, 2: inside, 9: 100 - 66 - inside}), 2)
    assert found.is_doubtful is warned
    assert found.warning == (
        None
        if not warned
        else "68 % of the ballots have a size that the size bounds 2 forbid, while bounds of 1 would allow 66 % of them; "
        "check the size bounds"
    )


@pytest.mark.parametrize(
    ("counts", "bounds", "words"),
    [
        (
            {1: 299, 2: 1},
            2,
            "> 99 % of the ballots have a size that the size bounds 2 forbid, while bounds of 1 ",
        ),
        (
            {1: 300},
            2,
            "100 % of the ballots have a size that the size bounds 2 forbid, while bounds of 1 would allow 100 % ",
        ),
        (
            {3: 90, 1: 10},
            (0, 1),
            "90 % of the ballots have a size that the size bounds 0..1 forbid, while bounds of 2..3 ",
        ),
        (
            {0: 90, 4: 10},
            (1, None),
            "90 % of the ballots have a size that the size bounds 1.. forbid, while bounds of 0.. ",
        ),
        (
            {0: 90, 7: 10},
            (2, 4),
            "100 % of the ballots have a size that the size bounds 2..4 forbid, while bounds of 0..2 ",
        ),
    ],
)
def test_the_warning_names_bounds_that_fit_better(counts, bounds, words):
    assert check_sizes(ballots_of(counts), bounds).warning.startswith(words)


def test_bounds_per_instance_are_shifted_together():
    cast = {(f"v{i}", f"z{z}"): set(NAMES[: 2 if z else 4]) for z in range(2) for i in range(5)}
    found = check_sizes(Ballots.from_mapping(cast, alternatives=NAMES), SizeBounds(1, 1, {"z0": (3, 3)}))
    assert (found.n_inside, found.shift, found.n_inside_shifted) == (0, 1, 10)
    assert "while bounds larger by 1 would allow 100 % of them" in found.warning
    found = check_sizes(Ballots.from_mapping(cast, alternatives=NAMES), SizeBounds(4, 4, {"z0": (6, 6)}))
    assert "while bounds smaller by 2 would allow 100 % of them" in found.warning


FEW, SOME, MANY = Beta(1, 30), Beta(2, 12), Beta(2, 5)  # false-alarm rates


def crowds():
    """Crowds of the model: few to many alternatives, narrow and wide bounds, good and bad voters, with spammers."""
    bounds, hits = ((1, 1), (2, 2), (1, 3)), (Beta(6, 3), Beta(9, 1))
    for number, kind in enumerate(product((3, 5, 10, 20), bounds, hits, (FEW, SOME, MANY), (0, 0.2))):
        m, pair, hit_rates, alarms, spammers = kind
        crowd = simulate(
            instances=150,
            voters=30,
            alternatives=m,
            bounds=pair,
            ballots_per_instance=5,
            hit_rates=hit_rates,
            false_alarm_rates=alarms,
            priors=min(0.5, 1.5 / m),
            spammers=spammers,
            seed=number,
        )
        yield m, pair, alarms, crowd.ballots


@pytest.mark.slow
def test_right_bounds_are_rarely_doubted_and_wrong_ones_often():
    """The figures of the guide docs/how-to/size.md, in percent."""
    right, wrong = {}, {}
    for m, bounds, alarms, ballots in crowds():
        right.setdefault(alarms, []).append(weighed_sizes(ballots, SizeBounds(*bounds)).is_doubtful)
        for other in ((1, 1), (2, 2), (3, 3), (4, 4), (4, 6)):
            if other[1] < m and (other[0] > bounds[1] or other[1] < bounds[0]):
                wrong.setdefault(alarms, []).append(weighed_sizes(ballots, SizeBounds(*other)).is_doubtful)
    found = {alarms: (round(100 * np.mean(right[alarms])), round(100 * np.mean(wrong[alarms]))) for alarms in right}
    assert found == {FEW: (0, 91), SOME: (0, 84), MANY: (0, 51)}
    guide = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "size.md").read_text()
    for doubted, noticed in found.values():
        assert f" | {doubted} % | {noticed} % |" in guide


@pytest.mark.parametrize(
    ("shift", "shifted", "is_likelier", "doubtful"),
    [
        (-1, 19, None, False),
        (-1, 21, None, True),
        (-1, 21, False, True),
        (-1, 19, False, False),
        (-1, 11, True, True),
        (1, 11, True, False),  # sets look too large where voters share mistakes
        (1, 21, True, True),
        (1, 21, False, False),
    ],
)
def test_likelihood_decides_unless_it_asks_for_larger_sets(shift, shifted, is_likelier, doubtful):
    found = SizeCheck(SizeBounds(2, 2), 100, 10, shift, shifted, is_likelier=is_likelier)
    assert found.is_doubtful is doubtful


def test_lower_bounds_are_called_likelier_where_sets_are_smaller():
    """Most ballots have two or three ticks, of which one is a guess."""
    crowd = simulate(instances=60, voters=12, alternatives=8, bounds=1, false_alarm_rates=0.2, hit_rates=0.9, seed=3)
    found = weighed_sizes(crowd.ballots, SizeBounds(3, 3))
    assert (found.shift < 0, found.is_likelier, found.is_doubtful) == (True, True, True)
    assert not check_sizes(crowd.ballots, 3).is_doubtful, "ballots alone do not tell"
    assert not weighed_sizes(crowd.ballots, SizeBounds(1, 1)).is_doubtful
    assert not far_likelier(crowd.ballots, SizeBounds(1, 1), 9), "no set is as large"


def test_bounds_are_shifted_together():
    found = SizeBounds(1, 2, {"z": (0, None), "y": (3, 3)})
    assert found.shifted(-2) == SizeBounds(0, 0, {"z": (0, None), "y": (1, 1)})
    assert found.shifted(1) == SizeBounds(2, 3, {"z": (1, None), "y": (4, 4)})


# Where it is shown


def test_an_inspection_and_a_summary_carry_it():
    ballots = ballots_of({1: 95, 2: 5}, voters=5)
    assert inspect_ballots(ballots).suggested_size == suggest_size(ballots)
    summary = summarize(EM((3, 3)).fit(ballots))
    assert summary.size_check == weighed_sizes(ballots, SizeBounds(3, 3))
    (told,) = [each for each in content.warnings_of(summary, ()) if "size bounds" in each]
    assert told.replace("\u00a0", " ") == f"{summary.size_check.warning}."
    assert content.warnings_of(summary, [summary.size_check.warning]).count(told) == 1, "it is said once"
    fine = summarize(EM((1, 1)).fit(ballots))
    assert not any("size bounds" in each for each in content.warnings_of(fine, ()))


def test_the_report_says_it_of_nearly_all_ballots():
    summary = summarize(EM((3, 3)).fit(ballots_of({1: 399, 3: 1}, voters=5)))
    assert any(each.startswith("> 99\u00a0% of the ballots") for each in content.warnings_of(summary, ()))


def test_of_packed_ballots_a_sample_is_looked_at(tmp_path, monkeypatch):
    ballots = ballots_of({1: 190, 2: 10}, voters=2)
    write_packed([ballots], tmp_path / "packed")
    packed = open_packed(tmp_path / "packed")
    monkeypatch.setattr(looked_at, "MOST_BALLOTS", 50)
    sample = ballots.sample_instances(4)
    assert suggest_size(packed) == suggest_size(sample)
    found = check_sizes(packed, 3)
    assert found.sampled == sample.n_instances < 100
    assert f"of the ballots, in a sample of {sample.n_instances} instances, have a size" in found.warning
    monkeypatch.setattr(looked_at, "MOST_BALLOTS", 200)
    assert suggest_size(packed) == suggest_size(ballots)
    assert check_sizes(packed, 3).outside == check_sizes(ballots, 3).outside


def test_the_birds_of_the_guide():
    birds = read_ballots("examples/birds.csv")
    assert str(suggest_size(birds).bounds) == "1..5"
    assert check_sizes(birds, (1, 2)).warning is None


@given(elections())
def test_ballots_are_counted_by_how_far_they_are_from_a_bound(election):
    ballots = election.as_ballots()
    lower, upper = election.size_bounds.resolve(ballots)
    alike = (np.full(ballots.n_instances, bound) for bound in range(-1, ballots.n_alternatives + 1))
    for bounds in (upper, lower - 1, *alike):
        distance = ballots.ballot_sizes - np.repeat(bounds, ballots.ballots_per_instance)
        expected = [int(np.sum(distance == by)) for by in range(-ballots.n_alternatives, ballots.n_alternatives + 2)]
        assert _by_distance(ballots, bounds).tolist() == expected
