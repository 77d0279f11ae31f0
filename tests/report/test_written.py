"""How the page writes numbers."""

import pytest

from epivote.report.written import probability, share, spaced, weight, whole


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.0, "> 99.9 %"),
        (0.9995, "> 99.9 %"),
        (0.9985, "99.9 %"),
        (0.95, "95.0 %"),
        (0.9, "90.0 %"),
        (0.625, "62 %"),
        (0.1, "10 %"),
        (0.0994, "9.9 %"),
        (0.001, "0.1 %"),
        (0.0009, "< 0.1 %"),
        (0.0, "< 0.1 %"),
        (float("nan"), "–"),
    ],
)
def test_probabilities_have_no_decimals_that_mean_nothing(value, words):
    assert probability(value).replace("\u00a0", " ") == words


def test_what_was_counted_may_be_none_or_all():
    assert [share(value).replace("\u00a0", " ") for value in (0.0, 1.0, 0.9999, 0.5)] == [
        "0 %",
        "100 %",
        "> 99.9 %",
        "50 %",
    ]
    assert whole(0.949) == "95\u00a0%"


def test_weights_have_a_sign_unless_they_are_nothing():
    assert [weight(value) for value in (1.234, -0.5, 0.001, -0.001)] == ["+1.23", "−0.50", "0.00", "0.00"]


def test_sentences_from_elsewhere_are_spaced_alike():
    assert spaced("from 5% to 10 % (95% CI)") == "from 5\u00a0% to 10\u00a0% (95\u00a0% CI)"
