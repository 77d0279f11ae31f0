import json

import numpy as np
import pytest
from typer.testing import CliRunner

from epivote import InputError, MaximumLikelihood, Parameters, plan, simulate
from epivote.cli import app

ALIKE = Parameters(np.array([0.8]), np.array([0.15]), np.full(5, 0.3))


def test_more_voters_find_more_sets_and_the_target_is_met():
    found = plan(ALIKE, (1, 2), target=0.9, instances=1500)
    shares = [point.exact.mean for point in found.points]
    assert shares[0] < 0.5
    assert shares[-1] > 0.97
    assert found.needed is not None
    (at,) = [point for point in found.points if point.ballots == found.needed]
    assert at.exact.mean >= 0.9
    fewer = [point for point in found.points if point.ballots == found.needed - 1]
    assert fewer[0].exact.mean < 0.9


@pytest.mark.slow
def test_the_promise_holds_on_fresh_ballots():
    found = plan(ALIKE, (1, 2), target=0.9, instances=3000)
    fresh = simulate(
        instances=4000,
        voters=found.needed,
        alternatives=5,
        bounds=(1, 2),
        hit_rates=0.8,
        false_alarm_rates=0.15,
        priors=0.3,
        seed=99,
    )
    truths = MaximumLikelihood(0.8, 0.15, 0.3, (1, 2)).fit(fresh.ballots).truth_
    assert np.mean([truths[z] == fresh.gold[z] for z in fresh.gold]) > 0.88


def test_guessers_never_get_there():
    guessers = Parameters(np.array([0.4]), np.array([0.4]), np.full(4, 0.3))
    assert plan(guessers, (1, 2), instances=100).needed is None
    with pytest.raises(InputError, match="target=95 must be a share between 0 and 1"):
        plan(ALIKE, 1, target=95)


def test_the_command_answers_how_many(tmp_path):
    rates = ["plan", "--size", "1..2", "--hit-rate", "0.85", "--false-alarm-rate", "0.1"]
    result = CliRunner().invoke(app, [*rates, "--plot", str(tmp_path / "plan.svg")])
    assert result.exit_code == 0
    assert "ballots per instance give 95 % exactly right sets, once the voters are known and if they" in result.stdout
    assert "<svg" in (tmp_path / "plan.svg").read_text()
    found = json.loads(CliRunner().invoke(app, [*rates, "--json"]).stdout)
    assert found["needed"] == next(point["ballots"] for point in found["points"] if point["exact"]["mean"] >= 0.95)
    refused = CliRunner().invoke(app, ["plan", "--size", "1", "--hit-rate", "1.5"])
    assert refused.exit_code == 1
    assert "hit rates: number 1 is 1.5" in refused.stderr


def test_the_command_takes_the_voters_of_a_file():
    result = CliRunner().invoke(app, ["plan", "--size", "1..2", "--ballots", "examples/birds.csv", "--json"])
    assert json.loads(result.stdout)["points"][0]["ballots"] == 1
