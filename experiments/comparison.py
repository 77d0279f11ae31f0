"""epivote beside other tools on the same real ballots: `make compare` writes docs/explanation/comparison.md.

Every tool runs on every set in a process of its own with a time limit, and what it found is kept in build/compare, so
that an interrupted run goes on where it stopped. Real ballots are read where they lie (EPIVOTE_DATA, or shared/data
beside the project) and left out with a note where they are not.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import epivote
from epivote import AMLE, EM, Auto, Ballots, Calibrated, Majority, MaximumLikelihood, calibration_error, compare
from experiments.confidence import drawn_gold
from experiments.other_tools import PEERS, Peer
from experiments.real_sets import REAL, present, read_real
from experiments.rules import Bounds
from experiments.store import ROOT, Kept, Store, commit, digest_of
from experiments.yes_no import Answers, Questions, confidence_of, questions_of, sets_of, within_bounds

PAGE = ROOT / "docs" / "explanation" / "comparison.md"
FOLDER = ROOT / "build" / "compare"
TIME_LIMIT = 600
"""Seconds of the processor for one tool on one set, a round number."""
WAITING = 5
"""Times as long by the clock: a machine that is busy otherwise must not make a tool look slow."""
GOLD, DRAWS = 20, 20
SEVERAL_IF_UNDER = 5.0
"""Seconds of the processor; shorter fits are repeated and the shortest of three counts."""
Sets = Mapping[str, frozenset[str]]
Result = dict[str, Any]
OURS: dict[str, tuple[str, Callable[[Bounds], Any]]] = {
    "majority": ("epivote Majority", Majority),
    "amle": ("epivote AMLE", AMLE),
    "em": ("epivote EM", EM),
    "auto": ("epivote Auto", Auto),
}
WITH_GOLD = "calibrated"
TITLES = (
    {name: peer.title for name, peer in PEERS.items()}
    | {name: title for name, (title, _) in OURS.items()}
    | {WITH_GOLD: f"epivote Calibrated(EM), {GOLD} gold"}
)


def main() -> None:
    """Measure what is not kept yet, then write the page."""
    from experiments.page.tools import page

    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", nargs="+", choices=TITLES, default=list(TITLES), help="tools; all by default")
    arguments.add_argument("--sets", nargs="+", choices=REAL, default=list(REAL), help="real ballots; all by default")
    arguments.add_argument("--page", action="store_true", help="measure nothing, only write the page")
    arguments.add_argument("--one", nargs=2, metavar=("TOOL", "SET"), help="measure this and print it as JSON")
    arguments.add_argument("--limit", type=int, default=TIME_LIMIT, help="seconds of the processor for one of them")
    told = arguments.parse_args()
    if told.one:
        resource.setrlimit(resource.RLIMIT_CPU, (told.limit, resource.RLIM_INFINITY))
        print(json.dumps(measure(*told.one)))
        return
    if not told.page:
        for name in (name for name in present() if name in told.sets):
            for tool in told.only:
                if missing(tool) is None and applies(tool, name):
                    store(tool).measured(f"{name}.{tool}", settings(tool), partial(in_own_process, tool, name))
    PAGE.write_text(page(all_kept()), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


def all_kept() -> dict[tuple[str, str], Kept]:
    """Everything that was measured, by tool and set."""
    found = {(tool, name): store(tool).read(f"{name}.{tool}", settings(tool)) for tool in TITLES for name in REAL}
    return {key: kept for key, kept in found.items() if kept is not None}


def store(tool: str) -> Store:
    """Where results of a tool are kept; those of others do not depend on epivote's estimators."""
    here = Path(__file__)
    files = [here, here.with_name("yes_no.py"), here.with_name("real_sets.py")]
    if tool in PEERS:
        files += [here.with_name("other_tools.py"), here.with_name("dawid_skene.py")]
    else:
        files += sorted((ROOT / "src" / "epivote").rglob("*.py"))
    return Store(FOLDER, digest_of(files), commit())


def settings(tool: str) -> Result:
    """What a result must have been made with to be current."""
    package = PEERS[tool].package if tool in PEERS else None
    return {"tool": tool, "version": version_of(package) if package else None, "time limit": TIME_LIMIT}


