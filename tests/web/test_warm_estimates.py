"""Many ballots: an estimate starts from the rates before, and once nothing is new it is made anew."""

import pytest
from test_live_values import RIGHT, crowd_rows, small_task

from epivote import Ballots
from epivote.web.estimation import estimate, worker
from in_process import store_of


@pytest.fixture
def store(tmp_path):
    with store_of(tmp_path) as opened:
        for row in crowd_rows(5):
            opened.answer(opened.join(row.voter, "").id, row.instance, row.ticks)
        yield opened


@pytest.fixture
def starts(monkeypatch):
    """Where every fit began."""
    seen = []

    class Watched(estimate.EM):
        def fit(self, *given, **options):
            seen.append(self.start)
            return super().fit(*given, **options)

    monkeypatch.setattr(estimate, "EM", Watched)
    return seen


def test_many_ballots_start_from_the_rates_before_and_end_with_a_fit_anew(store, starts, monkeypatch):
    monkeypatch.setattr(estimate, "MANY_BALLOTS", 10)
    task = small_task()
    first = worker.estimate(store, task)
    assert (starts, first.is_warm) == ([None], False)
    store.answer(store.join("late", "").id, "q0", ["owl"])
    warm = worker.estimate(store, task)
    assert warm.is_warm
    assert len(starts[1].hit_rates) == 6
    anew = worker.estimate(store, task)
    assert (starts[2], anew.is_warm) == (None, False)
    for name in RIGHT:
        assert anew.sets[name].answer == warm.sets[name].answer
        assert anew.sets[name].confidence == pytest.approx(warm.sets[name].confidence, abs=0.01)


def test_few_ballots_and_new_crowds_start_anew(store, starts, monkeypatch):
    task = small_task()
    worker.estimate(store, task)
    store.answer(store.join("late", "").id, "q0", ["owl"])
    worker.estimate(store, task)
    monkeypatch.setattr(estimate, "MANY_BALLOTS", 10)
    for number in range(9):
        store.answer(store.join(f"crowd {number}", "").id, "q0", ["owl"])
    worker.estimate(store, task)
    assert starts == [None] * 3


@pytest.mark.parametrize(("known", "many", "starts"), [(4, 5, True), (3, 5, False), (4, 6, False), (5, 5, True)])
def test_where_a_fit_starts_if_most_voters_are_known(monkeypatch, known, many, starts):
    """Five ballots of five voters; one new voter in five is not too many, and starts with the middle of the rates."""
    monkeypatch.setattr(estimate, "MANY_BALLOTS", many)
    ballots = Ballots.from_mapping({(f"v{i}", "q"): {"a", "b"} for i in range(5)})
    rates = {f"v{i}": ((0.6, 0.7, 0.7, 0.9, 0.8)[i], (0.1, 0.2, 0.3, 0.4, 0.1)[i]) for i in range(known)}
    found = estimate.KnownRates(rates, {"b": 0.2, "a": 0.4}).start(ballots)
    assert (found is not None) == starts
    if starts:
        assert found.hit_rates.tolist() == pytest.approx([0.6, 0.7, 0.7, 0.9, 0.7 if known == 4 else 0.8])
        assert found.false_alarm_rates.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.25 if known == 4 else 0.1])
        assert found.priors.tolist() == [0.4, 0.2]
        assert estimate.KnownRates(rates, {"a": 0.4}).start(ballots) is None, "an alternative is new"


def test_a_warm_estimate_asks_for_one_anew(store, monkeypatch):
    from epivote.web.estimation.runner import Estimation

    monkeypatch.setattr(estimate, "MANY_BALLOTS", 10)
    estimation = Estimation(store, small_task())
    for is_warm in (False, True, False):
        estimation.live = worker.estimate(store, small_task())
        assert (estimation.live.is_warm, estimation._has_changed()) == (is_warm, is_warm)
        if not is_warm:
            store.answer(store.join("late", "").id, "q0", ["owl"] if is_warm else ["cat"])
