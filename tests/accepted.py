"""Whole texts compared with those last accepted, and small crowds that are always the same."""

import random
from pathlib import Path

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"


def check_accepted(path, found):
    """The text must be the accepted one; what it is instead is written beside it."""
    rejected = path.with_suffix(".new")
    rejected.unlink(missing_ok=True)
    if not path.exists() or found != path.read_text(encoding="utf-8"):
        rejected.write_text(found, encoding="utf-8")
    assert not rejected.exists(), f"if this is meant: mv {rejected.relative_to(ROOT)} {path.relative_to(ROOT)}"


def cast(instances, voters, names, seed, *, hits=0.75, alarms=0.15, asked=1.0, noise=(), copies=()):
    """Ballots and true sets of one or two alternatives, drawn without numpy; `noise` tick anything, `copies` repeat v1."""
    rng = random.Random(seed)
    right = {f"q{z}": rng.sample(names, rng.randint(1, 2)) for z in range(1, instances + 1)}
    ballots = {}
    for z, members in right.items():
        for v in range(1, voters + 1):
            rates = (0.4, 0.4) if v in noise else (hits, alarms)
            ticks = [name for name in names if rng.random() < rates[name not in members]]
            if rng.random() < asked:
                ballots[f"v{v}", z] = ballots.get(("v1", z), ticks) if v in copies else ticks
    return ballots, {z: sorted(members, key=names.index) for z, members in right.items()}
