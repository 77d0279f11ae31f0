"""Mistakes that were made once, each with the way it showed."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from epivote import (
    AMLE,
    EM,
    BallotError,
    Ballots,
    BoundsError,
    ColumnError,
    FileError,
    InputError,
    Majority,
    MaximumLikelihood,
    Parameters,
    RateError,
    SizeBounds,
    Truths,
    hamming,
    log_likelihood,
    read_ballots,
    simulate,
    write_estimate,
)
from epivote.cli import app
from epivote.estimate import amle as amle_module
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.priors import published_sweep
from epivote.model.statistics import Group, Statistics

QUIZ = {("ann", "q1"): {"a", "b"}, ("bo", "q1"): set(), ("ann", "q2"): {"c"}}


def test_columns_that_were_never_ticked_are_alternatives_all_the_same():
    frame = pl.DataFrame({"voter": ["x", "y"], "instance": ["q", "q"], "c": [1, 1], "a": [0, 0], "b": [0, 0]})
    assert Ballots.from_frame(frame, layout="indicators").alternatives == ("c", "a", "b")


def test_priors_of_their_own_with_menus_do_not_crawl():
    rng = np.random.default_rng(0)
    names = [f"a{j}" for j in range(8)]
    ballots, menus = {}, {}
    for z in range(60):
        menus[f"z{z}"] = list(rng.choice(names, 5, replace=False))
        right = set(menus[f"z{z}"][:2])
        for v in range(5):
            ballots[f"v{v}", f"z{z}"] = {a for a in menus[f"z{z}"] if rng.random() < (0.8 if a in right else 0.15)}
    built = Ballots.from_mapping(ballots, menu=menus)
    for bounds in ((1, 2), (2, 4)):
        fitted = AMLE(bounds, priors="individual").fit(built)
        assert fitted.converged_
        assert fitted.n_iter_ < 30
    one, other = (AMLE(2, "random", priors="individual", seed=seed).fit(built).parameters_ for seed in (1, 2))
    assert one.distance(other) < 1e-4, "with one allowed size the result does not depend on the path"


def test_an_interrupt_at_the_very_start_of_a_later_run_loses_nothing(monkeypatch):
    ballots = simulate(instances=20, voters=6, alternatives=4, bounds=(1, 2), seed=1).ballots
    first = AMLE((1, 2)).fit(ballots)
    steps = []

    class Interrupted(InMemoryWorkload):
        def hard_step(self, parameters, *, by_menu=False):
            steps.append(parameters)
            if len(steps) == first.n_iter_ + 1:
                raise KeyboardInterrupt
            return super().hard_step(parameters, by_menu=by_menu)

    monkeypatch.setattr(amle_module, "workload", Interrupted)
    estimator = AMLE((1, 2), n_starts=3)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(ballots)
    assert estimator.estimate_.status == "interrupted"
    assert estimator.truth_ == first.truth_


def test_a_folder_in_the_way_of_one_result_keeps_all_from_being_written(tmp_path):
    (tmp_path / "voters.csv").mkdir()
    fitted = Majority(1).fit(Ballots.from_mapping(QUIZ))
    with pytest.raises(FileError, match=r"cannot write .*voters\.csv: it is a folder"):
        write_estimate(fitted.estimate_, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["voters.csv"]


def test_one_gold_instance_still_gives_valid_json(tmp_path):
    (tmp_path / "t.csv").write_text("instance,alternatives\nq,a\n")
    (tmp_path / "g.csv").write_text("instance,alternatives\nq,b\n")
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "t.csv"), str(tmp_path / "g.csv"), "--json"])
    scores = json.loads(result.stdout, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    assert (scores["hamming"]["low"], scores["hamming"]["high"]) == (0, 1)


@pytest.mark.parametrize("estimator", [AMLE((1, 2)), EM((1, 2)), MaximumLikelihood(0.8, 0.2, 0.5, (1, 2)), Majority()])
def test_fitted_estimators_can_be_pickled(estimator):
    ballots = simulate(instances=9, voters=4, alternatives=3, bounds=(1, 2), seed=1).ballots
    again = pickle.loads(pickle.dumps(estimator.fit(ballots)))
    assert again.truth_ == estimator.truth_
    assert repr(again) == repr(estimator)
    if estimator.confidence_ is not None:
        np.testing.assert_array_equal(again.confidence_, estimator.confidence_)


@pytest.mark.parametrize("start", [None, {"p": 0.5}, 3])
def test_a_start_that_is_none_is_refused(start):
    with pytest.raises(InputError, match="is not one of 'anna_karenina'"):
        AMLE(1, start).fit(Ballots.from_mapping(QUIZ))


def test_a_tiny_floor_and_an_alternative_nobody_ticks_give_no_prior_of_zero():
    ballots = Ballots.from_mapping(
        {(v, f"z{z}"): {"ab"[z % 2]} for v in "xyz" for z in range(6)}, alternatives=["a", "b", "c"]
    )
    assert AMLE(1, floor=1e-9).fit(ballots).parameters_.priors[2] > 0


def test_the_printed_formula_survives_masses_that_underflow():
    none = np.zeros(1)
    occurrences = np.full(3000, 2.0)
    statistics = Statistics(none, none, none, none, occurrences, np.full(3000, 10.0), {Group(1, 2, 3000): 10.0})
    assert published_sweep(statistics, np.full(3000, 0.5), 1e-4)[0] != 0.5


def test_the_printed_formula_is_refused_for_a_shared_prior():
    with pytest.raises(InputError, match="has no formula for a shared prior"):
        AMLE(1, prior_update="published", priors="shared").fit(Ballots.from_mapping(QUIZ))


def test_masked_arrays_keep_their_mask():
    cube = np.ma.masked_array([[[1, 0], [1, 1]]], mask=[[[False, False], [True, True]]])
    assert Ballots.from_array(cube).n_ballots == 1


def test_lists_mixed_with_texts_are_refused():
    mixed = pd.DataFrame({"voter": ["v", "w"], "instance": ["z", "z"], "alternatives": [["a", "b"], "a"]})
    with pytest.raises(ColumnError, match="column 'alternatives' mixes lists with single values"):
        Ballots.from_frame(mixed)


def test_blank_indicator_rows_are_empty_when_told():
    frame = pl.DataFrame({"voter": ["v", "w"], "instance": ["z", "z"], "a": [1, None], "b": [0, None]})
    assert Ballots.from_frame(frame, layout="indicators").n_ballots == 1
    assert Ballots.from_frame(frame, layout="indicators", blank="empty").ballot("w", "z") == frozenset()


def test_text_indicators_and_columns_of_nothing():
    frame = pl.DataFrame({"voter": ["v"], "instance": ["z"], "a": ["1"], "b": ["0"]})
    assert Ballots.from_frame(frame, layout="indicators").ballot("v", "z") == {"a"}
    nothing = frame.with_columns(a=pl.lit(None, pl.String), b=pl.lit(None, pl.String))
    with pytest.raises(BallotError, match="no ballots at all"):
        Ballots.from_frame(nothing, layout="indicators")


def test_a_series_of_rates_is_read_by_its_index():
    ballots = Ballots.from_mapping({("ann", "q"): {"a"}, ("bo", "q"): {"b"}})
    rates = pd.Series([0.5, 0.9], index=["bo", "ann"])
    fitted = MaximumLikelihood(rates, 0.2, 0.5, 1).fit(ballots)
    assert fitted.parameters_.hit_rates.tolist() == [0.9, 0.5]


def test_simulation_keeps_to_bounds_of_single_instances():
    crowd = simulate(instances=5, voters=3, alternatives=5, bounds=SizeBounds(1, 2, {"i1": (4, 4)}), seed=1)
    assert crowd.gold.sizes[0] == 4
    assert crowd.gold.sizes[1:].max() <= 2


@pytest.mark.parametrize("bounds", [(1,), (), (1, 2, 3), [1, 2], True])
def test_bounds_of_another_shape_are_refused(bounds):
    with pytest.raises(BoundsError, match="are not size bounds"):
        SizeBounds.of(bounds)


def test_an_upper_bound_beyond_any_number_is_harmless():
    assert SizeBounds.parse("1..99999999999999999999999").resolve(Ballots.from_mapping(QUIZ))[1].tolist() == [3, 3]
    with pytest.raises(BoundsError, match="no set of at least 99999999999999999999999 exists"):
        SizeBounds.parse("99999999999999999999999").resolve(Ballots.from_mapping(QUIZ))


def test_numbers_as_names_work_wherever_names_are_given():
    ballots = Ballots.from_mapping({(1, 2): {3}, (4, 5): {3, 6}}, menu={2: [3], 5: [3, 6]})
    assert ballots.ballot(1, 2) == {"3"}
    assert ballots.select(voters=[4]).voters == ("4",)
    assert SizeBounds(0, 1, {5: 1}).resolve(ballots)[0].tolist() == [0, 1]
    wide = pd.DataFrame({0: ["a|b"], 1: ["a"], "voter": ["v"]})
    assert Ballots.from_frame(wide, layout="wide_instances").instances == ("0", "1")
    with pytest.raises(InputError, match="instance '1' is listed twice"):
        Truths.from_mapping({1: {"a"}, "1": {"b"}})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ballots.from_mapping({"ann": {"a"}}), r"ballot 'ann' must be named by a pair \(voter, instance\)"),
        (lambda: Ballots.from_mapping({("v", "z"): None}), "is None, not a set of alternatives; leave a missing"),
        (lambda: Ballots.from_mapping(QUIZ, menu=["a"]), "menu is a list; give a mapping"),
        (lambda: Ballots.from_frame(pl.LazyFrame(QUIZ and {"voter": ["v"]})), "the frame is lazy; collect it first"),
        (lambda: AMLE(1).fit("ballots.csv"), "'ballots.csv' is a text; read a file with read_ballots first"),
        (lambda: AMLE(1).fit({"voter": []}), "a dict is neither Ballots nor a dataframe"),
        (lambda: SizeBounds(0, None, {"q1": "2"}), "'2' are not size bounds of instance 'q1'"),
        (
            lambda: simulate(instances=0, voters=1, alternatives=2, bounds=1),
            "instances=0 and voters=1 must be at least",
        ),
        (lambda: AMLE(1, n_starts=2.5).fit(Ballots.from_mapping(QUIZ)), "n_starts=2.5 must be a whole number"),
        (lambda: AMLE(1, tolerance=-1).fit(Ballots.from_mapping(QUIZ)), "tolerance=-1 must be at least 0"),
        (lambda: Ballots.from_mapping(QUIZ).offered("typo"), "'typo' is not an instance"),
    ],
)
def test_more_nonsense_is_refused_with_one_sentence(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_the_likelihood_takes_any_mapping_and_refuses_parameters_of_other_ballots():
    ballots = Ballots.from_mapping(QUIZ)
    parameters = Parameters(np.full(2, 0.7), np.full(2, 0.2), np.full(3, 0.5))
    assert np.isfinite(log_likelihood(ballots, {"q1": {"a"}, "q2": {"c"}}, parameters, (0, 2)))
    with pytest.raises(RateError, match="parameters are of 2 voters and 3 alternatives; the ballots have 1 and 3"):
        log_likelihood(ballots.select(voters=["ann"]), {"q1": {"a"}, "q2": {"c"}}, parameters, (0, 2))


def test_blank_lines_before_the_header_do_not_shift_line_numbers(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("\n\nvoter,instance,alternatives\nann,q1,a\nann,q1,b\n")
    with pytest.raises(BallotError, match=r"b\.csv, line 5: .*b\.csv, line 4"):
        read_ballots(path)


def test_long_names_and_other_separators(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(f"voter,instance,alternatives\n{'x' * 200_000},q1,a\nbo,q1,\n")
    assert read_ballots(path).n_ballots == 2
    path.write_text("voter;instance;alternatives\nann;q1;a\n")
    assert read_ballots(path).ballot("ann", "q1") == {"a"}
    path.write_text("voter:instance:alternatives\nann:q1:a\n")
    with pytest.raises(ColumnError, match="there is no column 'voter'"):
        read_ballots(path)


def test_parameters_do_not_change_with_the_array_they_came_from():
    rates = np.array([0.5, 0.5])
    parameters = Parameters(rates, rates, rates)
    rates[0] = 7
    assert parameters.hit_rates.tolist() == [0.5, 0.5]


def test_nothing_offered_is_nothing_wrong():
    assert hamming({"q": set()}, {"q": set()}, {"q": []}) == 1


def test_ties_are_reported_even_when_later_steps_hide_them():
    everything = Ballots.from_mapping({(v, z): {"a", "b", "c", "d"} for v in "uvw" for z in "yz"})
    assert AMLE((1, 2)).fit(everything).estimate_.ties == ("y", "z")
    clear = simulate(instances=30, voters=9, alternatives=4, bounds=(1, 2), seed=1)
    assert AMLE((1, 2)).fit(clear.ballots).estimate_.ties == ()
    even = Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"b"}}, alternatives=["a", "b", "c"])
    assert MaximumLikelihood(0.7, 0.3, 0.5, (0, 2)).fit(even).estimate_.ties == ("z",)


def test_rates_that_nothing_was_seen_of_are_left_blank():
    full = AMLE(2).fit(Ballots.from_mapping({("v", "z"): {"a"}, ("v", "y"): {"b"}}))
    assert full.voters_["false_alarm_rate"].to_list() == [None]
    assert full.voters_["hit_rate"].to_list() == [0.5]


def test_output_that_cannot_show_a_name_does_not_end_in_a_traceback(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("voter,instance,alternatives\nann,q1,é😀\n", encoding="utf-8")
    result = CliRunner(charset="ascii").invoke(app, ["aggregate", str(path), "--size", "1", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["truth"][0]["alternatives"] != []
