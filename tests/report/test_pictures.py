"""What the matplotlib pictures draw: every bar, dot, line, colour and label against numbers worked out anew."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from epivote import EM, Ballots, CalibrationBin, InputError, Interval, Majority, MaximumLikelihood, SizeBounds, simulate
from epivote.estimate.explain import Account
from epivote.planning import Plan, PlanCheck, PlanPoint
from epivote.report import plots

pyplot = pytest.importorskip("matplotlib.pyplot")
matplotlib = pytest.importorskip("matplotlib")
BLUE, ORANGE, GREY = (matplotlib.colors.to_rgba(colour) for colour in ("#0072b2", "#d55e00", "#555555"))


@pytest.fixture
def axes():
    return matplotlib.figure.Figure().subplots()


@pytest.fixture(scope="module")
def crowd():
    return simulate(
        instances=40,
        voters=9,
        alternatives=4,
        bounds=(1, 2),
        hit_rates=0.75,
        false_alarm_rates=0.13,
        coverage=0.6,
        spammers=0.3,
        seed=2,
    )


@pytest.fixture(scope="module")
def fitted(crowd):
    return EM((1, 2)).fit(crowd.ballots)


def words(labels) -> list[str]:
    return [label.get_text() for label in labels]


def legend(axes) -> list[str]:
    return words(axes.get_legend().get_texts())


def dashed_from_0_to_1(axes, label) -> bool:
    (line,) = (line for line in axes.lines if line.get_linestyle() == "--")
    assert line.get_xydata().tolist() == [[0, 0], [1, 1]]
    return line.get_label() == label and matplotlib.colors.to_rgba(line.get_color()) == GREY


# Voters


def bars_of_errors(container) -> list[tuple]:
    """Both ends of every line of intervals, in both directions where there are two."""
    return [np.asarray(group.get_segments()).round(9).tolist() for group in container.lines[2]]


def test_voters_are_drawn_at_their_rates_with_their_intervals(fitted, axes):
    plots.plot_voter_map(fitted, axes)
    reports = fitted.reliability()
    assert 0 < sum(bool(each.flags) for each in reports) < len(reports)
    most = max(each.ballots for each in reports)
    plain, flagged = axes.collections[-2:]
    for group, wanted, colour, edge in ((plain, False, BLUE, "white"), (flagged, True, ORANGE, "black")):
        some = [each for each in reports if bool(each.flags) is wanted]
        assert np.asarray(group.get_offsets()) == pytest.approx(
            np.array([(each.false_alarm_rate, each.hit_rate) for each in some])
        )
        assert group.get_sizes() == pytest.approx([8 + 72 * each.ballots / most for each in some])
        assert group.get_facecolor()[0] == pytest.approx(colour)
        assert group.get_edgecolor()[0] == pytest.approx(matplotlib.colors.to_rgba(edge))
    across, up = bars_of_errors(axes.containers[0])
    for each, level, upright in zip(reports, across, up, strict=True):
        x, y = each.false_alarm_rate, each.hit_rate
        low, high = each.false_alarm_rate_interval
        assert np.array(level) == pytest.approx(np.array([(low, y), (high, y)]), abs=1e-8)
        low, high = each.hit_rate_interval
        assert np.array(upright) == pytest.approx(np.array([(x, low), (x, high)]), abs=1e-8)
    assert dashed_from_0_to_1(axes, "guessing")
    assert legend(axes) == ["guessing", "voters", "flagged"]
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1.02), (0, 1.02))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("false-alarm rate", "hit rate")


@pytest.mark.parametrize("count", [30, 31])
def test_few_voters_have_intervals(count, axes):
    cast = {(f"v{i}", f"z{k}"): {"a"} for i in range(count) for k in range(2)}
    fitted = MaximumLikelihood(0.8, 0.1, 0.5, bounds=1).fit(Ballots.from_mapping(cast, alternatives=["a", "b"]))
    plots.plot_voter_map(fitted, axes)
    assert len(axes.containers) == (count == 30)
    assert len(axes.collections[-1].get_offsets()) == count
    assert len(legend(axes)) == 2, "no group that nobody belongs to"


def test_rules_that_count_have_no_intervals(crowd, axes):
    plots.plot_voter_map(Majority((1, 2)).fit(crowd.ballots), axes)
    assert list(axes.containers) == []
    assert legend(axes) == ["guessing", "voters"]


# Sets


def test_bars_of_confidence(fitted, axes):
    plots.plot_confidence(fitted, axes)
    expected = Counter(min(int(sure * 20), 19) for sure in fitted.confidence_)
    assert [bar.get_height() for bar in axes.patches] == [expected[k] for k in range(20)]
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([k / 20 for k in range(20)])
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([1 / 20] * 20)
    assert [bar.get_facecolor() for bar in axes.patches] == [GREY] * 19 + [BLUE]
    assert (axes.get_xlim(), axes.get_xlabel(), axes.get_ylabel()) == ((0, 1), "confidence", "sets")


@pytest.mark.parametrize(
    ("bounds", "shaded"),
    [((1, 2), (0.5, 2.5)), ((0, None), (-0.5, 4.5)), (SizeBounds(2, 3, {"i1": (1, 1)}), (0.5, 3.5))],
)
def test_bars_of_sizes(bounds, shaded, crowd, axes):
    fitted = Majority(bounds).fit(crowd.ballots)
    plots.plot_sizes(fitted, axes)
    ticks = [len(ticks) for _, ticks in crowd.ballots.items()]
    members = [len(names) for names in fitted.truth_.values()]
    assert max(ticks) == 4
    for values, bars, shift, colour in zip((ticks, members), axes.containers, (-0.2, 0.2), (GREY, BLUE), strict=True):
        assert [bar.get_height() for bar in bars] == pytest.approx([values.count(k) / len(values) for k in range(5)])
        assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx([k + shift for k in range(5)])
        assert {round(bar.get_width(), 9) for bar in bars} == {0.38}
        assert {bar.get_facecolor() for bar in bars} == {colour}
    band = axes.patches[0]
    assert (band.get_x(), band.get_x() + band.get_width()) == shaded
    assert band.get_facecolor() == (*BLUE[:3], 0.1)
    assert words(axes.get_xticklabels()) == ["0", "1", "2", "3", "4"]
    assert axes.get_xticks().tolist() == [0, 1, 2, 3, 4]
    assert axes.get_xlim() == pytest.approx((-0.6, 4.6))
    assert legend(axes) == ["ballots", "answers"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of answers", "share")


@pytest.mark.parametrize(("largest", "last"), [(16, "16"), (17, "16+")])
def test_very_large_sizes_are_put_together(largest, last, axes):
    names = [f"a{j}" for j in range(20)]
    cast = {("v", "y"): set(names[:largest]), ("v", "z"): {"a0"}}
    plots.plot_sizes(Majority((1, 20)).fit(Ballots.from_mapping(cast, alternatives=names)), axes)
    assert axes.patches[0].get_x() + axes.patches[0].get_width() == 16.5
    assert words(axes.get_xticklabels()) == [*map(str, range(16)), last]
    assert axes.containers[0][16].get_height() == 0.5


def test_the_course_of_the_likelihood(fitted, axes):
    plots.plot_convergence(fitted, axes)
    (line,) = axes.lines
    history = fitted.log_likelihoods_
    assert line.get_xdata().tolist() == list(range(1, len(history) + 1))
    assert list(line.get_ydata()) == list(history)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("converged", "iteration", "objective")
    axes.figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in axes.get_xticks())
    assert axes.yaxis.get_offset_text().get_text() == "", "values are written in full"


def test_confusions_name_rows_and_columns(fitted, crowd, axes):
    plots.plot_confusions(fitted, axes)
    truth, names = fitted.truth_, crowd.ballots.alternatives
    expected = [
        [sum(k in truth[z] - ticks and j in ticks - truth[z] for (_, z), ticks in crowd.ballots.items()) for j in names]
        for k in names
    ]
    (image,) = axes.images
    assert image.get_array().tolist() == expected
    assert image.norm.vmin == 0
    assert words(axes.get_xticklabels()) == words(axes.get_yticklabels()) == list(names)
    assert axes.get_xticks().tolist() == axes.get_yticks().tolist() == [0, 1, 2, 3]
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {60}
    assert axes.get_ylabel() == "in the set but left out"
    assert axes.get_xlabel() == "ticked though not in the set"
    assert axes.figure.axes[1].get_ylabel() == "ballots"


@pytest.mark.parametrize("count", [25, 26])
def test_the_25_most_involved_alternatives_stay_in_their_order(count, axes):
    """`a0` is missed where others are ticked; `a1` is never ticked and so goes first."""
    names = [f"a{j}" for j in range(count)]
    cast = {(f"v{j}", "z"): {f"a{j}"} for j in range(2, count)} | {(f"w{k}", "z"): {"a0"} for k in range(count)}
    fitted = Majority(1).fit(Ballots.from_mapping(cast, alternatives=names))
    plots.plot_confusions(fitted, axes)
    assert words(axes.get_xticklabels()) == (names if count == 25 else [names[0], *names[2:]])
    assert axes.images[0].get_array()[0].tolist() == ([0, 0] if count == 25 else [0]) + [1] * (count - 2)


def test_of_equally_involved_alternatives_the_first_are_shown(axes):
    """`a00` is missed 30 times, each odd one is ticked in its place once, the others never."""
    names = [f"a{j:02}" for j in range(60)]
    cast = {(f"v{j}", "z"): {names[j]} for j in range(1, 60, 2)} | {(f"w{k}", "z"): {names[0]} for k in range(9)}
    plots.plot_confusions(Majority(1).fit(Ballots.from_mapping(cast, alternatives=names)), axes)
    assert words(axes.get_xticklabels()) == [names[0], *names[1:49:2]]


# Promises, plans and waterfalls


def test_promises_with_their_intervals(axes):
    bins = [
        CalibrationBin(0.2, 0.3, 4, 0.25, Interval(0.4, 0.1, 0.8)),
        CalibrationBin(0.9, 1, 9, 0.96, Interval(0.9, 0.7, 0.95)),
    ]
    plots.plot_calibration(bins, axes)
    assert dashed_from_0_to_1(axes, "perfect calibration")
    (drawn,) = axes.containers
    assert np.array(drawn.lines[0].get_xydata()).tolist() == [[0.25, 0.4], [0.96, 0.9]]
    assert bars_of_errors(drawn) == [[[[0.25, 0.1], [0.25, 0.8]], [[0.96, 0.7], [0.96, 0.95]]]]
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1), (0, 1))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("stated confidence", "share of sets exactly right")
    assert legend(axes) == ["perfect calibration", "sets"]


def points():
    return tuple(
        PlanPoint(ballots, Interval(mean, mean - 0.1, mean + 0.05), Interval(0, 0, 0))
        for ballots, mean in ((1, 0.3), (2, 0.5), (5, 0.8))
    )


@pytest.mark.parametrize("against", ["gold", "the whole crowd"])
def test_a_checked_plan_shows_both_curves_with_names(against, axes):
    few = points()[:2]
    check = PlanCheck(few, few if against == "gold" else (), 5, 10, 10, 10)
    plots.plot_plan(Plan(points(), 0.75, 4, check), axes)
    model, checked = axes.containers
    assert np.array(model.lines[0].get_xydata()).tolist() == [[1, 0.3], [2, 0.5], [5, 0.8]]
    assert np.array(checked.lines[0].get_xydata()).tolist() == [[1, 0.3], [2, 0.5]]
    name = {"gold": "checked: right by gold", "the whole crowd": "checked: same set as the whole crowd"}[against]
    assert legend(axes) == ["4 ballots reach 75 % by the model", "model: voters err independently", name]


@pytest.mark.parametrize("needed", [4, None])
def test_a_plan_marks_target_and_number(needed, axes):
    plots.plot_plan(Plan(points(), 0.75, needed), axes)
    (drawn,) = axes.containers
    assert np.array(drawn.lines[0].get_xydata()).tolist() == [[1, 0.3], [2, 0.5], [5, 0.8]]
    assert bars_of_errors(drawn) == [[[[1, 0.2], [1, 0.35]], [[2, 0.4], [2, 0.55]], [[5, 0.7], [5, 0.85]]]]
    (target,) = (line for line in axes.lines if line.get_linestyle() == "--")
    assert list(target.get_ydata()) == [0.75, 0.75]
    mark = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert [list(line.get_xdata()) for line in mark] == ([] if needed is None else [[4, 4]])
    named = "model: voters err independently"
    assert legend(axes) == ([named] if needed is None else ["4 ballots reach 75 %", named])
    assert (axes.get_ylim(), axes.get_xlabel(), axes.get_ylabel()) == (
        (0, 1.02),
        "ballots per instance",
        "sets exactly right",
    )


def account(voters, chosen=True, name="owl"):
    pushes = {f"v{k}": (-1) ** k * (k + 1) / 4 for k in range(voters)}
    ticked = tuple(name for k, name in enumerate(pushes) if k % 2 == 0)
    return Account(name, -0.5, pushes, ticked, 0.0, -0.5 + sum(pushes.values()), 0.875, chosen)


@pytest.mark.parametrize("voters", [1, 8, 9, 11])
@pytest.mark.parametrize("chosen", [True, False])
def test_a_waterfall_adds_up_to_the_margin(voters, chosen, axes):
    told = account(voters, chosen)
    plots.plot_waterfall(told, axes)
    ranked = sorted(told.pushes.items(), key=lambda each: -abs(each[1]))
    steps = [("prior", -0.5)]
    steps += [(name if name in told.ticked_by else f"{name} (no tick)", push) for name, push in ranked[:8]]
    if voters > 8:
        steps.append((f"{voters - 8} others", sum(push for _, push in ranked[8:])))
    bars, start = axes.patches, 0.0
    assert len(bars) == len(steps) + 1
    for row, ((_, push), bar) in enumerate(zip(steps, bars, strict=False)):
        left, right = sorted((start, start + push))
        assert sorted((bar.get_x(), bar.get_x() + bar.get_width())) == pytest.approx([left, right])
        assert bar.get_y() + bar.get_height() / 2 == pytest.approx(row)
        assert bar.get_facecolor() == (BLUE if push >= 0 else ORANGE)
        start += push
    assert start == pytest.approx(told.margin)
    last = bars[-1]
    assert (last.get_x(), last.get_width()) == pytest.approx((0, told.margin))
    assert last.get_y() + last.get_height() / 2 == pytest.approx(len(steps))
    assert last.get_facecolor() == GREY
    assert words(axes.get_yticklabels()) == [*(name for name, _ in steps), "margin"]
    assert axes.get_yticks().tolist() == list(range(len(steps) + 1))
    assert axes.yaxis_inverted()
    assert axes.get_title() == f"owl: {'in' if chosen else 'out'}, right with 88 %"
    assert axes.get_xlabel() == "log-odds"
    low, high = axes.get_xlim()
    assert low < min(0, *(bar.get_x() for bar in bars)) < high
    assert list(axes.lines[0].get_xdata()) == [0, 0]


# Files


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_ending_says_what_is_written(kind, start, tmp_path):
    plots.save_plan(Plan(points(), 0.75, 4), tmp_path / f"plan.{kind}")
    assert (tmp_path / f"plan.{kind}").read_bytes().startswith(start)
    assert pyplot.get_fignums() == [], "no figure is left open"
    if kind == "png":
        height, width, _ = pyplot.imread(tmp_path / "plan.png").shape
        inches = matplotlib.rcParams["figure.figsize"]
        assert (width, height) == tuple(round(150 * inch) for inch in inches)
    plots.check_picture(tmp_path / "plan.pdf")
    with pytest.raises(InputError, match=r"'plan\.gif'; use a name that ends in \.png, \.svg or \.pdf"):
        plots.save_plan(Plan(points(), 0.75, 4), tmp_path / "plan.gif")
    pyplot.close("all")


@pytest.mark.parametrize(("members", "outsiders"), [(2, 4), (1, 1), (0, 3)])
def test_a_picture_of_waterfalls_has_all_members_and_two_outsiders(members, outsiders, tmp_path, monkeypatch):
    names = [f"in{k}" for k in range(members)] + [f"out{k}" for k in range(outsiders)]
    told = SimpleNamespace(
        instance="picture 4",
        answer=tuple(names[:members]),
        accounts=tuple(account(2, name in names[:members], name) for name in reversed(names)),
    )
    kept = []
    monkeypatch.setattr(plots, "save", lambda figure, path: kept.append((figure, path)))
    plots.save_waterfall(told, tmp_path / "why.png")
    ((figure, path),) = kept
    shown = [*reversed(names[:members]), *list(reversed(names[members:]))[:2]]
    assert [axes.get_title().split(":")[0] for axes in figure.axes] == shown
    assert figure.get_suptitle() == f"picture 4: {{{', '.join(names[:members])}}}"
    assert figure.get_size_inches() == pytest.approx((7, 3.2 * len(shown)))
    assert path == tmp_path / "why.png"
    pyplot.close(figure)
