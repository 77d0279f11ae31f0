import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score

from epivote import Ballots, InputError, compare, hamming, harmonic, harmonic_weights, jaccard, score, zero_one

NAMES = ["a", "b", "c", "d"]
sets = st.sets(st.sampled_from(NAMES))
pairs = st.lists(st.tuples(sets, sets), min_size=1, max_size=6)


def both(drawn):
    return (
        {str(z): mine for z, (mine, _) in enumerate(drawn)},
        {str(z): gold for z, (_, gold) in enumerate(drawn)},
    )


@given(pairs)
def test_accuracies_agree_with_scikit_learn(drawn):
    truths, gold = both(drawn)
    y_pred = np.array([[a in truths[z] for a in NAMES] for z in truths])
    y_true = np.array([[a in gold[z] for a in NAMES] for z in truths])
    assert hamming(truths, gold, NAMES) == pytest.approx(1 - hamming_loss(y_true, y_pred))
    assert zero_one(truths, gold, NAMES) == pytest.approx(accuracy_score(y_true, y_pred))
    assert jaccard(truths, gold, NAMES) == pytest.approx(
        jaccard_score(y_true, y_pred, average="samples", zero_division=1.0)
    )
    found = compare(truths, gold, NAMES)
    if y_true.any() or y_pred.any():
        assert found.micro_f1 == pytest.approx(f1_score(y_true, y_pred, average="micro"))
        present = (y_true | y_pred).any(axis=0)
        each = f1_score(y_true, y_pred, average=None, zero_division=0)
        assert found.macro_f1 == pytest.approx(each[present].mean())
    else:
        assert found.micro_f1 == found.macro_f1 == 1


@given(pairs)
def test_harmonic_is_the_sum_of_the_appendix(drawn):
    truths, gold = both(drawn)
    total = 0.0
    for z in truths:
        correct = sum((a in truths[z]) == (a in gold[z]) for a in NAMES)
        total += math.fsum(1 / (4 + 1 - k) for k in range(1, correct + 1)) / (1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert harmonic(truths, gold, NAMES) == pytest.approx(total / len(truths))


def test_harmonic_steps_for_five_labels_are_the_printed_ones():
    unscaled = harmonic_weights(5) * (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)
    assert unscaled == pytest.approx([0, 1 / 5, 9 / 20, 47 / 60, 77 / 60, 137 / 60])


@given(pairs)
def test_the_weight_vector_class_contains_hamming_and_zero_one(drawn):
    found = compare(*both(drawn), NAMES)
    np.testing.assert_allclose(found.weighted(lambda m: np.linspace(0, 1, m + 1)), found.hamming)
    np.testing.assert_allclose(found.weighted(lambda m: np.eye(m + 1)[m]), found.zero_one)
    with pytest.raises(InputError, match=r"weights\(4\) has 2 entries; it needs 5"):
        found.weighted(lambda m: np.ones(2))


def test_only_offered_alternatives_and_instances_with_gold_count():
    ballots = Ballots.from_mapping(
        {("v", "y"): {"a"}, ("v", "z"): {"c"}, ("v", "x"): {"c"}},
        menu={"y": ["a", "b"], "z": ["b", "c", "d", "e"], "x": ["c"]},
    )
    truths, gold = {"y": {"a"}, "z": {"c"}, "x": set()}, {"y": {"b"}, "z": {"c", "d"}}
    found = compare(truths, gold, ballots)
    assert found.hamming.tolist() == [0, 0.75]
    menus = {"y": ["a", "b"], "z": ["b", "c", "d", "e"]}
    assert compare(truths, gold, menus).hamming.tolist() == [0, 0.75]


@pytest.mark.parametrize(
    ("truths", "gold", "offered", "message"),
    [
        ({"y": set()}, {}, NAMES, "there is no gold set to compare with"),
        ({"y": set()}, {"z": set()}, NAMES, "1 of 1 gold instances have no estimated set: 'z'"),
        ({"z": {"q"}}, {"z": set()}, NAMES, "the estimated set of 'z' has 'q', which is not among the alternatives"),
        ({"z": set()}, {"z": {"q"}}, NAMES, "the gold set of 'z' has 'q', which is not among"),
        ({"z": set()}, {"z": set()}, {"y": NAMES}, "instance 'z' has a gold set but no menu"),
        ({"z": set()}, {"z": set()}, "abcd", "offered is the text 'abcd'"),
        (
            {"z": set()},
            {"z": set()},
            Ballots.from_mapping({("v", "y"): {"a"}}),
            "'z' has a gold set but is not in the ballots",
        ),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(truths, gold, offered, message):
    with pytest.raises(InputError, match=message):
        compare(truths, gold, offered)


def test_score_gathers_everything_with_intervals():
    truths = {str(z): {"a"} for z in range(10)}
    gold = {str(z): {"a"} if z < 7 else {"b"} for z in range(10)}
    scores = score(truths, gold, NAMES)
    assert scores.n_instances == 10
    assert scores.zero_one.mean == pytest.approx(0.7)
    assert 0.3 < scores.zero_one.low < 0.7 < scores.zero_one.high < 0.95
    assert scores.hamming.mean == pytest.approx(0.85)
    assert scores.hamming.low < 0.85 < scores.hamming.high
