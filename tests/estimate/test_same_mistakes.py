"""Who errs together: pairs and groups of voters whose mistakes coincide more often than chance explains."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from epivote import EM, Ballots, FlagKind, simulate, summarize, write_ballots, write_report
from epivote.cli.main import app
from epivote.estimate import reliability as reports_module
from epivote.estimate import same_mistakes as module
from epivote.estimate.same_mistakes import joined, same_mistakes
from epivote.estimate.workload import InMemoryWorkload
from small import small_election

KINDS = [
    {"instances": 150, "voters": 20, "alternatives": 6, "bounds": (1, 3), "priors": 0.3, "ballots_per_instance": 8},
    {"instances": 80, "voters": 10, "alternatives": 5, "bounds": (0, None), "priors": 0.3, "spammers": 0.2},
    {"instances": 60, "voters": 15, "alternatives": 4, "bounds": 1, "priors": 0.25},
]


def followed(crowd, followers, leader, share, seed=0):
    """The same ballots, but on that share of the instances the followers repeat their leader."""
    rng = np.random.default_rng(seed)
    cast = {key: set(ticks) for key, ticks in crowd.ballots.items()}
    for follower in followers:
        for instance in crowd.ballots.instances:
            if rng.random() < share and (follower, instance) in cast and (leader, instance) in cast:
                cast[follower, instance] = cast[leader, instance]
    return Ballots.from_mapping(cast, alternatives=crowd.ballots.alternatives)


def pairs_of(fitted):
    estimate = fitted.estimate_
    work = InMemoryWorkload(estimate.ballots, estimate.bounds)
    found = same_mistakes(work, estimate.posterior.inclusion, estimate.parameters)
    names = estimate.ballots.voters
    return {(names[each.one], names[each.two]): each for each in found}


@pytest.mark.parametrize("menus", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_and_expected_is_what_counting_cell_by_cell_gives(seed, menus, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_COMMON", 1)
    election = small_election(seed, voters=5, instances=6, menus=menus)
    ballots = election.as_ballots()
    parameters = election.parameters(ballots)
    work = InMemoryWorkload(ballots, election.size_bounds)
    rng = np.random.default_rng(seed)
    chances = {(z, a): rng.random() for z in ballots.instances for a in ballots.offered(z)}
    inclusion = np.array([chances[z, a] for z in ballots.instances for a in ballots.offered(z)])
    pairs = module._all_pairs(work, inclusion, parameters)
    counted = {}
    for one, two, found, expected in zip(*pairs, strict=True):
        counted[ballots.voters[one], ballots.voters[two]] = found, expected
    rates = dict(zip(ballots.voters, zip(parameters.hit_rates, parameters.false_alarm_rates, strict=True), strict=True))
    by_hand = {}
    for place, first in enumerate(ballots.voters):
        for second in ballots.voters[place + 1 :]:
            both = [z for z in ballots.instances if all((v, z) in election.ballots for v in (first, second))]
            found = expected = 0.0
            for z in both:
                for a in ballots.offered(z):
                    x, y = (a in election.ballots[v, z] for v in (first, second))
                    pi, ((p, q), (other_p, other_q)) = chances[z, a], (rates[first], rates[second])
                    found += (1 - pi) * (x and y) + pi * (not x and not y)
                    expected += (1 - pi) * q * other_q + pi * (1 - p) * (1 - other_p)
            if both:
                by_hand[first, second] = found, expected
    assert counted.keys() == by_hand.keys()
    for pair, values in by_hand.items():
        assert counted[pair] == pytest.approx(values, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [0.0, 0.4])
def test_nobody_is_flagged_where_nobody_errs_with_somebody_in_particular(kind, shared):
    for seed in range(4):
        crowd = simulate(seed=seed, shared_mistakes=shared, **kind)
        assert pairs_of(EM(kind["bounds"]).fit(crowd.ballots)) == {}


def test_what_is_found_is_what_is_expected_where_voters_err_independently():
    found = expected = 0.0
    for seed in range(4):
        crowd = simulate(seed=seed, **KINDS[0])
        estimate = EM((1, 3)).fit(crowd.ballots).estimate_
        work = InMemoryWorkload(crowd.ballots, estimate.bounds)
        pairs = module._all_pairs(work, estimate.posterior.inclusion, estimate.parameters)
        found, expected = found + pairs.found.sum(), expected + pairs.expected.sum()
    assert found == pytest.approx(expected, rel=0.05)


def test_copies_and_cliques_are_found():
    crowd = simulate(seed=1, **KINDS[1] | {"voters": 12, "instances": 150})
    ballots = followed(crowd, ["v2", "v7"], "v4", 0.6)
    found = pairs_of(EM((0, None)).fit(ballots))
    assert set(found) <= {("v2", "v4"), ("v4", "v7"), ("v2", "v7")}
    assert {"v2", "v4", "v7"} == {voter for pair in found for voter in pair}
    for pair in found.values():
        assert pair.found > 1.5 * pair.expected > 0


def test_a_group_is_flagged_and_told_as_such():
    crowd = simulate(seed=1, **KINDS[1] | {"voters": 12, "instances": 150})
    summary = summarize(EM((0, None)).fit(followed(crowd, ["v2", "v7"], "v4", 0.6)))
    flags = {each.voter: each.flags for each in summary.voters}
    for voter in ("v2", "v4", "v7"):
        (flag,) = (flag for flag in flags[voter] if flag.kind is FlagKind.SAME_MISTAKES)
        assert {voter, *flag.others} == {"v2", "v4", "v7"}
        assert flag.others[0] == flag.other
        assert flag.startswith(f"makes the same mistakes as {flag.others[0]}, {flag.others[1]} (")
        assert f"{flag.same:.0f} in common with {flag.other}, {flag.expected:.0f} expected by chance)" in flag
    assert summary.erring_together == (("v2", "v4", "v7"),)
    assert summary.about_erring_together == (
        "Voters who make the same mistakes more often than chance explains: v2, v4, v7."
    )
    assert not {"v2", "v4", "v7"} & {each.voter for each in summary.most_informative(9)}
    alone = summarize(EM((0, None)).fit(crowd.ballots))
    assert alone.erring_together == ()
    assert alone.about_erring_together == ""


def test_a_near_copy_is_told_once_and_joins_the_groups():
    crowd = simulate(seed=2, **KINDS[1] | {"voters": 12})
    summary = summarize(EM((0, None)).fit(followed(crowd, ["v2"], "v4", 1.0)))
    flags = {each.voter: [flag.kind for flag in each.flags] for each in summary.voters}
    assert flags["v2"].count(FlagKind.NEAR_COPY) == 1
    assert FlagKind.SAME_MISTAKES not in flags["v2"]
    assert summary.erring_together == (("v2", "v4"),)


def test_pairs_are_the_same_whatever_the_size_of_blocks(monkeypatch):
    crowd = simulate(seed=1, **KINDS[1] | {"voters": 12, "instances": 150})
    fitted = EM((0, None)).fit(followed(crowd, ["v2", "v7"], "v4", 0.6))
    whole = pairs_of(fitted)
    for rows in (1, 5):
        monkeypatch.setattr(module, "NUMBERS_PER_BLOCK", rows * 12)
        assert pairs_of(fitted) == whole


def test_of_many_ballots_a_sample_is_compared(monkeypatch):
    crowd = simulate(seed=1, **KINDS[1] | {"voters": 12, "instances": 400})
    fitted = EM((0, None)).fit(followed(crowd, ["v2", "v7"], "v4", 0.6))
    monkeypatch.setattr(reports_module, "BALLOTS_FOR_COPIES", 2000)
    assert summarize(fitted).erring_together == (("v2", "v4", "v7"),)


def test_few_common_instances_say_nothing():
    crowd = simulate(seed=1, **KINDS[1] | {"voters": 12, "instances": 9})
    assert pairs_of(EM((0, None)).fit(followed(crowd, ["v2"], "v4", 1.0))) == {}


@pytest.mark.parametrize(
    ("linked", "groups"),
    [
        ([], []),
        ([(1, 2), (3, 4), (2, 3)], [(1, 2, 3, 4)]),
        ([("d", "c"), ("a", "b"), ("b", "e")], [("a", "b", "e"), ("c", "d")]),
    ],
)
def test_voters_are_joined_directly_or_by_others(linked, groups):
    assert joined(linked) == groups


def test_command_and_report_name_the_groups(tmp_path):
    crowd = simulate(seed=1, **KINDS[1] | {"voters": 12, "instances": 150})
    ballots = followed(crowd, ["v2", "v7"], "v4", 0.6)
    path = tmp_path / "ballots.csv"
    write_ballots(ballots, path)
    sentence = "Voters who make the same mistakes more often than chance explains: v2, v4, v7."
    asked = ["aggregate", str(path), "--size", "0..", "--method", "em"]
    shown = CliRunner().invoke(app, asked, env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "make the same mistakes: v2, v4, v7" in shown.stdout
    told = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert told["erring_together"] == [["v2", "v4", "v7"]]
    page = write_report(EM((0, None)).fit(ballots), tmp_path / "r.html").read_text()
    assert sentence in page
