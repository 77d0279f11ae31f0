"""Every number and every word of an explanation, worked out again from the ballots."""

import json
import math
import textwrap
from dataclasses import asdict

import pytest

import oracles
from epivote import AMLE, EM, Ballots, MaximumLikelihood
from small import posterior_of, rates_of, small_election, with_known_rates

LOG = math.log


def check_explanation(election, fitted, instance, gold=()):
    ballots = election.as_ballots()
    told = fitted.explain(instance)
    p, q, t = rates_of(fitted)
    menu = election.menus[instance]
    cast = [v for v in ballots.voters if (v, instance) in election.ballots]
    chances = posterior_of(election, fitted, instance)
    accounts = {account.alternative: account for account in told.accounts}
    assert set(accounts) == set(menu)
    for name, account in accounts.items():
        ticked = [v for v in cast if name in election.ballots[v, instance]]
        assert sorted(account.ticked_by) == sorted(ticked)
        assert account.prior == pytest.approx(LOG(t[name] / (1 - t[name])))
        assert set(account.pushes) == set(cast)
        for voter, push in account.pushes.items():
            expected = LOG(p[voter] / q[voter]) if voter in ticked else LOG((1 - p[voter]) / (1 - q[voter]))
            assert push == pytest.approx(expected, abs=1e-9)
        assert account.margin == pytest.approx(account.prior + sum(account.pushes.values()), abs=1e-9)
        assert account.probability == pytest.approx(math.fsum(c for s, c in chances if name in s), abs=1e-9)
        assert account.chosen == (name in fitted.truth_[instance])
    margins = {name: account.margin for name, account in accounts.items()}
    order = sorted(menu, key=lambda name: (-round(margins[name], 9), menu.index(name)))
    assert [account.alternative for account in told.accounts] == order
    answer = set(fitted.truth_[instance])
    assert told.instance == instance
    assert told.answer == tuple(name for name in menu if name in answer)
    assert told.confidence == pytest.approx(math.fsum(c for s, c in chances if s == answer), abs=1e-9)
    assert told.threshold == pytest.approx(sum(LOG((1 - q[v]) / (1 - p[v])) for v in cast), abs=1e-9)
    assert told.size == election.bounds[instance]
    assert told.without_bounds == tuple(name for name in menu if margins[name] >= -1e-9)
    best = oracles.best_sets(instance, election.ballots, menu, p, q, t, *election.bounds[instance])
    assert told.settled == (answer in best)
    ranked = sorted((c for _, c in chances), reverse=True)[:5]
    assert [chance for _, chance in told.runners_up] == pytest.approx(ranked, abs=1e-9)
    for names, chance in told.runners_up:
        assert chance == pytest.approx(math.fsum(c for s, c in chances if s == set(names)), abs=1e-9)
        assert list(names) == [name for name in menu if name in names]
    assert told.gold == (instance in gold)
    return told


@pytest.mark.parametrize("seed", range(8))
def test_explanations_of_known_rates_hold_what_the_ballots_say(seed):
    election = small_election(seed)
    fitted = with_known_rates(election).fit(election.as_ballots())
    for instance in election.instances:
        check_explanation(election, fitted, instance)


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_explanations_of_learnt_rates_and_of_gold_hold_what_the_ballots_say(seed):
    election = small_election(seed, voters=3)
    first = election.instances[1]
    lower, _ = election.bounds[first]
    gold = {first: set(election.menus[first][-lower:]) if lower else set()}
    for kind in (AMLE, EM):
        fitted = kind(election.size_bounds, max_iterations=4).fit(election.as_ballots(), gold=gold)
        for instance in election.instances:
            told = check_explanation(election, fitted, instance, gold)
            if instance in gold:
                assert set(told.answer) == gold[instance]
                assert told.bound_effect.startswith("The set was given as gold; probabilities and margins are those")


def one_instance(ticks, bounds, menu="abcd"):
    """The explanation of one instance with voters of known rates; `ticks` are one text per voter."""
    ballots = {(f"v{i}", "z"): set(each) for i, each in enumerate(ticks, 1)}
    fitted = MaximumLikelihood(0.8, 0.2, 0.5, bounds).fit(Ballots.from_mapping(ballots, alternatives=list(menu)))
    return fitted.explain("z")


