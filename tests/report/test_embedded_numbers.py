"""The numbers inside the page, and the limits up to which it holds and names things."""

from types import SimpleNamespace

import numpy as np
import pytest

from epivote import (
    EM,
    Ballots,
    InputError,
    Majority,
    MaximumLikelihood,
    SizeBounds,
    reference_crowd,
    simulate,
    summarize,
    write_report,
)
from epivote.report import axes, embedded
from epivote.report.anonymous import without_folders, without_voter_names
from epivote.report.numbers import size_counts, top_pairs, voters_of
from reading import Page, numbers, sets_of

LARGEST = {"u1": 255, "u2": 65_535, "u4": 4_294_967_295}


@pytest.mark.parametrize(("kind", "largest"), LARGEST.items())
def test_columns_take_the_smallest_kind_that_holds_them(kind, largest):
    values = np.array([0, largest])
    assert embedded.column(values)[0] == kind
    assert numbers(embedded.column(values)).tolist() == [0, largest]
    if kind != "u4":
        wider = embedded.column(values + 1)
        assert wider[0] > kind
        assert numbers(wider).tolist() == [1, largest + 1]


def test_columns_of_fractions_are_written_in_full_unless_told():
    values = np.array([0.1, 1 / 3])
    assert numbers(embedded.column(values)).tolist() == values.tolist()
    assert embedded.column(values, "f4")[0] == "f4"
    assert embedded.column(np.zeros(0, int)) == ["u1", ""]


def test_a_set_is_kept_once():
    sets = embedded.SetTable()
    start, members = np.array([0, 2, 2, 4, 5]), np.array([0, 3, 0, 3, 7])
    assert sets.numbers(start, members).tolist() == [1, 2, 1, 3]
    told = sets.columns()
    assert numbers(told["sizes"]).tolist() == [0, 2, 0, 1]
    assert numbers(told["members"]).tolist() == [0, 3, 7]


@pytest.mark.parametrize("cells", [1, 40, 65, 4_000_000])
def test_best_sets_do_not_depend_on_the_blocks_they_are_found_in(cells, tmp_path, monkeypatch):
    crowd = simulate(instances=7, voters=4, alternatives=5, bounds=(1, 2), seed=1)
    names = crowd.ballots.instances
    menu = {z: crowd.ballots.alternatives[: 3 + k % 3] for k, z in enumerate(names)}
    cast = {(v, z): set(ticks) & set(menu[z]) for (v, z), ticks in crowd.ballots.items()}
    ballots = Ballots.from_mapping(cast, menu=menu, alternatives=crowd.ballots.alternatives)
    fitted = MaximumLikelihood(0.8, 0.1, 0.3, bounds=SizeBounds(1, 2, {names[0]: (1, 1), names[1]: (0, 0)}))
    fitted.fit(ballots)
    monkeypatch.setattr(embedded, "CELLS_PER_BLOCK", cells)
    data = Page(write_report(fitted, tmp_path / "r.html")).data
    known, items = sets_of(data), data["instances"]
    top, chances = numbers(items["top"]).reshape(-1, 4), numbers(items["chances"]).reshape(-1, 4)
    for z, name in enumerate(names):
        best = fitted.best_sets(name, 4)
        assert [frozenset(known[number]) for number in top[z][: len(best)]] == [found for found, _ in best]
        assert not top[z][len(best) :].any()
        assert chances[z].tolist() == pytest.approx([*(chance for _, chance in best), 0, 0, 0][:4], abs=1e-6)
        assert known[numbers(items["menu"])[z]] == list(menu[name])
    assert numbers(data["alternatives"]["offered"]).tolist() == [
        sum(name in offered for offered in menu.values()) for name in ballots.alternatives
    ]


@pytest.mark.parametrize("count", [49_999, 50_000, 50_001, 50_003])
@pytest.mark.parametrize("rated", [True, False])
def test_fifty_thousand_items_are_kept(count, rated):
    shown = shown_of(count, np.linspace(0, 1, count) if rated else None)
    assert len(shown.places) == min(count, 50_000)
    assert (np.diff(shown.places) > 0).all()
    if count <= 50_000:
        assert shown.n_doubtful == 0
    elif rated:
        assert shown.n_doubtful == 45_000
        assert shown.places[:45_000].tolist() == list(range(45_000)), "the most doubtful"
    else:
        assert shown.n_doubtful == 0


