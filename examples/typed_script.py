"""What a user's script looks like to a type checker: `make types` checks it strictly, and a test runs it."""

from pathlib import Path

from epivote import (
    EM,
    Ballots,
    Truths,
    ballots_from_records,
    ballots_to_indicators,
    read_ballots,
    score,
    summarize,
    truths_to_indicators,
)

QUIZ = Path(__file__).parent / "birds.csv"


def main() -> list[str]:
    """Estimate the quiz, and say a few things about it."""
    ballots: Ballots = read_ballots(QUIZ)
    fitted = EM(bounds=(1, 2)).fit(ballots)
    truths: Truths = fitted.truth_
    first: frozenset[str] = truths["picture 1"]
    sure: int = summarize(fitted).n_sure
    matrix, keys = ballots_to_indicators(ballots)
    own = ballots_from_records([{"voter": "ann", "instance": "picture 1", "alternatives": sorted(first)}])
    right: float = score(fitted.predict(own), {"picture 1": first}, own).zero_one.mean
    shape: tuple[int, ...] = truths_to_indicators(truths).shape
    return [f"{sure} sets are sure", f"{matrix.shape[0]} ballots, {len(keys)} keys", f"{right:.0f} right", str(shape)]


if __name__ == "__main__":
    print("\n".join(main()))