@pytest.mark.parametrize(
    ("ticks", "bounds", "effect"),
    [
        (["abc"], (0, 2), "The evidence is for {c}, but a set has at most 2 alternatives."),
        (["abcd"], (0, 2), "The evidence is for {c, d}, but a set has at most 2 alternatives."),
        (["abc"], (0, 0), "The evidence is for {a, b, c}, but a set has at most 0 alternatives."),
        ([""], (1, 3), "The evidence is against {a}, but a set has at least 1 alternative."),
        (["a"], (3, 4), "The evidence is against {b, c}, but a set has at least 3 alternatives."),
        (["ab"], (1, 2), "The size bounds changed nothing: the set holds every alternative with a margin above 0."),
        (["ab", "a"], (1, 1), "The evidence is for {b}, but a set has at most 1 alternative."),
    ],
)
def test_the_effect_of_bounds_is_said_with_the_bound_and_the_names(ticks, bounds, effect):
    told = one_instance(ticks, bounds)
    assert told.bound_effect == effect
    assert told.to_dict()["bound_effect"] == effect


def test_a_margin_of_zero_is_in_unless_the_bounds_say_otherwise():
    told = one_instance(["a", "b"], (0, 4), "abc")
    assert [account.margin for account in told.accounts][:2] == pytest.approx([0, 0], abs=1e-12)
    assert told.without_bounds == told.answer == ("a", "b")


@pytest.mark.parametrize(("below", "inside"), [(4e-10, True), (4e-9, False)])
def test_a_margin_counts_as_zero_within_rounding_only(below, inside):
    ballots = Ballots.from_mapping({("v", "z"): {"a"}}, alternatives=["a", "b"])
    told = MaximumLikelihood(0.5, 0.5, [0.5 - below / 4, 0.9]).fit(ballots).explain("z")
    assert told.without_bounds == (("a", "b") if inside else ("b",))


def test_equally_strong_alternatives_are_told_in_the_order_of_the_menu():
    menu = [f"a{j:02}" for j in range(60)]
    ballots = Ballots.from_mapping({("v", "z"): set(menu[::7])}, alternatives=menu)
    told = MaximumLikelihood(0.8, 0.2, 0.5, (0, 3)).fit(ballots).explain("z")
    assert [account.alternative for account in told.accounts] == [*menu[::7], *(a for a in menu if a not in menu[::7])]


def expected_page(told):
    """The page put together from the numbers, in another way."""
    signed = "{:+.2f}".format
    yield f"z: {{{', '.join(told.answer)}}}  (confidence {shown(told.confidence)})"
    yield told.bound_effect
    yield ""
    yield "Log-odds of each alternative; prior and pushes add up to the margin."
    same = sum(min(account.pushes[v] for account in told.accounts) for v in told.accounts[0].pushes)
    assert -told.threshold == pytest.approx(same), (
        "every voter left at least one alternative blank, and ticks speak for"
    )
    yield f"({signed(same)} of the pushes is the threshold, which is the same for every alternative.)"
    for account in told.accounts:
        mark = "in " if account.chosen else "out"
        chance = shown(account.probability)
        yield f"  {mark} {account.alternative}: margin {signed(account.margin)}, inclusion probability {chance}"
        parts = [f"= prior {signed(account.prior)}"]
        strongest = sorted(account.pushes, key=lambda voter: abs(account.pushes[voter]), reverse=True)
        for voter in strongest[:5]:
            sign, *number = signed(account.pushes[voter])
            blank = "" if voter in account.ticked_by else " (no tick)"
            parts += [f"{sign} {''.join(number)} {voter}{blank}"]
        others = [account.pushes[voter] for voter in strongest[5:]]
        if others:
            sign, *number = signed(sum(others))
            parts += [f"{sign} {''.join(number)} from {len(others)} other{'s' * (len(others) > 1)}"]
        glued = " ".join(part.replace(" ", "~") for part in parts)
        indent = {"initial_indent": " " * 6, "subsequent_indent": " " * 6}
        for line in textwrap.wrap(glued, 80, break_on_hyphens=False, break_long_words=False, **indent):
            yield line.replace("~", " ")
    yield from ("", "Most probable sets:")
    for names, chance in told.runners_up:
        yield f"  {shown(chance):>8}  {{{', '.join(names)}}}"