def shown_of(n_instances, confidence, n_ballots=0):
    ballots = SimpleNamespace(n_instances=n_instances, n_ballots=n_ballots or n_instances)
    doubtful = 0 if confidence is None else int(np.sum(confidence < 0.95))
    return embedded.instances_shown(
        SimpleNamespace(
            estimate=SimpleNamespace(ballots=ballots),
            is_rated=confidence is not None,
            confidence=confidence,
            n_doubtful=doubtful,
        )
    )


def test_a_sample_stands_beside_the_doubtful_and_is_drawn_from_all_others():
    sure = np.ones(1_000_000)
    doubtful = np.arange(0, 1_000_000, 100)
    sure[doubtful] = 0.5
    shown = shown_of(1_000_000, sure)
    assert shown.n_doubtful == 10_000
    assert np.isin(doubtful, shown.places).all()
    drawn = np.setdiff1d(shown.places, doubtful)
    assert len(drawn) == 40_000
    quarters = np.bincount(drawn // 250_000)
    assert quarters == pytest.approx([10_000] * 4, abs=500), "five standard errors"
    assert shown_of(1_000_000, sure).places.tolist() == shown.places.tolist(), "drawn with a seed"


def test_a_page_holds_no_more_than_five_million_ballots():
    assert len(shown_of(1000, np.ones(1000), 5_000_000).places) == 1000
    assert len(shown_of(1000, np.ones(1000), 10_000_000).places) == 500
    assert len(shown_of(3, None, 50_000_000).places) == 1


@pytest.mark.parametrize(
    ("count", "last", "words"),
    [
        (2000, "a1999", "a0 left out and a1999 approved instead: 1 ballot"),
        (2000, "a0", "No ballot left out an alternative of the set and approved another one instead."),
        (2001, "a1999", "There are too many alternatives to compare each with each."),
    ],
)
def test_more_than_two_thousand_alternatives_are_not_compared(count, last, words, tmp_path):
    names = [f"a{j}" for j in range(count)]
    cast = {("u", "z"): {"a0"}, ("v", "z"): {"a0"}, ("w", "z"): {last}}
    fitted = Majority(1).fit(Ballots.from_mapping(cast, alternatives=names))
    section = Page(write_report(fitted, tmp_path / "r.html")).section("alternatives")
    assert section.text().endswith(words)


def test_one_alternative_has_no_heat_map(tmp_path):
    ballots = Ballots.from_mapping({("v", "z"): {"a"}}, alternatives=["a"])
    section = Page(write_report(Majority(1).fit(ballots), tmp_path / "r.html")).section("alternatives")
    assert section.all("svg") == []
    assert "No ballot left out an alternative of the set and approved another one instead." in section.text()


def test_pairs_without_a_ballot_are_no_confusions():
    confused = np.array([[0, 2, 0], [5, 0, 2], [0, 0, 0]])
    assert top_pairs(confused, 12) == [(1, 0, 5), (0, 1, 2), (1, 2, 2)]
    assert top_pairs(confused, 2) == [(1, 0, 5), (0, 1, 2)]


@pytest.mark.parametrize(("ticks", "members"), [(3, 1), (1, 3), (16, 1), (17, 1), (1, 17), (0, 0)])
def test_sizes_are_counted_up_to_sixteen(ticks, members):
    stand_in = SimpleNamespace(
        ballot_sizes=np.bincount([ticks, 0, 0], minlength=31), set_sizes=np.bincount([members], minlength=31)
    )
    found = size_counts(stand_in)
    last = min(max(ticks, members), 16)
    assert found.open_end == (max(ticks, members) > 16)
    assert len(found.ballots) == len(found.answers) == last + 1
    assert found.ballots.tolist()[min(ticks, last)] == (3 if ticks == 0 else 1)
    assert found.answers.tolist()[min(members, last)] == 1


def test_rates_of_which_nothing_was_seen_are_not_shown():
    """Where every alternative is right nothing is known of false alarms, and where none is, of hits."""
    ballots = Ballots.from_mapping({("ann", "all"): {"x"}, ("bo", "none"): {"w"}}, alternatives=["x", "w"])
    bounds = SizeBounds(0, 2, {"all": (2, 2), "none": (0, 0)})
    found = voters_of(summarize(MaximumLikelihood(0.7, 0.2, 0.5, bounds=bounds).fit(ballots)))
    ann, bo = (0, 1) if found.names == ("ann", "bo") else (1, 0)
    assert found.hit_rates[ann] == 0.7
    assert found.false_alarm_rates[bo] == 0.2
    for column, known in (
        (found.hit_rates, ann),
        (found.hit_low, ann),
        (found.hit_high, ann),
        (found.false_alarm_rates, bo),
        (found.false_alarm_low, bo),
        (found.false_alarm_high, bo),
    ):
        assert np.isnan(column).tolist() == [k != known for k in (0, 1)]
    assert not np.isnan([found.weight_low, found.weight_high]).any()


def test_settings_are_cut_after_600_letters(tmp_path):
    ballots = Ballots.from_mapping({("v", "z"): {"a"}})
    told = {"fits": "x" * 600, "does not": "y" * 601, "number": 7}
    shown = Page(write_report(Majority(1).fit(ballots), tmp_path / "r.html", settings=told)).settings()
    assert (shown["fits"], shown["does not"], shown["number"]) == ("x" * 600, "y" * 600 + " … (cut)", "7")


# Without names


def test_voters_are_renamed_by_weight_then_by_ballots():
    rates = {"ann": 0.6, "bo": 0.95, "cy": 0.02, "di": 0.6, "ed": 0.6}
    answered = {"ann": 2, "bo": 1, "cy": 1, "di": 3, "ed": 1}
    cast = {(name, f"z{k}"): {"a", name} for name, count in answered.items() for k in range(count)}
    fitted = MaximumLikelihood(rates, 0.1, 0.5, bounds=(1, 2)).fit(Ballots.from_mapping(cast))
    hidden = without_voter_names(fitted.estimate_)
    assert hidden.ballots.voters == tuple(f"voter {k}" for k in range(1, 6))
    assert hidden.parameters.hit_rates.tolist() == [0.95, 0.6, 0.6, 0.6, 0.02]
    assert hidden.ballots.ballots_per_voter.tolist() == [1, 3, 2, 1, 1]
    order = ["bo", "di", "ann", "ed", "cy"]
    number = {name: f"voter {k}" for k, name in enumerate(order, 1)}
    assert {(number[v], z): set(t) for (v, z), t in cast.items()} == {key: set(t) for key, t in hidden.ballots.items()}
    for before, after in zip(fitted.estimate_.counts, hidden.counts, strict=True):
        index = fitted.estimate_.ballots.voter_index
        assert after.tolist() == [before[index[name]] for name in order]


def test_anonymous_settings_name_the_method_only(tmp_path):
    ballots = Ballots.from_mapping({("ann", "z"): {"a"}, ("bo", "z"): {"b"}})
    fitted = MaximumLikelihood({"ann": 0.9, "bo": 0.6}, 0.1, 0.5, bounds=1).fit(ballots)
    told = {"File": "/home/ann/votes.csv"}
    hidden = Page(write_report(fitted, tmp_path / "r.html", settings=told, anonymize=True))
    assert (hidden.settings()["Estimator"], hidden.settings()["File"]) == ("MaximumLikelihood", "votes.csv")
    shown = Page(write_report(fitted, tmp_path / "r.html", settings=told))
    assert (shown.settings()["Estimator"], shown.settings()["File"]) == (repr(fitted), "/home/ann/votes.csv")
    assert shown.section("voters").all("circle")[0]["aria-label"].startswith(("ann:", "bo:"))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("/a/b.csv", "b.csv"),
        ("a\\b\\c.csv", "c.csv"),
        ('"/a b/c d.csv" x', "c d.csv x"),
        ("--out=/a/b,c/d;e/f", "--out=b,d;f"),
        ("'it' is", "'it' is"),
        ("'/a/b' and '/c/d'", "b and d"),
        ("a/ b", " b"),
    ],
)
def test_paths_are_cut_to_names(text, cut):
    assert without_folders(text) == cut


# A machine without what pictures need


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pictures need matplotlib; install it with: pip install 'epivote\[plots\]'"):
        axes.check_picture(tmp_path / "x.png")


def test_many_voters_are_drawn_by_ballots(tmp_path, monkeypatch):
    monkeypatch.setattr("epivote.report.voter_map.MOST_POINTS", 5)
    crowd = reference_crowd(30, 8, 4, 2)
    page = Page(write_report(EM((1, 2)).fit(crowd.ballots), tmp_path / "r.html"))
    cast = crowd.ballots.ballots_per_voter
    assert [int(dot["data-voter"]) for dot in page.section("voters").all("circle")] == sorted(
        range(8), key=lambda i: -cast[i]
    )[:5]
    assert "Drawn are 5 of 8 voters, those with most ballots." in page.section("voters").text()
