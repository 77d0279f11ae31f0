from epivote import Ballots, rank_participants


def test_points_first_then_fewer_ticks_then_shared_places():
    ballots = Ballots.from_mapping(
        {
            ("all", "y"): {"a", "b", "c"},
            ("all", "z"): {"a", "b", "c"},
            ("sure", "y"): {"a"},
            ("sure", "z"): {"b", "c"},
            ("half", "y"): {"a"},
            ("half", "z"): {"a"},
            ("late", "z"): {"b", "c"},
            ("same", "z"): {"c", "b"},
            ("same", "extra"): {"a", "b"},
        }
    )
    gold = {"y": {"a"}, "z": {"b", "c"}}
    places = [(place.rank, place.voter, place.points, place.ticks) for place in rank_participants(ballots, gold)]
    assert places == [
        (1, "sure", 2, 3),
        (2, "all", 2, 6),
        (3, "half", 1, 2),
        (3, "late", 1, 2),
        (3, "same", 1, 2),
    ]


def test_a_right_alternative_that_nobody_could_tick_counts_against_everybody():
    ballots = Ballots.from_mapping({("ann", "z"): {"a"}, ("bob", "z"): {"a", "b"}})
    places = [
        (place.rank, place.voter, place.points) for place in rank_participants(ballots, {"z": {"a", "elsewhere"}})
    ]
    assert places == [(1, "ann", 0), (2, "bob", 0)]
