import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from epivote import (
    AMLE,
    Approval,
    Ballots,
    InputError,
    Majority,
    MaximumLikelihood,
    Modal,
    NotFittedError,
    Parameters,
    SizeBounds,
    simulate,
)

ALL = [
    AMLE((1, 2)),
    MaximumLikelihood(0.8, 0.2, bounds=(1, 2)),
    Majority((1, 2)),
    Modal(),
    Approval((1, 2)),
    Approval((1, 2), "dice"),
]
COLUMNS = {"voter": ["v", "w", "v", "w"], "instance": ["y", "y", "z", "z"], "alternatives": ["a", "a|b", "b", ""]}


@pytest.fixture
def ballots():
    return simulate(instances=20, voters=6, alternatives=4, bounds=(1, 2), seed=1).ballots


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_all_follow_scikit_learn(estimator, ballots):
    assert clone(estimator).get_params() == estimator.get_params()
    copy = clone(estimator).set_params(bounds=2)
    assert copy.bounds == 2
    assert copy.fit(ballots) is copy
    assert copy.fit_predict(ballots) == copy.truth_
    assert copy.truth_.sizes.min() >= 1
    assert copy.predict(ballots) == copy.truth_
    with pytest.raises(InputError, match="has no parameter 'bouds' .did you mean 'bounds'"):
        copy.set_params(bouds=2)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_results_before_fit_say_so(estimator):
    fresh = clone(estimator)
    assert not hasattr(fresh, "truth_")
    with pytest.raises(NotFittedError, match="has seen no ballots yet; call fit first"):
        fresh.voters_.shape  # noqa: B018


@pytest.mark.parametrize(
    ("kind", "frame"), [(pl.DataFrame, pl.DataFrame), (pd.DataFrame, pd.DataFrame), (pa.Table, pa.table)]
)
def test_a_dataframe_in_gives_the_same_kind_out(kind, frame):
    fitted = AMLE((1, 2)).fit(frame(COLUMNS))
    for result in (fitted.voters_, fitted.alternatives_, fitted.inclusion_):
        assert isinstance(result, kind)
    assert fitted.truth_ == AMLE((1, 2)).fit(Ballots.from_frame(frame(COLUMNS))).truth_
    assert list(pl.DataFrame(fitted.voters_).columns) == ["voter", "hit_rate", "false_alarm_rate", "weight", "ballots"]
    assert list(pl.DataFrame(fitted.alternatives_).columns) == ["alternative", "prior"]
    assert list(pl.DataFrame(fitted.inclusion_).columns) == ["instance", "alternative", "probability"]
    assert fitted.predict(frame(COLUMNS)) == fitted.truth_


def test_confidence_and_inclusion_agree_with_the_sets(ballots):
    fitted = AMLE(1).fit(ballots)
    inclusion = {(z, a): p for z, a, p in fitted.inclusion_.rows()}
    for z, confidence in zip(ballots.instances, fitted.confidence_, strict=True):
        (only,) = fitted.truth_[z]
        assert confidence == pytest.approx(inclusion[z, only]), "with one winner the set is its only member"


def test_predict_uses_known_rates_and_gives_strangers_the_crowds(ballots):
    fitted = AMLE((1, 2)).fit(ballots)
    assert fitted.predict(ballots) == fitted.truth_
    half = ballots.select(instances=ballots.instances[:7])
    assert dict(fitted.predict(half)) == {z: fitted.truth_[z] for z in half.instances}
    stranger = Ballots.from_mapping({("new", "q"): {"a1"}}, alternatives=["a1", "a2"])
    assert fitted.predict(stranger)["q"] == {"a1"}


def test_all_optimal_sets_on_request():
    even = Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"b"}}, alternatives=["a", "b", "c"])
    fitted = MaximumLikelihood(0.7, 0.3, 0.5, bounds=(0, 2)).fit(even)
    assert fitted.truth_["z"] == {"a", "b"}
    assert fitted.count_optimal_sets("z") == 4
    assert fitted.optimal_sets("z") == [{"a", "b"}, {"a"}, {"b"}, set()]
    assert fitted.optimal_sets("z", most=1) == [{"a", "b"}]
    with pytest.raises(InputError, match="'q' is not an instance"):
        fitted.optimal_sets("q")


def test_reprs_show_what_was_changed():
    assert repr(AMLE((1, 2))) == "AMLE(bounds=(1, 2))"
    assert repr(AMLE((1, 2), "uniform", n_starts=3)) == "AMLE(bounds=(1, 2), start='uniform', n_starts=3)"
    assert repr(Modal()) == "Modal()"


def test_bounds_in_every_form_mean_the_same(ballots):
    forms = [(1, 2), "1..2", SizeBounds(1, 2), SizeBounds(1, 2, {"nowhere": (0, 1)})]
    truths = [AMLE(form).fit(ballots).truth_ for form in forms]
    assert all(truth == truths[0] for truth in truths)


def test_parameters_of_one_fit_start_another(ballots):
    first = AMLE((1, 2)).fit(ballots)
    assert isinstance(first.parameters_, Parameters)
    again = AMLE((1, 2), first.parameters_).fit(ballots)
    assert again.n_iter_ <= 2
    assert again.truth_ == first.truth_
