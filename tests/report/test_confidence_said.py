"""What the page says about confidence: what it rests on, and what gold and halves of the voters showed."""

import html

import pytest

from epivote import EM, Auto, Calibrated, Majority, in_percent, simulate, summarize, write_report

BOUNDS = (1, 2)


@pytest.fixture(scope="module")
def crowd():
    return simulate(instances=60, voters=10, alternatives=4, bounds=BOUNDS, priors=0.3, shared_mistakes=0.6, seed=3)


def said(fitted, path):
    return html.unescape(write_report(fitted, path / "r.html").read_text()).replace("\u00a0%", "%")


def test_gold_and_what_it_did(crowd, tmp_path):
    gold = {name: crowd.gold[name] for name in list(crowd.gold)[:12]}
    fitted = Calibrated(EM(BOUNDS)).fit(crowd.ballots, gold=gold)
    page, summary = said(fitted, tmp_path), summarize(fitted)
    assert "What the confidence means</h2>" in page
    assert "<p>Confidence is calibrated with 12 gold sets.</p>" in page
    trial, effect = fitted.gold_trial_, summary.gold_effect
    assert effect.n_instances == 12
    assert effect.before.exact.mean == trial.right_before.mean()
    assert effect.after.exact.mean == trial.right_after.mean()
    assert (effect.before.confidence, effect.after.confidence) == (
        trial.confidence_before.mean(),
        trial.confidence_after.mean(),
    )
    assert f"<p>{str(effect).replace(' %', '%')}</p>" in page
    assert f"the mean confidence from {in_percent(trial.confidence_before.mean()).replace(' %', '%')} to" in page


def test_halves_of_the_voters(crowd, tmp_path):
    fitted = Auto(BOUNDS).fit(crowd.ballots)
    page = said(fitted, tmp_path)
    assert f"<p>{fitted.reproducibility_}</p>".replace(" %", "%") in page
    assert "Confidence was lowered, because" in page


def test_the_model_alone(crowd, tmp_path):
    page = said(EM(BOUNDS).fit(crowd.ballots), tmp_path)
    assert "Confidence is the probability under the model, and too high if voters make the same mistakes." in page
    calm = simulate(instances=40, voters=8, alternatives=4, bounds=BOUNDS, priors=0.3, seed=1)
    checked = summarize(Auto(BOUNDS).fit(calm.ballots))
    assert checked.about_confidence == (
        "Confidence is the probability under the model; two halves of the voters gave no reason to doubt it.",
        str(checked.reproducibility),
    )


def test_rules_that_count_say_nothing(crowd, tmp_path):
    fitted = Majority(BOUNDS).fit(crowd.ballots)
    assert "What the confidence means" not in said(fitted, tmp_path)
    assert summarize(fitted).about_confidence == ()
    assert summarize(fitted).gold_effect is None
