"""Sums of products against those added up one by one."""

from math import fsum

import numpy as np
import pytest

from epivote.model.products import dot, dots


@pytest.mark.parametrize("size", [0, 1, 7, 20_001])
def test_products_are_added_up(size):
    rng = np.random.default_rng(size)
    one, other = rng.normal(size=size), rng.normal(size=size)
    assert dot(one, other) == pytest.approx(fsum(a * b for a, b in zip(one, other, strict=True)), abs=1e-9)
    assert dot(np.arange(size), other) == pytest.approx(fsum(k * b for k, b in enumerate(other)), rel=1e-9, abs=1e-9)


def test_every_row_meets_every_other_row():
    rng = np.random.default_rng(3)
    rows, others = rng.normal(size=(3, 500)), rng.normal(size=(2, 500))
    expected = [[fsum(a * b for a, b in zip(row, other, strict=True)) for other in others] for row in rows]
    assert dots(rows, others) == pytest.approx(np.array(expected), abs=1e-9)
