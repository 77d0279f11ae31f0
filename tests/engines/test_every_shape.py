"""Every engine against plain loops, over widths around 64, menus, bounds near the width, empty ballots and gold."""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
import pytest

from epivote import Ballots, Parameters, SizeBounds, open_packed, write_packed
from epivote.data import packing
from epivote.estimate.workload import InMemoryWorkload, Workload
from epivote.kernels.passes import CompiledPass
from epivote.model.passes import ArrayPass
from epivote.model.statistics import PassCounts

FLOOR = 1e-4


@dataclass
class Poll:
    """Ballots as sets of numbers, with what is offered and allowed where."""

    width: int
    n_voters: int
    menus: list[list[int]]
    bounds: list[tuple[int, int]]
    cast: list[list[tuple[int, set[int]]]]  # by instance: voter and ticks
    gold: dict[int, set[int]]
    has_menus: bool

    def ballots(self):
        names = [f"a{j}" for j in range(self.width)]
        cast = {
            (f"v{i}", f"z{z}"): {names[j] for j in ticks} for z, answers in enumerate(self.cast) for i, ticks in answers
        }
        menu = {f"z{z}": [names[j] for j in offered] for z, offered in enumerate(self.menus)}
        built = Ballots.from_mapping(cast, alternatives=names, menu=menu if self.has_menus else None)
        assert built.voters == tuple(f"v{i}" for i in range(self.n_voters))
        assert built.instances == tuple(f"z{z}" for z in range(len(self.cast)))
        return built

    def size_bounds(self):
        return SizeBounds(0, None, {f"z{z}": pair for z, pair in enumerate(self.bounds)})

    def gold_sets(self):
        return {f"z{z}": {f"a{j}" for j in members} for z, members in self.gold.items()}


def poll(width, kind, *, menus, seed=0, instances=19, n_voters=12):
    """A poll whose rows have very different numbers of ballots, some of them empty, and some gold sets."""
    rng = np.random.default_rng([width, seed, menus])
    menus_of, bounds, cast = [], [], []
    for z in range(instances):
        size = max(1, width - 3 * (z % 3)) if menus else width
        menu = sorted(rng.permutation(width)[:size].tolist())
        near = {
            "all": (0, size),
            "some": (min(1, size), min(3, size)),
            "none": (0, 0),
            "full": (size, size),
            "almost full": (size - 1, size),
            "all but one": (size - 1, size - 1),
            "not full": (0, size - 1),
            "at least two": (min(2, size), size),
        }
        bounds.append(near[kind] if kind in near else list(near.values())[z % len(near)])
        menus_of.append(menu)
        number = n_voters if z % 4 != 3 else 1 + z % n_voters
        answers = []
        for i in sorted(rng.permutation(n_voters)[:number].tolist()):
            share = rng.choice([0.0, 0.2, 0.5, 1.0])
            answers.append((i, {j for j in menu if rng.random() < share}))
        cast.append(answers)
    cast[1] = [(n_voters - 1, set(menus_of[1]))]
    gold = {}
    for z in range(2, instances, 5):
        size = int(rng.integers(bounds[z][0], bounds[z][1] + 1))
        gold[z] = set(rng.permutation(menus_of[z])[:size].tolist())
    return Poll(width, n_voters, menus_of, bounds, cast, gold, menus)


def parameters_of(one, seed, floor=0.0):
    """Random rates and priors; with a floor, many of them at it."""
    rng = np.random.default_rng(seed)
    drawn = rng.uniform(0.4, 0.9, one.n_voters), rng.uniform(0.1, 0.6, one.n_voters), rng.uniform(0.1, 0.7, one.width)
    if floor:
        good = rng.random(one.n_voters) < 0.8
        drawn = np.where(good, 1 - floor, floor), np.where(good, floor, 1 - floor), drawn[2]
        drawn[2][::3] = floor
    return Parameters(*drawn)


def margins_by_hand(one, parameters, z):
    p, q, t = parameters.hit_rates, parameters.false_alarm_rates, parameters.priors
    found = []
    for j in one.menus[z]:
        margin = math.log(t[j]) - math.log1p(-t[j])
        for i, ticks in one.cast[z]:
            margin += math.log(p[i] / q[i]) if j in ticks else math.log1p(-p[i]) - math.log1p(-q[i])
        found.append(margin)
    return found


