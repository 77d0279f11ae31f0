"""How the matplotlib pictures look: widths, colours and shapes of all that is drawn, as last accepted."""

from pathlib import Path

import pytest

from epivote import EM, CalibrationBin, Interval, simulate
from epivote.estimate.explain import Account
from epivote.planning import Plan, PlanPoint
from epivote.report import plots

pytest.importorskip("matplotlib.figure")
matplotlib = pytest.importorskip("matplotlib")
ROOT = Path(__file__).parent.parent.parent
ACCEPTED = ROOT / "tests" / "golden" / "pictures.txt"
STYLES = ("linewidth", "linestyle", "alpha", "marker", "markersize", "zorder", "fontsize")
COLOURS = ("color", "facecolor", "edgecolor")


def style(artist):
    """What it is and how it is drawn, without its numbers."""
    found = {name: getattr(artist, f"get_{name}")() for name in STYLES if hasattr(artist, f"get_{name}")}
    if hasattr(artist, "get_cmap") and not hasattr(artist, "get_facecolor"):
        found["colours"] = artist.get_cmap().name
    for name in COLOURS:
        if hasattr(artist, f"get_{name}"):
            colours = matplotlib.colors.to_rgba_array(getattr(artist, f"get_{name}")())
            found[name] = "/".join(sorted({matplotlib.colors.to_hex(each, keep_alpha=True) for each in colours}))
    plain = {name: getattr(value, "tolist", lambda value=value: value)() for name, value in found.items()}
    told = (f"{name}={value}" for name, value in plain.items() if not (name == "linestyle" and isinstance(value, list)))
    return " ".join((type(artist).__name__, *told))


def pictures():
    crowd = simulate(instances=12, voters=5, alternatives=3, bounds=(1, 2), coverage=0.8, spammers=0.4, seed=2)
    fitted = EM((1, 2)).fit(crowd.ballots)
    sure, share = Interval(0.4, 0.1, 0.8), Interval(0.5, 0.25, 0.75)
    account = Account("owl", -0.5, {"ann": 1.0, "bo": -0.25}, ("ann",), 0.0, 0.25, 0.875, True)
    return {
        "voter map": lambda axes: plots.plot_voter_map(fitted, axes),
        "confidence": lambda axes: plots.plot_confidence(fitted, axes),
        "sizes": lambda axes: plots.plot_sizes(fitted, axes),
        "convergence": lambda axes: plots.plot_convergence(fitted, axes),
        "confusions": lambda axes: plots.plot_confusions(fitted, axes),
        "waterfall": lambda axes: plots.plot_waterfall(account, axes),
        "calibration": lambda axes: plots.plot_calibration([CalibrationBin(0.2, 0.3, 4, 0.25, sure)], axes),
        "plan": lambda axes: plots.plot_plan(
            Plan((PlanPoint(1, share, share), PlanPoint(2, sure, sure)), 0.75, 2), axes
        ),
    }


def drawn():
    for name, draw in pictures().items():
        axes = matplotlib.figure.Figure().subplots()
        draw(axes)
        yield name
        parts = [*axes.lines, *axes.collections, *axes.patches, *axes.images, axes.title]
        yield from dict.fromkeys(f"  {style(each)}" for each in parts)
        legend = axes.get_legend()
        if legend is not None:
            yield f"  legend at {legend._loc} frame={legend.get_frame_on()}"


def test_pictures_look_as_accepted():
    with matplotlib.rc_context():  # whatever others have set before
        matplotlib.rcdefaults()
        found = "\n".join(drawn()) + "\n"
    rejected = ACCEPTED.with_suffix(".new")
    rejected.unlink(missing_ok=True)
    if not ACCEPTED.exists() or found != ACCEPTED.read_text(encoding="utf-8"):
        rejected.write_text(found, encoding="utf-8")
    assert not rejected.exists(), f"if this is meant: mv {rejected.relative_to(ROOT)} {ACCEPTED.relative_to(ROOT)}"


def test_without_axes_every_picture_makes_its_own():
    for name, draw in pictures().items():
        axes = draw(None)
        assert axes.has_data(), name
        assert axes is not draw(None), name
