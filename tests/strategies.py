"""Random small elections for properties."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from epivote import Ballots, Parameters, SizeBounds, Truths

rates = st.floats(0.02, 0.98)
names = st.text(min_size=1, max_size=6).filter(lambda name: "|" not in name and "\x00" not in name)


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
    voters = [f"v{i}" for i in range(draw(st.integers(1, max_voters)))]
    instances = [f"z{z}" for z in range(draw(st.integers(min_instances, max_instances)))]
    alternatives = [f"a{j}" for j in range(draw(st.integers(1, max_alternatives)))]
    has_menus = menus and draw(st.booleans())
    offered = {
        z: sorted(draw(st.sets(st.sampled_from(alternatives), min_size=1))) if has_menus else alternatives
        for z in instances
    }
    ballots = {}
    for z in instances:
        who = voters if full else sorted(draw(st.sets(st.sampled_from(voters), min_size=1)))
        for v in who:
            ballots[v, z] = draw(st.sets(st.sampled_from(offered[z])))
    smallest = min(len(menu) for menu in offered.values())
    lower = draw(st.integers(0, smallest))
    upper = draw(st.integers(lower, len(alternatives)))
    own = {}
    if per_instance and draw(st.booleans()):
        for z in draw(st.sets(st.sampled_from(instances))):
            low = draw(st.integers(0, len(offered[z])))
            own[z] = (low, draw(st.integers(low, len(offered[z]))))
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
        size = data.draw(st.integers(lower, upper))
        truths[z] = set(data.draw(st.permutations(election.menus[z]))[:size])
    return Truths.from_mapping(truths, alternatives=election.alternatives)
