"""Names, sets, bounds and the tables of an estimate."""

import numpy as np
import pytest

import epivote
from epivote import Ballots, BoundsError, InputError, Parameters, SizeBounds, Truths
from epivote.data import names as naming
from epivote.data.estimate import Estimate, Posterior, VoterCounts
from epivote.data.names import as_names, counts_of, listing, starts_of, suggestion


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6, 7])
def test_starts_are_added_up_in_pieces(monkeypatch, kind, count):
    monkeypatch.setattr(naming, "COUNTED_AT_ONCE", 3)
    lengths = np.arange(200, 200 + count).astype(kind)
    start = starts_of(lengths)
    assert start.dtype == np.int64
    assert start.tolist() == [sum(range(200, 200 + k)) for k in range(count + 1)]


def test_names_are_texts_that_differ():
    assert as_names(["a", 1, np.int64(2)], "voter") == ("a", "1", "2")
    assert as_names(iter("ab"), "voter") == ("a", "b")
    for names, message in (
        (["a", "", ""], "^voter number 2 has an empty name; give every voter a name$"),
        (["a", "b", "c", "b", "a"], "^voter 'b' is listed twice; list every voter once$"),
        ([1, "1"], "^voter '1' is listed twice"),
    ):
        with pytest.raises(InputError, match=message):
            as_names(names, "voter")


def test_only_a_close_name_is_suggested_and_the_closest():
    assert suggestion("robbin", ["wren", "robin", "robins"]) == " (did you mean 'robin'?)"
    assert suggestion("abcd", ["abcx"]) == " (did you mean 'abcx'?)"
    assert suggestion("abc", ["abx"]) == ""
    assert suggestion(12, [123]) == " (did you mean '123'?)"
    assert suggestion("owl", []) == ""


@pytest.mark.parametrize(
    ("count", "most", "said"),
    [
        (1, 3, "'a0'"),
        (3, 3, "'a0', 'a1', 'a2'"),
        (4, 3, "'a0', 'a1', 'a2' and 1 more"),
        (2003, 3, "'a0', 'a1', 'a2' and 2,000 more"),
        (8, None, ", ".join(f"'a{j}'" for j in range(8))),
        (9, None, ", ".join(f"'a{j}'" for j in range(8)) + " and 1 more"),
    ],
)
def test_lists_of_names_are_cut_short(count, most, said):
    names = [f"a{j}" for j in range(count)]
    assert (listing(names) if most is None else listing(names, most)) == said


# Truths


def test_truths_show_three_sets_and_count_the_rest():
    sets = {f"q{z}": {"b", "a"} if z % 2 else set() for z in range(5)}
    assert repr(Truths.from_mapping(sets)) == "Truths(q0: {}, q1: {a, b}, q2: {}, ... 2 more)"
    assert (
        repr(Truths.from_mapping({z: sets[z] for z in ("q1", "q2", "q3")})) == "Truths(q1: {a, b}, q2: {}, q3: {a, b})"
    )


def test_truths_keep_the_order_of_their_alternatives():
    truths = Truths.from_mapping({"y": ["a", "c", "a"], "z": ["b"], "x": []}, alternatives=["c", "b", "a", "d"])
    assert (truths.instances, truths.alternatives) == (("y", "z", "x"), ("c", "b", "a", "d"))
    assert truths.listed("y") == ["c", "a"]
    assert (truths.start.tolist(), truths.members.tolist()) == ([0, 2, 3, 3], [0, 2, 1])
    assert ("y" in truths, "nowhere" in truths, len(truths), list(truths)) == (True, False, 3, ["y", "z", "x"])
    assert truths["x"] == frozenset()
    assert Truths.from_mapping({"y": {"c", "a", "b"}}).alternatives == ("a", "b", "c")
    assert Truths.from_mapping({1: {2}})["1"] == {"2"}
    with pytest.raises(KeyError):
        truths["nowhere"]
    for column in (truths.start, truths.members):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


@pytest.mark.parametrize(
    ("sets", "alternatives", "message"),
    [
        ({"y": {"a"}, "z": "ab"}, None, r"the set of 'z' is the text 'ab'; write \{'ab'\}"),
        ({"y": set("xwvut")}, ["a"], "set of instance 'y': 't' is not an alternative; the alternatives are 'a'"),
        ({"": {"a"}}, None, "instance number 1 has an empty name"),
        ({"y": {"a"}}, ["a", "a"], "alternative 'a' is listed twice"),
    ],
)
def test_sets_that_make_no_sense_are_refused(sets, alternatives, message):
    with pytest.raises(InputError, match=message):
        Truths.from_mapping(sets, alternatives=alternatives)


