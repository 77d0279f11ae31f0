import pytest

from epivote import Ballots, BoundsError, SizeBounds

BALLOTS = Ballots.from_mapping(
    {("v", "small"): {"a"}, ("v", "large"): {"b"}}, menu={"small": ["a", "b"], "large": ["a", "b", "c", "d"]}
)


@pytest.mark.parametrize(
    ("given", "lower", "upper"),
    [
        (2, 2, 2),
        ("2", 2, 2),
        ((1, 2), 1, 2),
        ("1..2", 1, 2),
        (" 1 .. 2 ", 1, 2),
        ((1, None), 1, None),
        ("1..", 1, None),
        (SizeBounds(0, 3), 0, 3),
    ],
)
def test_bounds_as_people_write_them(given, lower, upper):
    bounds = SizeBounds.of(given)
    assert (bounds.lower, bounds.upper) == (lower, upper)
    assert SizeBounds.parse(str(bounds)) == bounds


def test_bounds_meet_menus():
    assert [side.tolist() for side in SizeBounds(1, 3).resolve(BALLOTS)] == [[1, 1], [2, 3]]
    assert [side.tolist() for side in SizeBounds(0, None).resolve(BALLOTS)] == [[0, 0], [2, 4]]


def test_one_pair_per_instance():
    bounds = SizeBounds(1, 2, {"large": (2, None), "elsewhere": (9, 9)})
    assert [side.tolist() for side in bounds.resolve(BALLOTS)] == [[1, 2], [2, 4]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SizeBounds(3, 2), r"size bounds \(3, 2\) allow no set: the lower bound exceeds the upper one"),
        (lambda: SizeBounds(-1, 2), r"size bounds \(-1, 2\) must be whole numbers of at least 0"),
        (lambda: SizeBounds(0.5, 2), r"size bounds \(0.5, 2\) must be whole numbers"),
        (lambda: SizeBounds(0, 1, {"q": (2, 1)}), "size bounds of instance 'q' .* allow no set"),
        (lambda: SizeBounds.of("one"), "'one' is not a size; write 2, 1..2 or 1.. "),
        (lambda: SizeBounds.of([1, 2]), r"\[1, 2\] are not size bounds; give 2, \(1, 2\)"),
        (lambda: SizeBounds.of(True), "True are not size bounds"),
        (
            lambda: SizeBounds(3, None).resolve(BALLOTS),
            "instance 'small' offers 2 alternatives, so no set of at least 3 exists; lower the bound or correct the menu",
        ),
    ],
)
def test_impossible_bounds_are_refused(build, message):
    with pytest.raises(BoundsError, match=message):
        build()
