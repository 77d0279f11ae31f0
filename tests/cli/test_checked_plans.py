"""What `plan` says about a plan that was checked on ballots, in whole sentences."""

import pytest

from epivote import Interval, Plan, PlanCheck, PlanPoint
from epivote.cli.show import _about_the_check

SURE = Interval(1.0, 0.9, 1.0)
MODEL = "7 ballots per instance give 80 % exactly right sets, once the voters are known and if they err independently."


def points(*shares):
    return tuple(PlanPoint(k, Interval(share, 0.0, 1.0), SURE) for k, share in enumerate(shares, 1))


def told(check):
    return _about_the_check(Plan(points(0.5), 0.8, 7, check), check)


@pytest.mark.parametrize(
    ("shares", "ending"),
    [
        ((0.8, 0.9), ["1 ballot per instance gives {} in this check."]),
        ((0.79, 0.8), ["2 ballots per instance give {} in this check."]),
        ((0.7, 0.79), ["None of the numbers that could be checked gives {}.", f"By the model: {MODEL}"]),
    ],
)
@pytest.mark.parametrize("has_gold", [True, False])
def test_how_many_ballots_reached_the_target(shares, ending, has_gold):
    curves = (points(0.1), points(*shares)) if has_gold else (points(*shares), ())
    lines = told(PlanCheck(*curves, available=1000, n_instances=1200, n_compared=1, n_in_file=1500))
    goal = "80 % exactly right sets" if has_gold else "the same set as all ballots on 80 % of the instances"
    compared = ", and 1 set compared with gold" if has_gold else ""
    assert lines == [
        "Checked by leaving out ballots: 1,200 of 1,500 instances with 1,000 or more ballots were estimated again with "
        f"fewer{compared}.",
        *([] if has_gold else ["All ballots together may be wrong too; --gold FILE checks against known true sets."]),
        "For more than 2 ballots per instance, only the model gives figures; it assumes that voters err independently.",
        *(each.format(goal) for each in ending),
    ]


def test_where_all_instances_were_checked_or_none_could_be():
    (first, *_) = told(PlanCheck(points(0.9), (), available=4, n_instances=9, n_compared=9, n_in_file=9))
    assert (
        first == "Checked by leaving out ballots: 9 instances with 4 or more ballots were estimated again with fewer."
    )
    nothing = told(PlanCheck((), (), available=1, n_instances=9, n_compared=9, n_in_file=9))
    assert nothing == ["Not checked: too many instances have a single ballot.", MODEL]