# Bounds

MENUS = {"small": ["a", "b"], "large": ["a", "b", "c", "d"], "none": []}
BALLOTS = Ballots.from_mapping({("v", z): set() for z in MENUS}, menu=MENUS)


@pytest.mark.parametrize(
    ("bounds", "lower", "upper"),
    [
        (SizeBounds(0, 3), [0, 0, 0], [2, 3, 0]),
        (SizeBounds(), [0, 0, 0], [2, 4, 0]),
        (SizeBounds(0, 9), [0, 0, 0], [2, 4, 0]),
        (SizeBounds(0, 1, {"large": (4, 4)}), [0, 4, 0], [1, 4, 0]),
        (SizeBounds(0, 1, {"large": (1, 9), "small": (2, None)}), [2, 1, 0], [2, 4, 0]),
        (SizeBounds(0, 1, {"large": 3, "small": 0}), [0, 3, 0], [0, 3, 0]),
        (SizeBounds(1, 1, {"none": (0, 5)}), [1, 1, 0], [1, 1, 0]),
    ],
)
def test_bounds_meet_what_is_offered(bounds, lower, upper):
    found = bounds.resolve(BALLOTS)
    assert [side.tolist() for side in found] == [lower, upper]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (SizeBounds(1), "instance 'none' offers 0 alternatives, so no set of at least 1 exists"),
        (SizeBounds(0, 5, {"large": (5, 5)}), "instance 'large' offers 4 alternatives, so no set of at least 5 exists"),
        (SizeBounds(3), "instance 'small' offers 2 alternatives, so no set of at least 3 exists"),
        (SizeBounds(3, 5, {"none": 0}), "instance 'small' offers 2 alternatives, so no set of at least 3 exists"),
        (SizeBounds(0, 5, {"small": (7, 9)}), "instance 'small' offers 2 alternatives, so no set of at least 7 exists"),
    ],
)
def test_bounds_that_an_instance_cannot_meet_name_it(bounds, message):
    with pytest.raises(BoundsError, match=message):
        bounds.resolve(BALLOTS)


def test_a_lower_bound_may_be_all_that_is_offered_and_no_more():
    plain = Ballots.from_mapping({("v", "z"): {"a"}, ("v", "y"): {"b", "c"}})
    assert [side.tolist() for side in SizeBounds(3).resolve(plain)] == [[3, 3], [3, 3]]
    with pytest.raises(BoundsError, match="instance 'z' offers 3 alternatives, so no set of at least 4 exists"):
        SizeBounds(4).resolve(plain)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SizeBounds(True, 2), r"size bounds \(True, 2\) must be whole numbers of at least 0"),
        (lambda: SizeBounds(0, -1), r"size bounds \(0, -1\) must be whole numbers"),
        (lambda: SizeBounds(0, 1.0), r"size bounds \(0, 1.0\) must be whole numbers"),
        (lambda: SizeBounds(0, 1, {"q": (-1, 1)}), r"size bounds of instance 'q' \(-1, 1\) must be whole numbers"),
        (lambda: SizeBounds(0, 1, {"q": [1, 2]}), r"\[1, 2\] are not size bounds of instance 'q'; give 2"),
        (lambda: SizeBounds.of(-1), "-1 are not size bounds; give 2"),
        (lambda: SizeBounds.of(None), "None are not size bounds"),
        (
            lambda: SizeBounds.of((2, 1)),
            r"size bounds \(2, 1\) allow no set: the lower bound exceeds the upper one; swap",
        ),
        (lambda: SizeBounds.of("2..1"), r"size bounds \(2, 1\) allow no set"),
        (lambda: SizeBounds.of("..2"), r"'\.\.2' is not a size"),
        (lambda: SizeBounds.of("1.2"), "'1.2' is not a size"),
        (lambda: SizeBounds.of(""), "'' is not a size"),
        (lambda: SizeBounds.of("-1"), "'-1' is not a size"),
    ],
)
def test_bounds_that_no_set_meets_are_refused(build, message):
    with pytest.raises(BoundsError, match=message):
        build()


def test_bounds_in_words_and_from_numpy():
    assert [str(SizeBounds.of(each)) for each in (2, (1, 2), (1, None), "0..0", " 3.. ")] == [
        "2",
        "1..2",
        "1..",
        "0",
        "3..",
    ]
    assert SizeBounds.of(np.int64(2)) == SizeBounds(2, 2)
    assert SizeBounds.of((0, 0)).upper == 0
    given = SizeBounds(1, 2, {5: 1})
    assert SizeBounds.of(given) is given
    assert dict(given.per_instance) == {"5": (1, 1)}