def version_of(package: str) -> str | None:
    """The installed version, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def missing(tool: str) -> str | None:
    """Why a tool cannot be run here, if so."""
    package = PEERS[tool].package if tool in PEERS else None
    return f"{package} is not installed" if package and version_of(package) is None else None


def applies(tool: str, name: str) -> bool:
    """Whether a tool fits a set: one model per label needs the same labels on every instance."""
    return not (tool in PEERS and PEERS[tool].per_label and has_menus(name))


def has_menus(name: str) -> bool:
    """Whether a set offers other alternatives on every instance."""
    return name in ("real_imagenet", "real_imagenet_full", "news_events")


def in_own_process(tool: str, name: str) -> Result:
    """What `measure` finds, in a process that is stopped when it has used up the time limit."""
    command = [sys.executable, "-m", "experiments.comparison", "--one", tool, name, "--limit", str(TIME_LIMIT)]
    environment = {**os.environ, "TQDM_DISABLE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment, timeout=WAITING * TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not finished after {WAITING * TIME_LIMIT // 60:.0f} minutes by the clock"}
    except subprocess.CalledProcessError as failure:
        if failure.returncode == -signal.SIGXCPU:
            return {"failed": f"not finished after {TIME_LIMIT // 60} minutes"}
        return {"failed": (failure.stderr.strip().splitlines() or ["ended without a word"])[-1]}
    found: Result = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(tool: str, name: str) -> Result:
    """Accuracy, calibration and time of one tool on one set."""
    warnings.simplefilter("ignore")
    ballots, gold, bounds = read_real(name)
    load = os.getloadavg()[0]
    if tool == WITH_GOLD:
        found = with_gold(ballots, gold, bounds)
    elif tool in OURS:
        found = ours(OURS[tool][1](bounds), ballots, gold)
    else:
        found = peer(PEERS[tool], questions_of(ballots), ballots, gold, bounds)
    return {**found, "load": load}


def peer(tool: Peer, questions: Questions, ballots: Ballots, gold: Sets, bounds: Bounds) -> Result:
    """One of the other tools: its sets as they are, and the best within the size bounds that it does not know of."""
    tool.load()
    with np.errstate(all="ignore"):
        found, seconds = timed(lambda: tool.tool(questions))
    result = accuracy(sets_of(questions, found.yes), gold, ballots)
    if found.probability is not None:
        result |= stated_by(questions, found, found.probability, ballots, gold)
        bounded = sets_of(questions, within_bounds(questions, found.probability, bounds))
        result["within bounds"] = accuracy(bounded, gold, ballots)["exact"]
    return {**result, "seconds": seconds}


def stated_by(
    questions: Questions, found: Answers, probability: npt.NDArray[np.float64], ballots: Ballots, gold: Sets
) -> Result:
    """The confidence that a tool's probabilities imply for its own sets, and its calibration error."""
    return calibrated(sets_of(questions, found.yes), confidence_of(questions, found.yes, probability), ballots, gold)


def ours(estimator: Any, ballots: Ballots, gold: Sets) -> Result:
    """One of epivote's estimators; sets are within the bounds already."""
    fitted, seconds = timed(lambda: estimator.fit(ballots))
    result = accuracy(fitted.truth_, gold, ballots)
    if fitted.confidence_ is not None:
        result |= calibrated(fitted.truth_, fitted.confidence_, ballots, gold)
    return {**result, "seconds": seconds}


def with_gold(ballots: Ballots, gold: Sets, bounds: Bounds) -> Result:
    """Calibrated with some gold sets, scored on the others; rates are those that EM finds without gold."""
    plain, seconds = timed(lambda: EM(bounds).fit(ballots))
    rates = plain.parameters_
    fixed = MaximumLikelihood(rates.hit_rates, rates.false_alarm_rates, rates.priors, bounds)
    known = ballots.select(instances=list(gold))
    draws, calibrating = list[Result](), list[float]()
    for seed in range(DRAWS):
        some = drawn_gold(dict(gold), GOLD, seed)
        others = {name: right for name, right in gold.items() if name not in some}
        begin = time.process_time()
        fitted = Calibrated(fixed).fit(known, gold=some)
        calibrating.append(time.process_time() - begin)
        assert fitted.confidence_ is not None
        draws.append(
            accuracy(fitted.truth_, others, known) | calibrated(fitted.truth_, fitted.confidence_, known, others)
        )
    means = {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}
    return {**means, "seconds": seconds + float(np.median(calibrating))}


def accuracy(truths: Sets | epivote.Truths, gold: Sets, ballots: Ballots) -> Result:
    """Shares of sets exactly right and of alternatives decided rightly, and mean Jaccard."""
    found = compare(truths, gold, ballots)
    return {
        "exact": float(found.zero_one.mean()),
        "jaccard": float(found.jaccard.mean()),
        "alternatives": float(found.correct.sum() / found.widths.sum()),
    }


def calibrated(
    truths: Sets | epivote.Truths, confidence: npt.NDArray[np.float64], ballots: Ballots, gold: Sets
) -> Result:
    """Mean stated confidence and calibration error of the sets that are known."""
    stated = np.array([confidence[ballots.instance_index[name]] for name in gold])
    right = np.array([truths[name] == gold[name] for name in gold], float)
    return {"stated": float(stated.mean()), "error": calibration_error(stated, right, draws=1).mean}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and the seconds of the processor it took; the shortest of three where they are few."""
    times = list[float]()
    while len(times) < 3 and (not times or times[0] < SEVERAL_IF_UNDER):
        begin = time.process_time()
        found = work()
        times.append(time.process_time() - begin)
    return found, min(times)


if __name__ == "__main__":
    main()
