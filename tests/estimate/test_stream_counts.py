"""A stream against a slow one that keeps every share and adds them all up again."""

import math
import random
from statistics import fmean

import pytest

import oracles
from epivote import EM, Ballots, InputError, load_model, save_model

FLOOR = 1e-4
START = 0.7, 0.2, 0.5


class SlowStream:
    """All shares that were ever counted, each with its weight now."""

    def __init__(self):
        self.kept, self.final, self.n = {}, [], 0
        self.alternatives = []

    def add(self, batch, alternatives, menus, bounds, gold, rates, *, final):
        self.alternatives += [name for name in alternatives if name not in self.alternatives]
        instances = list(dict.fromkeys(z for _, z in batch))
        shares = {}
        for z in instances:
            old = self.kept.get(z, {"ballots": {}, "menu": [], "gold": None})
            ballots = old["ballots"] | {v: ticks for (v, where), ticks in batch.items() if where == z}
            menu = self.alternatives if menus is None else [*old["menu"], *(set(menus[z]) - set(old["menu"]))]
            shares[z] = self._share(z, ballots, list(menu), bounds, gold.get(z, old["gold"]), rates)
        again = [z for z in instances if z in self.kept]
        for z in again:
            del self.kept[z]
        before, fresh = self.n, len(instances) - len(again)
        self.n += fresh
        weight = 1.0
        if before and fresh:
            left = math.prod(1 - k**-0.9 for k in range(before + 1, self.n + 1))
            weight = max(1.0, (1 - left) * self.n / fresh)
            for share in [*self.kept.values(), *self.final]:
                share["weight"] *= min(1.0, left * self.n / before)
        for z, share in shares.items():
            share["weight"] = 1.0 if z in again else weight
            if final:
                self.final.append(share)
            else:
                self.kept[z] = share

    def _share(self, z, ballots, menu, bounds, gold, rates):
        p, q, t = (
            {name: known.get(name, fmean(known.values()) if known else usual) for name in names}
            for known, usual, names in zip(rates, START, (ballots, ballots, menu), strict=True)
        )
        pair = bounds[0], min(len(menu), bounds[1] if bounds[1] is not None else len(menu))
        cast = {(v, z): ticks for v, ticks in ballots.items()}
        chances = oracles.posterior(z, cast, menu, p, q, t, *pair) if gold is None else [(set(gold), 1.0)]
        inside = {a: math.fsum(chance for names, chance in chances if a in names) for a in menu}
        return {"ballots": ballots, "menu": menu, "gold": gold, "inside": inside, "bounds": pair}

    @property
    def shares(self):
        return [*self.kept.values(), *self.final]

    def records(self):
        found = {}
        for share in self.shares:
            for voter, ticks in share["ballots"].items():
                record = found.setdefault(voter, [0.0] * 4)
                for a, inside in share["inside"].items():
                    for place, value in enumerate(
                        (inside * (a in ticks), inside, (1 - inside) * (a in ticks), 1 - inside)
                    ):
                        record[place] += share["weight"] * value
        return found

    def present(self, name):
        """How often an alternative was right, and how often it was offered."""
        right = math.fsum(share["weight"] * share["inside"].get(name, 0.0) for share in self.shares)
        return right, math.fsum(share["weight"] for share in self.shares if name in share["inside"])

    def prior_value(self, prior):
        """What a prior shared by all alternatives makes of the counts."""
        pairs = [self.present(name) for name in self.alternatives]
        value = sum(right * math.log(prior) + (seen - right) * math.log(1 - prior) for right, seen in pairs)
        for share in self.shares:
            same = dict.fromkeys(share["menu"], prior)
            value -= share["weight"] * math.log(oracles.size_mass(share["menu"], same, *share["bounds"]))
        return value