# Estimates


def estimate(menu=None, **options):
    ballots = Ballots.from_mapping(
        {("ann", "y"): {"a"}, ("bo", "y"): {"b"}, ("ann", "z"): {"c"}}, alternatives=["a", "b", "c"], menu=menu
    )
    counts = VoterCounts(np.array([0.5, 0]), np.array([0.5, 0]), np.array([0.0, 0]), np.array([0.0, 0.5]))
    values = {
        "ballots": ballots,
        "bounds": SizeBounds(1, 2),
        "parameters": Parameters(np.array([0.8, 0.6]), np.array([0.2, 0.3]), np.array([0.1, 0.2, 0.3])),
        "counts": counts,
        "log_likelihoods": (-3.0, -2.0),
        "status": "converged",
        "gold": frozenset(),
        "compute_truths": lambda: Truths.from_mapping({"y": {"b", "a"}, "z": {"c"}}, alternatives=["c", "a", "b"]),
        **options,
    }
    return Estimate(**values)


def test_tables_of_an_estimate():
    plain = estimate()
    assert plain.truth_table() == {
        "instance": ["y", "z"],
        "alternatives": [["a", "b"], ["c"]],
        "confidence": [None, None],
    }
    table = plain.voter_table()
    assert table["voter"] == ["ann", "bo"]
    assert table["hit_rate"] == [0.8, None]
    assert table["false_alarm_rate"] == [None, 0.3]
    assert table["weight"] == pytest.approx(plain.parameters.weights.tolist())
    assert table["ballots"] == [2, 1]
    assert plain.alternative_table() == {"alternative": ["a", "b", "c"], "prior": [0.1, 0.2, 0.3]}
    assert plain.inclusion_table() == {"instance": [], "alternative": [], "probability": []}
    assert (plain.posterior, plain.ties) == (None, ())
    assert list(plain.parts()) == [plain]


@pytest.mark.parametrize("menu", [None, {"y": ["a", "b"], "z": ["a", "b", "c"]}])
def test_an_inclusion_table_has_a_row_per_offered_alternative(menu):
    offered = [("y", name) for name in ("a", "b") + (() if menu else ("c",))] + [("z", name) for name in "abc"]
    chances = np.arange(len(offered)) / 10
    found = estimate(menu, compute_posterior=lambda: Posterior(chances, np.array([0.5, 0.25])))
    table = found.inclusion_table()
    assert list(zip(table["instance"], table["alternative"], strict=True)) == offered
    assert table["probability"] == chances.tolist()
    assert found.truth_table()["confidence"] == [0.5, 0.25]


def test_iterations_and_status():
    found = estimate(settling_iterations=3, status="iteration limit", compute_ties=lambda: ("y",))
    assert (found.n_iterations, found.converged, found.ties) == (5, False, ("y",))
    assert (estimate().n_iterations, estimate().converged) == (2, True)
    whole = estimate(compute_part=lambda ballots: ballots.instances)
    assert list(whole.parts()) == [("y", "z")]
    assert list(whole.parts(np.array([1]))) == [("z",)]
    assert list(whole.parts(np.zeros(0, int))) == list(estimate().parts(np.zeros(0, int))) == []
    alone = estimate()
    assert list(alone.parts()) == [alone]


def test_every_name_of_the_package_is_there_and_no_other():
    for name in epivote.__all__:
        assert getattr(epivote, name) is not None
    with pytest.raises(AttributeError, match="module 'epivote' has no attribute 'read_minds'"):
        epivote.read_minds  # noqa: B018


def test_counts_are_the_same_however_many_are_counted_at_once(monkeypatch):
    groups, times = np.array([3, 0, 3, 1, 3, 0, 2], np.uint8), np.array([1, 2, 3, 4, 5, 6, 7])
    for at_once in (1, 2, 3, 7, 100):
        monkeypatch.setattr(naming, "COUNTED_AT_ONCE", at_once)
        assert counts_of(groups, None, 6).tolist() == [2, 1, 1, 3, 0, 0]
        assert counts_of(groups, times, 2).tolist() == [8, 4, 7, 9]
        assert counts_of(groups, times).dtype == np.int64
        assert counts_of(groups[:0], times[:0], 2).tolist() == [0, 0]
