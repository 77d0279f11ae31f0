"""A value that is worked out once for each object, while others work out theirs."""

from threading import Barrier, Thread

import pytest

from epivote.web.kept import kept
from epivote.web.views.visit import Visit

SOON = 5  # seconds; far more than starting two threads takes


class Slow:
    def __init__(self, together):
        self.together = together
        self.times = 0

    @kept
    def value(self):
        """What it is."""
        self.times += 1
        self.together.wait(SOON)
        return self.times


def test_is_worked_out_once():
    one = Slow(Barrier(1))
    assert (one.value, one.value, one.times) == (1, 1, 1)


def test_two_objects_work_theirs_out_at_the_same_time():
    together = Barrier(2)
    both = [Slow(together), Slow(together)]
    threads = [Thread(target=lambda each=each: each.value) for each in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * SOON)
    assert [vars(each).get("value") for each in both] == [1, 1]


def test_a_failure_is_not_kept():
    one = Slow(Barrier(1))
    one.together = None
    with pytest.raises(AttributeError):
        _ = one.value
    one.together = Barrier(1)
    assert one.value == 2


def test_it_keeps_its_docstring():
    assert Slow.value.__doc__ == "What it is."


def test_what_a_visit_reads_from_the_database_holds_up_no_other_visit():
    assert all(isinstance(vars(Visit)[name], kept) for name in ("sheet", "settled", "organiser"))