def chosen_by_hand(one, parameters, z):
    if z in one.gold:
        return one.gold[z]
    margins, (lower, upper) = margins_by_hand(one, parameters, z), one.bounds[z]
    order = sorted(range(len(margins)), key=lambda c: (-round(margins[c], 9), c))
    size = min(max(sum(round(margin, 9) >= 0 for margin in margins), lower), upper)
    return {one.menus[z][c] for c in order[:size]}


def weighed_by_hand(one, parameters, z):
    """Probability of every offered alternative, and the log-partition; numbers of any size, by polynomials."""
    margins, (lower, upper) = margins_by_hand(one, parameters, z), one.bounds[z]
    if z in one.gold:
        inside = {j: float(j in one.gold[z]) for j in one.menus[z]}
        return inside, math.fsum(m for j, m in zip(one.menus[z], margins, strict=True) if j in one.gold[z])
    with localcontext() as context:
        context.prec = 25
        odds = [Decimal(margin).exp() for margin in margins]

        def times(sums, each):
            return [a + each * b for a, b in zip([*sums, Decimal(0)], [Decimal(0), *sums], strict=True)][: upper + 1]

        before = [[Decimal(1)]]
        for each in odds:
            before.append(times(before[-1], each))
        after = [[Decimal(1)]]
        for each in reversed(odds):
            after.append(times(after[-1], each))
        after.reverse()
        whole = sum(before[-1][lower : upper + 1])
        inside = {}
        for c, j in enumerate(one.menus[z]):
            rest = Decimal(0)
            tail = after[c + 1]
            for size, sums in enumerate(before[c]):
                rest += sums * sum(tail[max(lower - 1 - size, 0) : max(upper - size, 0)])
            inside[j] = float(odds[c] * rest / whole)
        return inside, float(whole.ln())


def counted_by_hand(one, inside):
    """Hits, right ones seen, false alarms, wrong ones seen, occurrences and offers from membership by instance."""
    voters, alternatives = np.zeros((4, one.n_voters)), np.zeros((2, one.width))
    for z, answers in enumerate(one.cast):
        for j in one.menus[z]:
            alternatives[0, j] += inside[z].get(j, 0.0)
            alternatives[1, j] += 1
        for i, ticks in answers:
            hits, right = sum(inside[z].get(j, 0.0) for j in ticks), sum(inside[z].values())
            voters[:, i] += hits, right, len(ticks) - hits, len(one.menus[z]) - right
    return dict(
        zip(
            ("hits", "winners_seen", "false_alarms", "losers_seen", "occurrences", "offered"),
            (*voters, *alternatives),
            strict=True,
        )
    )


def expected_of(one, parameters):
    """What a hard and a soft step must find, and the sum of all log-partitions."""
    rows = range(len(one.cast))
    hard = counted_by_hand(one, [dict.fromkeys(chosen_by_hand(one, parameters, z), 1.0) for z in rows])
    weighed = [weighed_by_hand(one, parameters, z) for z in rows]
    return hard, counted_by_hand(one, [inside for inside, _ in weighed]), math.fsum(total for _, total in weighed)


def check(task, parameters, hard, soft, total, *, by_menu=False):
    found = task.hard_step(parameters, by_menu=by_menu)
    for name, expected in hard.items():
        np.testing.assert_array_equal(getattr(found, name), expected, name)
    found, log_partition = task.soft_step(parameters, by_menu=by_menu)
    for name, expected in soft.items():
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-10, atol=1e-10, err_msg=name)
    assert log_partition == pytest.approx(total, rel=1e-11, abs=1e-9)
    return found.groups


@pytest.fixture
def engines(monkeypatch, use_loops):
    """Sets whether loops are compiled, and by how many threads they are run."""

    def choose(*, compiled, threads=1):
        use_loops(compiled)
        monkeypatch.setenv("EPIVOTE_THREADS", str(threads))

    return choose


KINDS = ["some", "not full", "almost full", "mixed"]


