from pathlib import Path

import pytest

from epivote import EM, Ballots, read_ballots, read_truths, write_report

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
NASTY = {
    "script": "<script>alert(1)</script>",
    "ends": "</script><img src=x onerror=alert(2)>",
    "quotes": '" onmouseover="alert(3)" x=\'',
    "lines": "one\u2028two\u2029three",
    "arabic": "مرحبا بالعالم",
    "emoji": "🐦🦉👩‍🔬",
    "template": "{{ 7 * 7 }} ${1 + 1}",
    "long": "averyveryverylongname" * 15,
}


@pytest.fixture(scope="session")
def birds() -> Ballots:
    return read_ballots(EXAMPLES / "birds.csv")


@pytest.fixture(scope="session")
def birds_gold():
    return read_truths(EXAMPLES / "birds-gold.csv")


@pytest.fixture(scope="session")
def nasty() -> Ballots:
    """Voters, items and alternatives with names that break careless pages; some ballots are empty."""
    names = list(NASTY.values())
    ticks = [{names[0], names[1]}, {names[0]}, set(), {names[2], names[4]}, {names[5]}, {names[6], names[7], names[3]}]
    return Ballots.from_mapping(
        {
            (f"voter {voter}", f"item {item}"): ticks[(v * z) % len(ticks)]
            for v, voter in enumerate(names)
            for z, item in enumerate(names)
        },
        alternatives=names,
    )


@pytest.fixture(scope="session")
def report(birds, birds_gold, tmp_path_factory):
    fitted = EM((1, 2)).fit(birds)
    return fitted, write_report(fitted, tmp_path_factory.mktemp("birds") / "birds report.html", gold=birds_gold)
