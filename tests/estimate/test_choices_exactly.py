"""What `Auto` chooses and says where halves of the voters, groups and simulated crowds say this or that."""

import numpy as np
import pytest

from epivote import EM, Ballots, reference_crowd
from epivote.estimate import auto
from epivote.estimate.auto import Auto

CROWD = reference_crowd(24, 6, 4, 2, seed=5)
USUAL = "EM(bounds=(1, 2))"
ONE_PRIOR = "one prior for all alternatives: two halves of the voters then agree on 80 % of the sets instead of 50 %"
GROUPS = "2 groups of instances with priors of their own, which explain the ballots much better"


@pytest.fixture
def says(monkeypatch):
    """Sets what halves agree on, with priors of their own and with a shared one, and how many groups are best."""
    asked = []

    def set_up(before=(5, 10), after=(5, 10), groups=1):
        def agree(estimator, sample, rng):
            asked.append((repr(estimator), estimator._given_turn, estimator._turn, int(rng.integers(1000))))
            right, total = after if estimator.priors == "shared" else before
            return np.arange(total) < right

        monkeypatch.setattr(auto, "suggest_method", lambda *_, **__: ("em", "why"))
        monkeypatch.setattr(auto, "halves_agree", agree)
        monkeypatch.setattr(auto, "best_groups", lambda *_: groups)
        monkeypatch.setattr(auto, "reproducibility", lambda *_, **__: None)
        return asked

    return set_up


def chosen(ballots=CROWD.ballots, **options):
    fitted = Auto((1, 2), **options).fit(ballots)
    return repr(fitted.estimator_), fitted.choices_


def test_the_usual_priors(says):
    asked = says()
    assert chosen() == (USUAL, ("why",))
    assert [each[0] for each in asked] == ["EM(bounds=(1, 2), tolerance=0.001)"] * 3 + [
        "EM(bounds=(1, 2), priors='shared')"
    ] * 3
    assert [each[1:3] for each in asked] == [(None, False)] * 3 + [(False, None)] * 3
    assert [each[3] for each in asked[:3]] == [each[3] for each in asked[3:]]
    assert len({each[3] for each in asked}) > 1


def test_one_prior_for_all(says):
    says(before=(50, 100), after=(80, 100), groups=2)
    assert chosen() == ("EM(bounds=(1, 2), priors='shared')", ("why", ONE_PRIOR))


def test_groups_of_instances(says):
    says(groups=2)
    assert chosen() == ("EM(bounds=(1, 2), groups=2)", ("why", GROUPS))
    assert chosen(quick=True) == (USUAL, ("why",))


@pytest.mark.parametrize("count", [9, 10])
def test_halves_must_have_enough_in_common(says, count):
    says(before=(0, count), after=(count, count), groups=2)
    estimator, choices = chosen()
    assert estimator == (USUAL if count < 10 else "EM(bounds=(1, 2), priors='shared')")
    assert len(choices) == 1 + (count >= 10)


@pytest.mark.parametrize("count", [9, 10])
def test_instances_must_be_enough(says, count):
    asked = says(before=(0, 10), after=(10, 10))
    some = CROWD.ballots.select(instances=CROWD.ballots.instances[:count])
    assert chosen(some)[0] == (USUAL if count < 10 else "EM(bounds=(1, 2), priors='shared')")
    assert bool(asked) == (count >= 10)


def test_menus_leave_priors_alone(says):
    asked = says(before=(0, 10), after=(10, 10), groups=2)
    names = CROWD.ballots.alternatives
    votes = {key: set(ticks) - {names[0]} for key, ticks in CROWD.ballots.items()}
    menu = {name: names[1:] if place else names for place, name in enumerate(CROWD.ballots.instances)}
    assert chosen(Ballots.from_mapping(votes, alternatives=names, menu=menu)) == (USUAL, ("why",))
    assert asked == []


def test_groups_are_not_part_of_what_is_checked(says, monkeypatch):
    says(groups=2)
    checked = []
    monkeypatch.setattr(
        auto, "reproducibility", lambda estimator, _, **how: checked.append((repr(estimator), how["errors"]))
    )
    chosen()
    monkeypatch.setattr(auto, "best_groups", lambda *_: 1)
    chosen()
    assert checked == [(USUAL, 3.0), (USUAL, 3.0)]
    monkeypatch.setattr(auto, "suggest_method", lambda *_, **__: ("amle", "why"))
    assert chosen()[0] == "AMLE(bounds=(1, 2))"
    assert checked[2:] == [("AMLE(bounds=(1, 2))", 2.0)]


def test_an_interruption_of_the_check_keeps_the_fit(says, monkeypatch):
    says()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(auto, "reproducibility", interrupted)
    fitted = Auto((1, 2))
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(CROWD.ballots)
    assert fitted.estimate_.status == "interrupted"
    assert fitted.truth_ == EM((1, 2)).fit(CROWD.ballots).truth_


def test_gold_or_a_history_make_assumptions_needless(says):
    says()
    two = CROWD.ballots.select(voters=CROWD.ballots.voters[:2])
    assert chosen(two) == (
        "EM(bounds=(1, 2), shrinkage=1000000.0)",
        ("why", "both voters are taken as equally reliable, because ballots cannot show which of two is right"),
    )
    known = {CROWD.ballots.voters[0]: (9.0, 10.0, 1.0, 10.0)}
    fitted = Auto((1, 2)).fit(two, history=known)
    assert (repr(fitted.estimator_), fitted.choices_) == (USUAL, ("why",))
    single = {("ann", f"q{number}"): {"a"} for number in range(3)}
    fitted = Auto((1, 2)).fit(Ballots.from_mapping(single, alternatives=["a", "b"]))
    assert fitted.choices_[1:] == (
        "no instance has two ballots, so every voter is assumed to have a hit rate of 70 % and a false-alarm rate of "
        "20 %",
    )
    assert repr(fitted.estimator_) == "MaximumLikelihood(hit_rates=0.7, false_alarm_rates=0.2, bounds=(1, 2))"