@pytest.mark.parametrize("floor", [0.0, FLOOR], ids=["open rates", "rates at the floor"])
@pytest.mark.parametrize("menus", [False, True], ids=["one menu", "menus"])
@pytest.mark.parametrize("width", [1, 2, 9, 63, 64, 65, 70])
def test_steps_find_what_loops_find(width, menus, floor, engines):
    one = poll(width, KINDS[(width + 2 * menus) % 4] if width > 9 else "mixed", menus=menus)
    parameters = parameters_of(one, width, floor)
    expected = expected_of(one, parameters)
    ballots, bounds, gold = one.ballots(), one.size_bounds(), one.gold_sets()
    for compiled in (False, True):
        engines(compiled=compiled)
        task = InMemoryWorkload(ballots, bounds, gold)
        check(task, parameters, *expected)
        truths = task.truths(task.truth_step(parameters))
        for z in range(len(one.cast)):
            assert truths[f"z{z}"] == {f"a{j}" for j in chosen_by_hand(one, parameters, z)}


@pytest.mark.parametrize("menus", [False, True], ids=["one menu", "menus"])
@pytest.mark.parametrize("threads", [1, 3])
def test_neither_shards_nor_threads_show(menus, threads, engines):
    one = poll(5, "mixed", menus=menus)
    parameters = parameters_of(one, 1)
    expected = expected_of(one, parameters)
    groups = []
    for compiled in (False, True):
        engines(compiled=compiled, threads=threads)
        for rows in (1, 2, 3, 100):
            task = InMemoryWorkload(one.ballots(), one.size_bounds(), one.gold_sets(), cells_per_shard=5 * rows)
            groups.append(check(task, parameters, *expected, by_menu=True))
            assert list(groups[-1]) == sorted(groups[-1]), "always in the same order"
    assert all(each == groups[0] for each in groups)
    known = {}
    for menu, (lower, upper) in zip(one.menus, one.bounds, strict=True):
        group = (lower, upper, len(menu), tuple(menu) if menus else ())
        known[group] = known.get(group, 0) + 1
    assert {tuple(group): count for group, count in groups[0].items()} == known


@pytest.mark.parametrize("menus", [False, True], ids=["one menu", "menus"])
def test_blocks_on_disk_find_what_loops_find(tmp_path, menus, engines, monkeypatch):
    one = poll(5, "mixed", menus=menus)
    expected = [
        (parameters, *expected_of(one, parameters)) for parameters in (parameters_of(one, 1), parameters_of(one, 2))
    ]
    for per_block in (1, 45, 10_000):
        monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", per_block)
        folder = tmp_path / f"pack-{per_block}"
        write_packed([one.ballots()], folder)
        for kept_bytes in (0, 1500, 1 << 29):
            engines(compiled=menus, threads=2)
            task = Workload(open_packed(folder, kept_bytes=kept_bytes), one.size_bounds(), one.gold_sets())
            for each in expected:
                check(task, *each, by_menu=menus)


@pytest.mark.parametrize("width", [1, 2, 6, 64])
@pytest.mark.parametrize("kind", ["all", "some", "none", "full", "almost full", "all but one"])
def test_a_pass_after_another_finds_what_a_first_one_finds(width, kind):
    """Steps too small to change a set, steps that change some, a leap, and back."""
    one = poll(width, kind, menus=False, instances=9, n_voters=6)
    start, leap = parameters_of(one, 3), parameters_of(one, 4, FLOOR)

    def between(share):
        mixed = [
            (1 - share) * mine + share * theirs
            for mine, theirs in (
                (start.hit_rates, leap.hit_rates),
                (start.false_alarm_rates, leap.false_alarm_rates),
                (start.priors, leap.priors),
            )
        ]
        return Parameters(*mixed)

    task = InMemoryWorkload(one.ballots(), one.size_bounds(), one.gold_sets())
    passes = [CompiledPass(shard, known) for shard, known in zip(task.shards, task._gold_rows, strict=True)]
    for share in (0.0, 1e-9, 0.01, 0.02, 0.03, 0.2, 0.5, 0.5, 1.0, 0.0):
        parameters = between(share)
        sets = [dict.fromkeys(chosen_by_hand(one, parameters, z), 1.0) for z in range(len(one.cast))]
        expected = counted_by_hand(one, sets)
        counted = PassCounts.none(one.n_voters, one.width)
        for each in passes:
            each.hard(parameters, counted)
            arrays = ArrayPass(each.shard, None)
            free = [r for r, z in enumerate(each.shard.instances) if z not in one.gold]
            np.testing.assert_array_equal(each.sets(parameters)[free], arrays.sets(parameters)[free])
        np.testing.assert_array_equal(counted.voters, np.stack([expected["hits"], expected["winners_seen"]], axis=1))
        np.testing.assert_array_equal(counted.occurrences, expected["occurrences"])
