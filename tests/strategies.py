"""Random small elections for properties."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from hypothesis import strategies as st

from epivote import Ballots, Parameters, SizeBounds, Truths
from epivote.model.statistics import Group, Statistics

rates = st.floats(0.02, 0.98)
yes_or_no = st.booleans()
between = cache(st.integers)  # a strategy is checked once, not whenever it is drawn from
names = st.text(min_size=1, max_size=6).filter(lambda name: "|" not in name and "\x00" not in name)
FLOOR = 1e-4  # of priors


@dataclass
class Election:
    voters: list[str]
    instances: list[str]
    alternatives: list[str]
    ballots: dict[tuple[str, str], set[str]]
    menus: dict[str, list[str]]
    bounds: dict[str, tuple[int, int]]
    p: dict[str, float]
    q: dict[str, float]
    t: dict[str, float]
    has_menus: bool = False
    size_bounds: SizeBounds = field(default_factory=SizeBounds)

    def as_ballots(self) -> Ballots:
        built = Ballots.from_mapping(
            self.ballots, alternatives=self.alternatives, menu=self.menus if self.has_menus else None
        )
        assert set(built.instances) == set(self.instances)
        return built

    def parameters(self, ballots: Ballots) -> Parameters:
        return Parameters(
            np.array([self.p[v] for v in ballots.voters]),
            np.array([self.q[v] for v in ballots.voters]),
            np.array([self.t[a] for a in ballots.alternatives]),
        )


def some_of(draw, names, *, least=0):
    """Some of at most a few names, in one draw: a number whose bits say which; `least` is 1 if none is too few."""
    bits = draw(between(least, 2 ** len(names) - 1))
    return [name for k, name in enumerate(names) if bits >> k & 1]


@st.composite
def elections(
    draw,
    *,
    max_voters=4,
    max_instances=4,
    max_alternatives=5,
    menus=True,
    per_instance=True,
    min_instances=1,
    full=False,
):
    voters = [f"v{i}" for i in range(draw(between(1, max_voters)))]
    instances = [f"z{z}" for z in range(draw(between(min_instances, max_instances)))]
    alternatives = [f"a{j}" for j in range(draw(between(1, max_alternatives)))]
    has_menus = menus and draw(yes_or_no)
    offered = {z: some_of(draw, alternatives, least=1) if has_menus else alternatives for z in instances}
    ballots = {}
    for z in instances:
        for v in voters if full else some_of(draw, voters, least=1):
            ballots[v, z] = set(some_of(draw, offered[z]))
    smallest = min(len(menu) for menu in offered.values())
    lower = draw(between(0, smallest))
    upper = draw(between(lower, len(alternatives)))
    own = {}
    if per_instance and draw(yes_or_no):
        for z in some_of(draw, instances):
            low = draw(between(0, len(offered[z])))
            own[z] = (low, draw(between(low, len(offered[z]))))
    pairs = {z: own.get(z, (lower, upper)) for z in instances}
    return Election(
        voters=voters,
        instances=instances,
        alternatives=alternatives,
        ballots=ballots,
        menus=offered,
        bounds={z: (low, min(high, len(offered[z]))) for z, (low, high) in pairs.items()},
        p={v: draw(rates) for v in voters},
        q={v: draw(rates) for v in voters},
        t={a: draw(rates) for a in alternatives},
        has_menus=has_menus,
        size_bounds=SizeBounds(lower, upper, own),
    )


def draw_truths(data, election: Election) -> Truths:
    """Sets within the bounds, drawn by hypothesis."""
    truths = {}
    for z in election.instances:
        lower, upper = election.bounds[z]
        size = data.draw(between(lower, upper))
        truths[z] = set(data.draw(st.permutations(election.menus[z]))[:size])
    return Truths.from_mapping(truths, alternatives=election.alternatives)


def counted(occurrences, total, lower, upper):
    """Statistics of `total` instances with all alternatives offered; voters do not matter here."""
    none = np.zeros(1)
    occurrences = np.array(occurrences, float)
    offered = np.full(len(occurrences), float(total))
    groups = {Group(lower, upper, len(occurrences)): float(total)}
    return Statistics(none, none, none, none, occurrences, offered, groups)


@st.composite
def sweeps(draw):
    """Statistics with one pair of bounds, and priors to begin with; often at a limit, often forced."""
    m = draw(st.integers(1, 45))
    lower = draw(st.integers(0, m))
    upper = draw(st.sampled_from([lower, min(lower + 1, m), min(lower + 4, m), m]))
    total = draw(st.integers(1, 10**6))
    occurrences = draw(st.lists(st.integers(0, total), min_size=m, max_size=m))
    edges = st.sampled_from([FLOOR, 0.5, 1 - FLOOR])
    t = draw(st.lists(st.one_of(st.floats(FLOOR, 1 - FLOOR), edges), min_size=m, max_size=m))
    return counted(occurrences, total, lower, upper), np.array(t)