def batches(seed, *, menus, growing):
    """Six batches of some instances, some of them again; most of the time not final."""
    rng = random.Random(seed)
    for number in range(6):
        alternatives = list("abcd"[: 3 + (growing and number > 2)])
        offered, batch = {}, {}
        for z in rng.sample([f"z{k}" for k in range(9)], 3):
            offered[z] = sorted(rng.sample(alternatives, rng.randint(2, len(alternatives)))) if menus else alternatives
            for v in rng.sample(["u", "v", "w", "x"][: 2 + number // 2], 2):
                batch[v, z] = {a for a in offered[z] if rng.random() < 0.5}
        gold = {z: set(offered[z][:1]) for z in offered if rng.random() < 0.3}
        yield batch, alternatives, offered if menus else None, gold, rng.random() < 0.25


def rates_so_far(estimator):
    model = estimator.model_
    found = model.parameters
    return [
        dict(zip(names, values.tolist(), strict=True))
        for names, values in (
            (model.voters, found.hit_rates),
            (model.voters, found.false_alarm_rates),
            (model.alternatives, found.priors),
        )
    ]


@pytest.mark.parametrize(
    ("seed", "menus", "growing", "bounds", "options", "saved"),
    [
        (0, False, False, (0, None), {"shrinkage": 0}, False),
        (1, False, False, (0, None), {"shrinkage": 2.0}, True),
        (2, False, True, (0, None), {"shrinkage": 1.0}, True),
        (3, True, False, (1, 2), {"shrinkage": 0}, True),
        (4, True, True, (1, None), {"shrinkage": 0.5}, True),
        (5, False, False, (1, 2), {"shrinkage": 1.0, "priors": "shared"}, False),
        (6, False, True, (1, 1), {"shrinkage": 0}, True),
    ],
)
def test_a_stream_counts_as_one_that_adds_everything_up_again(seed, menus, growing, bounds, options, saved, tmp_path):
    stream, slow = EM(bounds, floor=FLOOR, **options), SlowStream()
    rates = [{}, {}, {}]
    one_menu = True
    for batch, alternatives, menu, gold, final in batches(seed, menus=menus, growing=growing):
        given = Ballots.from_mapping(batch, alternatives=alternatives, menu=menu)
        offered = menu if given.has_menus else None
        grown = bool(slow.alternatives) and not set(alternatives) <= set(slow.alternatives)
        one_menu = one_menu and offered is None and not grown
        slow.add(batch, alternatives, offered, bounds, gold, rates, final=final)
        stream.partial_fit(given, gold=gold or None, final=final)
        if saved:
            save_model(stream, tmp_path / "model.json")
            stream = load_model(tmp_path / "model.json")
        expected = slow.records()
        assert set(stream.voter_history_) == set(expected)
        for voter, record in stream.voter_history_.items():
            assert list(record) == pytest.approx(expected[voter], abs=1e-7)
        rates = rates_so_far(stream)
        assert stream.model_.alternatives == tuple(slow.alternatives)
        for values, place in ((rates[0], 0), (rates[1], 2)):
            total = [sum(record[k] for record in expected.values()) for k in (place, place + 1)]
            least = max(1e-3, 0.5 / (total[1] + 1))
            mean = min(max(total[0] / total[1], least), 1 - least)
            for voter, rate in values.items():
                yes, seen = expected[voter][place : place + 2]
                strength = options["shrinkage"]
                if seen + strength > 1e-6:
                    drawn = (yes + strength * mean) / (seen + strength)
                    assert rate == pytest.approx(min(max(drawn, FLOOR), 1 - FLOOR), abs=1e-6)
        if one_menu and options.get("priors") != "shared":
            if bounds == (0, None) and options["shrinkage"] == 0:
                for name, prior in rates[2].items():
                    right, seen = slow.present(name)
                    assert prior == pytest.approx(min(max(right / seen, FLOOR), 1 - FLOOR), abs=1e-7)
        else:
            (prior,) = set(rates[2].values())
            for moved in (prior * 0.99, min(prior * 1.01, 1 - FLOOR)):
                assert slow.prior_value(moved) <= slow.prior_value(prior) + 1e-9
    assert one_menu == (not menus and not growing)


def test_what_a_stream_says_is_about_its_last_batch_under_the_newest_rates():
    stream, known = EM((1, 2), shrinkage=1.0), {}
    for batch, alternatives, _, gold, _ in batches(11, menus=False, growing=False):
        given = Ballots.from_mapping(batch, alternatives=alternatives)
        stream.partial_fit(given, gold=gold or None)
        known |= gold
    gold = {z: known[z] for _, z in batch if z in known}
    p, q, t = rates_so_far(stream)
    told = stream.estimate_
    assert set(stream.truth_) == {z for _, z in batch}
    assert told.gold == set(gold)
    assert (told.status, stream.n_iter_, stream.converged_) == ("converged", 1, True)
    for z, sure in zip(told.ballots.instances, stream.confidence_, strict=True):
        cast = {(v, z): told.ballots.ballot(v, z) for v in told.ballots.voters if told.ballots.ballot(v, z) is not None}
        if z in gold:
            assert (stream.truth_[z], sure) == (gold[z], 1.0)
            continue
        chances = oracles.posterior(z, cast, alternatives, p, q, t, 1, 2)
        assert sure == pytest.approx(max(chance for _, chance in chances))
        assert sure == pytest.approx(next(chance for names, chance in chances if names == stream.truth_[z]))


def batch_of(ballots, **options):
    return Ballots.from_mapping(ballots, alternatives=["a", "b", "c"], **options)


def test_gold_of_an_earlier_batch_still_counts_when_late_ballots_come():
    """Voters known to be good all say b, so that only gold can make it a."""
    good = {(v, f"k{z}"): {"abc"[z % 3]} for v in "vwx" for z in range(12)}
    first = batch_of({**good, ("v", "1"): {"b"}, ("w", "1"): {"b"}})
    late = batch_of({("x", "1"): {"b"}, ("x", "2"): {"b"}})
    for gold, final, expected in (({"1": {"a"}}, False, {"a"}), ({"1": {"a"}}, True, {"b"}), (None, False, {"b"})):
        stream = EM(1).partial_fit(first, gold=gold, final=final)
        assert stream.truth_["1"] == ({"a"} if gold else {"b"})
        stream.partial_fit(late)
        assert stream.truth_["1"] == expected, "only a final instance is forgotten, with its gold"
        assert stream.estimate_.gold == ({"1"} if expected == {"a"} else set())
        assert stream.estimate_.ballots.n_ballots == (2 if final else 4)


def test_newer_gold_replaces_older_and_an_empty_set_is_gold_too():
    first = batch_of({("v", "1"): {"b"}, ("w", "1"): {"b"}})
    late = batch_of({("x", "1"): {"b"}})
    stream = EM((0, 2)).partial_fit(first, gold={"1": {"a"}})
    assert stream.partial_fit(late, gold={"1": {"c"}}).truth_["1"] == {"c"}
    assert stream.partial_fit(late).truth_["1"] == {"c"}
    empty = EM((0, 2)).partial_fit(first, gold={"1": set()})
    assert empty.partial_fit(late).truth_["1"] == set()


def test_priors_of_their_own_need_the_same_alternatives_in_every_batch():
    stream = EM(1, priors="individual").partial_fit(batch_of({("v", "1"): {"a"}, ("v", "2"): {"b"}}))
    assert len(set(stream.model_.parameters.priors)) > 1
    with pytest.raises(InputError, match="priors='individual' in a stream needs the same alternatives in every batch"):
        stream.partial_fit(Ballots.from_mapping({("v", "3"): {"d"}}))
    with pytest.raises(InputError, match="priors='individual' in a stream"):
        EM(1, priors="individual").partial_fit(
            batch_of({("v", "1"): {"a"}, ("v", "2"): {"b"}}, menu={"1": ["a", "b"], "2": ["b", "c"]})
        )


def test_a_fit_with_menus_shares_its_prior_with_the_stream_that_follows():
    menu = {"1": ["a", "b"], "2": ["b", "c"]}
    fitted = EM(1).fit(batch_of({("v", "1"): {"a"}, ("v", "2"): {"b"}, ("w", "1"): {"b"}}, menu=menu))
    seen = {voter: sum(record[1::2]) for voter, record in fitted.voter_history_.items()}
    assert seen == pytest.approx({"v": 4, "w": 2})
    fitted.partial_fit(batch_of({("v", "3"): {"a"}}))
    assert len(set(fitted.model_.parameters.priors)) == 1
    plain = EM(1).fit(batch_of({("v", "1"): {"a"}, ("v", "2"): {"b"}, ("w", "1"): {"a"}}))
    plain.partial_fit(batch_of({("v", "3"): {"a"}}))
    assert len(set(plain.model_.parameters.priors)) > 1
