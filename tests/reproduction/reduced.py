"""A run small enough for a test."""

from experiments.page.plan import Extent

BIRDS = Extent(
    data="birds",
    sizes=(8, 12),
    paper_batches=2,
    many_batches=4,
    formula_batches=3,
    bird_sizes=(8,),
    start_sizes=(8,),
    random_starts=3,
    random_starts_on_all=5,
    timed_sizes=(8, 12),
    timed_crowds=(30, 60),
    timed_repeats=1,
    timed_crowd_repeats=1,
    soft_sizes=(6, 12),
    soft_batches=2,
    ballots_each=(3,),
    broken_percent=(0, 40),
    crowds=4,
)
