"""Which way up a crowd is, whether its voters tick right answers or wrong ones, is told by short runs on a sample."""

from __future__ import annotations

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.engines.gold import Gold

# Log-likelihood by which the mirrored crowd must explain the ballots better; odds of e^20, a round number.
MIRROR_GAIN = 20.0
PROBE_ITERATIONS = 10  # of each of the two short runs; a round number
# After which the mirrored crowd must be ahead for both runs to go on. Chosen on 1,000 simulated crowds, from no
# adversaries to adversaries only: of the 283 that are turned after all iterations, 5 missed none, 4 one, and 3 four.
GLANCE_ITERATIONS = 5
PROBE_TOLERANCE = 1e-2  # change of rates at which they stop early: enough to tell the two apart
SAMPLE_INSTANCES = 1000  # about so many are asked, and no more gold ones; a round number


def sampled(ballots: AnyBallots, gold: Gold | None, count: int | None = None) -> tuple[Ballots, Gold | None]:
    """About so many instances, a thousand if nothing is said, gold ones among them, and their gold sets."""
    count = count or SAMPLE_INSTANCES
    some_gold = list(gold or ())[:count]
    sample = ballots.sample_instances(max(1, ballots.n_instances // count), some_gold)
    here = {name: gold[name] for name in some_gold if name in sample.instance_index} if gold else {}
    return sample, here or None
