"""A fit that is cut off and continued ends where it would have ended."""

import os
import signal
import subprocess
import sys
from functools import cache

import pytest

from epivote import AMLE, EM, FileError, Majority, open_packed, reference_crowd, write_packed
from patience import in_time, read_until

CROWD = reference_crowd(300, 40, 7, 3, seed=8)
GOLD = {name: CROWD.gold[name] for name in CROWD.ballots.instances[:9]}


class CutError(Exception):
    """Something that ends a fit from outside."""


def cut_after(count):
    calls = []

    def progress(_iteration, _value):
        calls.append(1)
        if len(calls) == count:
            raise CutError

    return progress


@cache
def went_through(make):
    return make().fit(CROWD.ballots, gold=GOLD)


MADE = [lambda: AMLE((1, 3)), lambda: AMLE((1, 3), n_starts=3), lambda: EM((1, 3), tolerance=1e-9)]


@pytest.mark.parametrize(("count", "make"), [*((count, make) for count in (1, 5, 9) for make in MADE), (13, MADE[-1])])
def test_going_on_gives_what_going_through_gives(tmp_path, make, count):
    whole = went_through(make)
    kept = tmp_path / "fit.checkpoint"
    with pytest.raises(CutError):
        make().fit(CROWD.ballots, gold=GOLD, progress=cut_after(count), checkpoint=kept)
    with pytest.raises(CutError):
        make().fit(CROWD.ballots, gold=GOLD, progress=cut_after(1), checkpoint=kept)
    seen = []
    resumed = make().fit(CROWD.ballots, gold=GOLD, checkpoint=kept, progress=lambda step, _: seen.append(step))
    assert resumed.parameters_ == whole.parameters_
    assert resumed.log_likelihoods_ == whole.log_likelihoods_
    assert resumed.truth_ == whole.truth_
    assert resumed.n_iter_ == whole.n_iter_
    assert resumed.estimate_.ties == whole.estimate_.ties
    if not (isinstance(resumed, AMLE) and resumed.n_starts > 1):
        assert seen[0] == count + 2
    again = make().fit(CROWD.ballots, gold=GOLD, checkpoint=kept)
    assert again.log_likelihoods_ == whole.log_likelihoods_
    assert again.truth_ == whole.truth_
    assert again.converged_


def test_groups_go_on_with_what_is_believed_of_them(tmp_path):
    ballots, kept = reference_crowd(40, 8, 4, 2, seed=3).ballots, tmp_path / "fit.checkpoint"

    def made():
        return EM((1, 2), groups=2, tolerance=1e-4, max_iterations=60)

    steps = []
    whole = made().fit(ballots, progress=lambda step, _: steps.append(step))
    assert len(steps) > whole.estimate_.settling_iterations + 2
    with pytest.raises(CutError):
        made().fit(ballots, progress=cut_after(len(steps) - 1), checkpoint=kept)
    resumed = made().fit(ballots, checkpoint=kept)
    assert resumed.parameters_ == whole.parameters_
    assert resumed.log_likelihoods_ == whole.log_likelihoods_


@pytest.mark.parametrize(
    "make", [lambda most: AMLE((1, 3), max_iterations=most), lambda most: EM((1, 3), max_iterations=most)]
)
def test_a_run_that_was_stopped_by_its_limit_is_found_as_it_was_left(tmp_path, make):
    for most in (1, 2, 3):
        whole = make(most).fit(CROWD.ballots)
        kept = tmp_path / f"fit-{most}.checkpoint"
        make(most).fit(CROWD.ballots, checkpoint=kept)
        again = make(most).fit(CROWD.ballots, checkpoint=kept)
        assert (again.truth_, again.parameters_) == (whole.truth_, whole.parameters_)
        assert again.estimate_.counts.hits.tolist() == whole.estimate_.counts.hits.tolist()
        assert not again.converged_


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    kept = tmp_path / "fit.checkpoint"
    EM((1, 3)).fit(CROWD.ballots, checkpoint=kept)
    fewer = CROWD.ballots.select(instances=CROWD.ballots.instances[:-1])
    for estimator, ballots, gold in (
        (EM((1, 2)), CROWD.ballots, None),
        (EM((1, 3), floor=1e-3), CROWD.ballots, None),
        (EM((1, 3)), fewer, None),
        (EM((1, 3)), CROWD.ballots, GOLD),
        (AMLE((1, 3)), CROWD.ballots, None),
    ):
        with pytest.raises(FileError, match="of other ballots or with other settings; remove it"):
            estimator.fit(ballots, gold=gold, checkpoint=kept)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    kept = tmp_path / "fit.checkpoint"
    EM((1, 3)).fit(CROWD.ballots, checkpoint=kept)
    kept.write_bytes(kept.read_bytes()[:-40])
    with pytest.raises(FileError, match="damaged.*remove it to begin anew"):
        EM((1, 3)).fit(CROWD.ballots, checkpoint=kept)


def test_rules_without_iterations_leave_no_checkpoint(tmp_path):
    Majority((1, 3)).fit(CROWD.ballots, checkpoint=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_killed_process_is_continued_on_packed_ballots(tmp_path):
    packed = write_packed([CROWD.ballots], tmp_path / "packed")
    kept = tmp_path / "fit.checkpoint"
    code = (
        "import time, epivote\n"
        "def slowly(step, value):\n    print(step, flush=True)\n    time.sleep(0.05)\n"
        f"packed = epivote.open_packed({str(packed.folder)!r})\n"
        f"epivote.EM((1, 3)).fit(packed, progress=slowly, checkpoint={str(kept)!r})\n"
    )
    with in_time(subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)) as run:
        read_until(run.stdout, b"7\n")
        os.kill(run.pid, signal.SIGKILL)
    seen = []
    resumed = EM((1, 3)).fit(open_packed(packed.folder), checkpoint=kept, progress=lambda step, _: seen.append(step))
    assert seen[0] > 7
    assert resumed.parameters_ == EM((1, 3)).fit(packed).parameters_
