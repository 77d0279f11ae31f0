"""Mistakes that were made once, each with the way it showed."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from epivote import (
    AMLE,
    EM,
    Ballots,
    CrowdWarning,
    FileError,
    InputError,
    Majority,
    SizeBounds,
    load_model,
    read_ballots,
    reference_crowd,
    save_model,
    simulate,
)
from epivote.cli import app
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.probable_sets import best_sets
from epivote.model.pseudo import PseudoCounts

QUIZ = {("ann", "q1"): {"a", "b"}, ("bo", "q1"): set(), ("ann", "q2"): {"c"}}


@pytest.mark.parametrize(("width", "lower", "upper"), [(1100, 1, 1100), (5000, 1, 500), (3000, 2, 1500)])
def test_many_sets_do_not_overflow_the_posterior(width, lower, upper):
    log_partition, inclusion = log_partition_and_inclusion(np.full((1, width), -0.01), lower, upper)
    assert np.isfinite(log_partition).all()
    assert np.all((inclusion > 0) & (inclusion <= 1))


def batch(ballots, **options):
    return Ballots.from_mapping(ballots, **options)


def test_late_ballots_after_the_alternatives_have_grown():
    stream = EM((1, 2))
    stream.partial_fit(batch({("v", "1"): {"a"}, ("w", "1"): {"b"}}, alternatives=list("abc")))
    stream.partial_fit(batch({("v", "2"): {"d"}, ("w", "2"): {"a"}}, alternatives=list("abcd")))
    stream.partial_fit(batch({("x", "1"): {"a"}}, alternatives=["a"]))
    assert stream.estimate_.ballots.alternatives == ("a", "b", "c", "d")
    assert sum(stream._stream.groups.values()) == pytest.approx(2, rel=0.5)
    assert set(stream._stream.kept) == {"1", "2"}


def test_fewer_or_reordered_names_in_a_batch_keep_priors_per_alternative():
    stream = EM(1)
    stream.partial_fit(batch({("v", "1"): {"a"}, ("w", "1"): {"b"}, ("v", "2"): {"c"}}, alternatives=list("abc")))
    stream.partial_fit(batch({("v", "3"): {"c"}, ("w", "3"): {"a"}}, alternatives=["c", "a"]))
    assert stream._stream.one_menu
    assert stream.model_.alternatives == ("a", "b", "c")


def test_a_refused_batch_leaves_the_stream_as_it_was():
    first = batch({(v, z): {"a"} for v in "vw" for z in "123"}, alternatives=["a", "b"])
    stream = EM(1).partial_fit(first)
    sums = {name: array.copy() for name, array in stream._stream.sums.items()}
    with pytest.raises(InputError, match="which is not offered there"):
        stream.partial_fit(batch({("x", "1"): {"b"}}, alternatives=["a", "b"]), gold={"1": {"zzz"}})
    assert set(stream._stream.kept) == {"1", "2", "3"}
    assert all(np.array_equal(sums[name], stream._stream.sums[name]) for name in sums)


def test_gold_of_a_stream_outlives_late_ballots_and_may_be_given_with_every_batch():
    """Voters known to be good all say b, so that the instance is a only as long as its gold is known."""
    good = {(v, f"k{z}"): {"abc"[z % 3]} for v in "vwx" for z in range(12)}
    said = {"1": {"a"}, "9": {"b"}}
    for gold, expected in ((said, {"a"}), (None, {"b"})):
        first = batch({**good, ("v", "1"): {"b"}, ("w", "1"): {"b"}}, alternatives=["a", "b", "c"])
        stream = EM(1).partial_fit(first, gold=gold)
        stream.partial_fit(batch({("v", "2"): {"b"}}, alternatives=["a", "b", "c"]), gold=gold)
        stream.partial_fit(batch({("x", "1"): {"b"}}, alternatives=["a", "b", "c"]))
        assert stream.truth_["1"] == expected
        assert stream.estimate_.gold == (frozenset("1") if gold else frozenset())


def test_bounds_may_change_in_a_stream():
    ballots = simulate(instances=30, voters=6, alternatives=4, bounds=(1, 2), seed=1).ballots
    stream = EM((1, 2)).partial_fit(ballots)
    stream.set_params(bounds=(1, 3)).partial_fit(ballots)
    assert {group[:2]: round(count) for group, count in stream._stream.groups.items()} == {(1, 3): 30}


@pytest.mark.parametrize("with_file", [False, True])
def test_a_stream_goes_on_from_a_fit(with_file, tmp_path):
    crowd = simulate(instances=300, voters=20, alternatives=4, bounds=(1, 2), coverage=0.3, seed=1)
    fitted = EM((1, 2)).fit(crowd.ballots.select(instances=crowd.ballots.instances[:280]))
    before = fitted.model_.parameters.hit_rates
    if with_file:
        save_model(fitted, tmp_path / "model.json")
        fitted = load_model(tmp_path / "model.json")
    fitted.partial_fit(crowd.ballots.select(instances=crowd.ballots.instances[280:]))
    assert fitted._stream.n_instances == 300
    assert np.abs(fitted.model_.parameters.hit_rates - before).mean() < 0.05
    seen = [record.winners_seen + record.losers_seen for record in fitted.voter_history_.values()]
    assert sum(seen) == pytest.approx(crowd.ballots.n_ballots * 4, rel=0.15)


@pytest.mark.parametrize(
    ("crowd", "kinds"),
    [
        ({"instances": 1500, "voters": 2000, "ballots_per_instance": 5}, [EM]),
        ({"instances": 30, "voters": 20}, [EM, AMLE]),
    ],
    ids=["voters who answer little", "few instances"],
)
def test_crowds_upside_down_are_said_whatever_their_shape(crowd, kinds):
    drawn = simulate(alternatives=5, bounds=(1, 2), priors=0.3, hit_rates=0.15, false_alarm_rates=0.6, seed=2, **crowd)
    for kind in kinds:
        with pytest.warns(CrowdWarning, match="upside down"):
            fitted = kind((1, 2)).fit(drawn.ballots)
        assert fitted.parameters_.hit_rates.mean() < fitted.parameters_.false_alarm_rates.mean()
    with pytest.warns(CrowdWarning, match="upside down"):
        EM((1, 2)).partial_fit(drawn.ballots)


def test_gold_anywhere_and_history_tell_that_a_crowd_is_upside_down():
    drawn = simulate(
        instances=1500, voters=12, alternatives=5, bounds=(0, None), hit_rates=0.2, false_alarm_rates=0.7, seed=3
    )
    last = {name: drawn.gold[name] for name in drawn.ballots.instances[-100:]}
    with pytest.warns(CrowdWarning):
        fitted = EM((0, None)).fit(drawn.ballots, gold=last)
    assert fitted.parameters_.hit_rates.mean() < 0.4
    history = dict.fromkeys(drawn.ballots.voters, (20, 100, 70, 100))
    with pytest.warns(CrowdWarning):
        fitted = EM((0, None)).fit(drawn.ballots, history=history)
    assert fitted.parameters_.hit_rates.mean() < 0.4


def test_priors_asked_for_in_a_stream_are_kept_to():
    ballots = simulate(
        instances=60, voters=6, alternatives=4, bounds=(1, 2), priors=[0.1, 0.2, 0.5, 0.7], seed=1
    ).ballots
    assert len(set(EM((1, 2), priors="shared").partial_fit(ballots).model_.parameters.priors)) == 1
    assert len(set(EM((1, 2), priors="individual").partial_fit(ballots).model_.parameters.priors)) == 4


def test_explanations_of_gold_and_of_early_stops_say_what_they_are():
    ballots = read_ballots("examples/birds.csv")
    gold = {"picture 4": {"wren"}}
    told = EM((1, 2)).fit(ballots, gold=gold).explain("picture 4")
    assert told.confidence < 0.01
    assert told.bound_effect.startswith("The set was given as gold")
    early = AMLE((1, 2), max_iterations=1).fit(ballots)
    effects = {early.explain(name).bound_effect for name in ballots.instances}
    assert any(effect.startswith("The iteration stopped before convergence") for effect in effects)
    assert "the threshold" in told.to_text()


def test_iterations_in_which_shrinkage_settles_count():
    ballots = simulate(instances=200, voters=30, alternatives=4, bounds=(1, 2), coverage=0.2, seed=1).ballots
    assert EM((1, 2), max_iterations=5).fit(ballots).n_iter_ == 5
    assert EM((1, 2), max_iterations=12, tolerance=0).fit(ballots).n_iter_ == 12


def test_intervals_hold_the_rates_they_belong_to():
    ballots = simulate(instances=300, voters=150, alternatives=5, bounds=(1, 2), ballots_per_instance=4, seed=2).ballots
    for report in EM((1, 2)).fit(ballots).reliability():
        assert report.hit_rate_interval[0] <= report.hit_rate <= report.hit_rate_interval[1]
        assert report.false_alarm_rate_interval[0] <= report.false_alarm_rate <= report.false_alarm_rate_interval[1]


def test_reports_of_a_stream_speak_of_the_whole_stream():
    crowd = simulate(instances=120, voters=6, alternatives=4, bounds=(1, 2), seed=1)
    stream = EM((1, 2))
    for begin in range(0, 120, 10):
        stream.partial_fit(crowd.ballots.select(instances=crowd.ballots.instances[begin : begin + 10]))
    assert not any("too few" in flag for report in stream.reliability() for flag in report.flags)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda b: EM(1, shrinkage="foo").fit(b), "shrinkage='foo' must be 'auto' or a number"),
        (lambda b: EM(1, shrinkage=None).fit(b), "shrinkage=None must be 'auto' or a number"),
        (lambda b: EM(1, shrinkage=np.inf).fit(b), "shrinkage=inf must be 'auto' or a number"),
        (lambda b: EM(1, tolerance="a").fit(b), "tolerance='a' must be at least 0"),
        (lambda b: EM(1, floor="x").fit(b), "floor='x' must lie between"),
        (lambda b: EM(1).fit(b, history={"ann": (1, 2)}), r"the history of voter 'ann' is \(1, 2\); give four numbers"),
        (lambda b: EM(1).fit(b).best_sets("q1", 0), "count=0 must be a whole number of at least 1"),
        (lambda b: EM(1).fit(b).review("a"), "threshold='a' must be a probability"),
    ],
)
def test_still_more_nonsense_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build(Ballots.from_mapping(QUIZ))


def test_model_files_take_numpy_numbers_and_refuse_damage(tmp_path):
    path = tmp_path / "model.json"
    bounds = SizeBounds(np.int64(1), np.int64(2), {"q1": (np.int64(1), None)})
    save_model(EM(bounds).fit(Ballots.from_mapping(QUIZ)), path)
    assert load_model(path).bounds == bounds
    with pytest.raises(InputError, match="Majority learns nothing, so there is nothing to save"):
        save_model(Majority().fit(Ballots.from_mapping(QUIZ)), path)
    whole = json.loads(path.read_text())
    for damage in ({"model": None}, {"settings": {"unknown": 1}}, {"model": {**whole["model"], "voters": ["ann"]}}):
        path.write_text(json.dumps({**whole, **damage}))
        with pytest.raises(FileError, match="is damaged or not for this epivote"):
            load_model(path)
    path.write_text(json.dumps({**whole, "version": "new"}))
    with pytest.raises(FileError, match="does not say its version"):
        load_model(path)


def test_best_sets_without_upper_bound_are_quick_and_right():
    margins = np.random.default_rng(0).normal(0, 3, 2000)
    found = best_sets(margins, 1, 2000, 5)
    assert found[0][1] == tuple(np.flatnonzero(margins >= 0))
    nearest = np.sort(np.abs(margins))[:2]
    assert np.log(found[0][0] / found[1][0]) == pytest.approx(nearest[0])
    assert np.log(found[0][0] / found[2][0]) == pytest.approx(nearest[1])


def test_the_command_says_what_it_passed_over_and_checks_pictures_first(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    (tmp_path / "gold.csv").write_text("instance,alternatives\npicture 1,robin\npicture 99,robin\n")
    (tmp_path / "sizes.csv").write_text("instance,size\npicture 2,2\npicture 98,2\n")
    files = ("--gold", tmp_path / "gold.csv", "--sizes", tmp_path / "sizes.csv")
    result = run("aggregate", "examples/birds.csv", "--size", "1..2", *files)
    assert "1 instance with a gold set has no ballots: 'picture 99'" in result.stdout
    assert "1 instance with a size has no ballots: 'picture 98'" in result.stdout
    assert "sets of size 1..2 (1 instance with other size bounds)" in result.stdout
    found = json.loads(run("aggregate", "examples/birds.csv", "--size", "1..2", *files, "--json").stdout)
    assert found["calibration"][0]["count"] == 1
    assert run("plan", "--size", "1", "--n-alternatives", "-1").exit_code == 2
    assert "use a name that ends in" in run("plan", "--size", "1", "--plot", "x.doc").stderr
    assert "99.9 % exactly right sets" in run("plan", "--size", "1", "--hit-rate", "0.95", "--target", "0.999").stdout


def test_evaluate_shows_whether_confidence_kept_its_promise(tmp_path):
    runner = CliRunner()
    runner.invoke(app, ["aggregate", "examples/birds.csv", "--size", "1..2", "--out", str(tmp_path)])
    result = runner.invoke(app, ["evaluate", str(tmp_path / "truth.csv"), "examples/birds-gold.csv"])
    assert "Was the stated confidence right?" in result.stdout
    told = runner.invoke(app, ["evaluate", str(tmp_path / "truth.csv"), "examples/birds-gold.csv", "--json"])
    assert sum(each["count"] for each in json.loads(told.stdout)["calibration"]) == 24


@pytest.mark.parametrize(("instances", "voters", "alternatives"), [(1000, 10_000, 50), (3000, 10_000, 10)])
def test_a_crowd_of_voters_with_a_ballot_or_less_each_is_not_taken_to_be_upside_down(instances, voters, alternatives):
    """What shrinkage adds to the objective differs between runs and once outweighed the ballots."""
    ballots = reference_crowd(instances, voters, alternatives, 3, seed=3).ballots
    estimator = EM((1, 3))
    assert not estimator._seems_upside_down(ballots, None, PseudoCounts.none(voters))
    opposite = {key: set(ballots.alternatives) - ticks for key, ticks in ballots.items()}
    turned = Ballots.from_mapping(opposite, alternatives=ballots.alternatives)
    assert estimator._seems_upside_down(turned, None, PseudoCounts.none(turned.n_voters))
