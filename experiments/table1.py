"""Table 1 of the paper: accuracies on the whole quiz, printed beside recomputed. Run by `make reproduce`."""

from __future__ import annotations

import argparse

from epivote import AMLE, Majority, Modal, compare
from experiments.quiz import CHECKSUM, FILE, SOURCE, find_quiz, read_quiz

PRINTED = {
    "AMLE_c": (0.88, 0.78, 0.60),
    "AMLE_f": (0.86, 0.74, 0.53),
    "Modal": (0.84, 0.69, 0.46),
    "Majority": (0.80, 0.61, 0.26),
}
RULES = {
    "AMLE_c": AMLE((1, 2)),
    "AMLE_f": AMLE((0, None)),
    "Modal": Modal(),
    "Majority": Majority(),
    "Majority, repaired to 1..2": Majority((1, 2)),
}


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", help=f"folder that holds {FILE}")
    path = find_quiz(options.parse_args().data)
    if path is None:
        raise SystemExit(SOURCE.format(checksum=CHECKSUM, file=FILE))
    ballots, gold = read_quiz(path)
    print(f"{ballots}\n")
    print("| rule | Hamming | paper | harmonic | paper | 0/1 | paper |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, rule in RULES.items():
        found = compare(rule.fit_predict(ballots), gold, ballots)
        ours = (found.hamming.mean(), found.harmonic.mean(), found.zero_one.mean())
        paper = PRINTED.get(name, ("", "", ""))
        cells = [text for mine, theirs in zip(ours, paper, strict=True) for text in (f"{mine:.3f}", str(theirs))]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
