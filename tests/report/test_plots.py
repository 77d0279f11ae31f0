import numpy as np
import pytest

from epivote import AMLE, EM, InputError, Majority, confusions, reference_crowd
from epivote.report import plots
from epivote.report.numbers import confidence_counts

CHARTS = (
    plots.plot_voter_map,
    plots.plot_confidence,
    plots.plot_sizes,
    plots.plot_convergence,
    plots.plot_confusions,
)


@pytest.fixture
def axes():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    return figure.subplots()


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.__name__)
def test_charts_draw_on_the_axes_given(chart, birds, axes):
    assert chart(AMLE((1, 2)).fit(birds), axes) is axes
    axes.figure.canvas.draw()
    assert axes.get_xlabel()
    assert axes.get_ylabel()


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.__name__)
def test_charts_make_axes_of_their_own(chart, birds):
    from matplotlib import pyplot

    fitted = EM((1, 2)).fit(birds)
    made, others = chart(fitted), chart(fitted)
    assert made.figure is not others.figure
    assert made.get_xlabel()
    assert made.figure.get_constrained_layout()
    for each in (made, others):
        pyplot.close(each.figure)


def test_the_map_has_every_voter_at_its_rates(birds, axes):
    fitted = EM((1, 2)).fit(birds)
    plots.plot_voter_map(fitted, axes)
    dots = np.concatenate([group.get_offsets() for group in axes.collections if len(group.get_offsets()) > 1])
    rates = np.stack([fitted.parameters_.false_alarm_rates, fitted.parameters_.hit_rates], axis=1)
    assert sorted(map(tuple, np.asarray(dots).round(9))) == sorted(map(tuple, rates.round(9)))


def test_bars_count_sets_by_confidence(birds, axes):
    fitted = EM((1, 2)).fit(birds)
    plots.plot_confidence(fitted, axes)
    heights = [bar.get_height() for bar in axes.patches]
    assert sum(heights) == 24
    assert heights[-1] == (fitted.confidence_ >= 0.95).sum()


def test_an_edge_belongs_to_the_bin_above_it():
    counts = confidence_counts(np.array([0.0, 0.049, 0.05, 0.15, 0.55, 0.949, 0.95, 1.0]))
    assert {bin_: count for bin_, count in enumerate(counts) if count} == {0: 2, 1: 1, 3: 1, 11: 1, 18: 1, 19: 2}


def test_sizes_are_shares_of_ballots_and_answers(birds, axes):
    fitted = EM((1, 2)).fit(birds)
    plots.plot_sizes(fitted, axes)
    ballots, answers = ([bar.get_height() for bar in group] for group in axes.containers)
    assert ballots == pytest.approx(np.bincount(birds.ballot_sizes, minlength=6) / birds.n_ballots)
    assert answers == pytest.approx(np.bincount(fitted.truth_.sizes, minlength=6) / 24)


def test_confusions_are_those_counted(birds, axes):
    fitted = EM((1, 2)).fit(birds)
    plots.plot_confusions(fitted, axes)
    assert np.array_equal(axes.images[0].get_array(), confusions(birds, fitted.truth_))


def test_of_many_alternatives_those_most_involved_are_drawn(axes):
    crowd = reference_crowd(50, 10, 40, 2)
    plots.plot_confusions(EM((1, 2)).fit(crowd.ballots), axes)
    assert axes.images[0].get_array().shape == (25, 25)


def test_rules_that_count_draw_what_they_have(birds, axes):
    fitted = Majority((1, 2)).fit(birds)
    plots.plot_voter_map(fitted, axes)
    axes.figure.canvas.draw()
    with pytest.raises(InputError, match="Majority counts ticks and states no confidence; use EM or AMLE"):
        plots.plot_confidence(fitted)
    with pytest.raises(InputError, match="Majority does not iterate"):
        plots.plot_convergence(fitted)