def shown(chance):
    """In per cent, none of them rounded to all or nothing."""
    if not 0.001 <= chance <= 0.999:
        return "> 99.9 %" if chance > 0.5 else "< 0.1 %"
    return f"{100 * chance:.0f} %" if 0.1 <= chance < 0.9 else f"{100 * chance:.1f} %"


@pytest.mark.parametrize("voters", [1, 4, 5, 6, 7, 9])
def test_the_page_says_the_numbers_line_by_line(voters):
    ticks = ["a", "b", "ac", "a", "b", "", "a", "c", "b"][:voters]
    ballots = {(f"v{i}", "z"): set(each) for i, each in enumerate(ticks)}
    hit_rates = [0.6, 0.9, 0.7, 0.8, 0.55, 0.75, 0.65, 0.5, 0.95][:voters]
    false_alarm_rates = [0.3, 0.2, 0.25, 0.1, 0.5, 0.35, 0.15, 0.4, 0.45][:voters]
    known = MaximumLikelihood(hit_rates, false_alarm_rates, [0.3, 0.4, 0.5, 0.6], (1, 2))
    told = known.fit(Ballots.from_mapping(ballots, alternatives=list("abcd"))).explain("z")
    assert told.to_text().splitlines() == list(expected_page(told))
    assert ("from 1 other" in told.to_text()) == (voters == 6)
    assert ("others" in told.to_text()) == (voters > 6)


@pytest.mark.parametrize(("width", "shown", "last"), [(8, 8, None), (9, 8, "1 alternative"), (12, 8, "4 alternatives")])
def test_a_page_shows_the_strongest_alternatives(width, shown, last):
    menu = [f"a{j:02}" for j in range(width)]
    ballots = Ballots.from_mapping({("v", "z"): {"a03"}}, alternatives=menu)
    told = MaximumLikelihood(0.8, 0.2).fit(ballots).explain("z")
    lines = told.to_text().splitlines()
    headed = [line.split()[1].rstrip(":") for line in lines if "inclusion probability" in line]
    assert headed == [each.alternative for each in told.accounts[:shown]]
    assert len(told.accounts) == width
    assert [line for line in lines if line.startswith("  and ")] == (
        [f"  and {last} with less evidence"] if last else []
    )


def test_all_alternatives_of_the_set_are_shown():
    menu = [f"a{j:02}" for j in range(12)]
    ballots = Ballots.from_mapping({("v", "z"): set(menu[:10])}, alternatives=menu)
    text = MaximumLikelihood(0.8, 0.2).fit(ballots).explain("z").to_text()
    assert text.count("inclusion probability") == text.count("  in  ") == 10
    assert "  and 2 alternatives with less evidence" in text


@pytest.mark.parametrize(("letters", "fits"), [(53, True), (54, False)])
def test_a_line_has_at_most_80_columns(letters, fits):
    voter = "v" * letters
    text = MaximumLikelihood(0.8, 0.3).fit(Ballots.from_mapping({(voter, "z"): {"a"}})).explain("z").to_text()
    assert f"      = prior +0.00{' ' if fits else chr(10) + 6 * ' '}+ 0.98 {voter}\n" in text


def test_pushes_of_nothing_are_written_with_a_plus():
    ballots = Ballots.from_mapping({(f"v{i}", "z"): {"a"} for i in range(7)}, alternatives=["a", "b"])
    text = MaximumLikelihood(0.5, 0.5).fit(ballots).explain("z").to_text()
    assert "prior +0.00 + 0.00 v0 + 0.00 v1 + 0.00 v2 + 0.00 v3 + 0.00 v4\n      + 0.00 from 2 others" in text


def test_all_of_an_explanation_is_ready_for_json():
    told = one_instance(["ab", "b"], (1, 2))
    again = json.loads(json.dumps(told.to_dict()))
    assert again == json.loads(json.dumps({**asdict(told), "bound_effect": told.bound_effect}))
    assert set(again) == {
        *("instance", "answer", "confidence", "threshold", "settled", "size", "without_bounds", "accounts"),
        *("runners_up", "gold", "group", "bound_effect"),
    }
