"""Where an estimate begins: at the rates before, if enough of them are known and there are enough ballots."""

from types import SimpleNamespace

import pytest

from epivote.web.estimation.estimate import KnownRates

MANY = 50_000
KNOWN = KnownRates({"a": (0.9, 0.1), "b": (0.8, 0.3), "c": (0.6, 0.2), "d": (0.7, 0.4)}, {"cat": 0.25, "dog": 0.5})


def start(voters, n_ballots=MANY, alternatives=("dog", "cat"), known=KNOWN):
    return known.start(SimpleNamespace(voters=voters, n_ballots=n_ballots, alternatives=alternatives))


def test_known_rates_are_taken_by_name():
    found = start(["c", "a"])
    assert found.hit_rates.tolist() == [0.6, 0.9]
    assert found.false_alarm_rates.tolist() == [0.2, 0.1]
    assert found.priors.tolist() == [0.5, 0.25]


def test_somebody_new_begins_in_the_middle_of_the_others():
    found = start(["a", "b", "new", "c", "d"])
    assert found.hit_rates.tolist() == pytest.approx([0.9, 0.8, 0.75, 0.6, 0.7])
    assert found.false_alarm_rates.tolist() == pytest.approx([0.1, 0.3, 0.25, 0.2, 0.4])


def test_with_more_than_a_fifth_new_it_begins_anew():
    names = [f"v{number}" for number in range(10)]
    known = KnownRates(dict.fromkeys(names[:8], (0.9, 0.1)), {"cat": 0.25})
    assert start(names, alternatives=["cat"], known=known) is not None
    assert start([*names, "w"], alternatives=["cat"], known=known) is None
    assert start(["a", "b", "c", "new"]) is None
    assert start(["a", "b", "c", "d", "new"]) is not None


def test_few_ballots_or_an_alternative_that_is_new_begin_anew():
    assert start(["a"], MANY - 1) is None
    assert start(["a"], MANY) is not None
    assert start(["a"], MANY + 1) is not None
    assert start(["a"], alternatives=["cat", "owl"]) is None
    assert start(["a"], alternatives=["cat"]).priors.tolist() == [0.25]
    assert start(["a"], known=KnownRates()) is None


def test_the_rates_of_a_fit_are_remembered_in_place_of_those_before():
    known = KnownRates({"old": (0.5, 0.5)}, {"owl": 0.1})
    found = SimpleNamespace(
        hit_rates=SimpleNamespace(tolist=lambda: [0.9, 0.8]),
        false_alarm_rates=SimpleNamespace(tolist=lambda: [0.1, 0.2]),
        priors=SimpleNamespace(tolist=lambda: [0.3]),
    )
    ballots = SimpleNamespace(voters=("x", "y"), alternatives=("cat",))
    known.remember(SimpleNamespace(estimator=SimpleNamespace(parameters_=found), ballots=ballots))
    assert known == KnownRates({"x": (0.9, 0.1), "y": (0.8, 0.2)}, {"cat": 0.3})
