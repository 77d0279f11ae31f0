"""A checkpoint is taken over by the very fit that wrote it, and refused by a fit that differs in anything."""

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    Ballots,
    FileError,
    MaximumLikelihood,
    Parameters,
    SizeBounds,
    open_packed,
    simulate,
    write_packed,
)
from epivote.estimate import checkpoint as module

CAST = {
    (voter, instance): {"a", "b"} if (number + place) % 3 else {"c"}
    for number, voter in enumerate(("u", "v", "w"))
    for place, instance in enumerate(("x", "y", "z"))
}
MENU = {"x": ("a", "b", "c"), "y": ("a", "b", "c"), "z": ("a", "b", "c", "d")}
GOLD = {"x": {"a"}}
HISTORY = {"u": (3, 4, 1, 5), "v": (2, 4, 1, 5)}
RATES = Parameters(np.array([0.8, 0.7, 0.6]), np.array([0.1, 0.2, 0.3]), np.full(4, 0.4))


def cast(changes=(), alternatives="abcd", **options):
    return Ballots.from_mapping({**CAST, **dict(changes)}, alternatives=list(alternatives), **options)


def renamed(voters="uvw", instances="xyz", alternatives="abcd"):
    """The same columns under other names."""
    known = cast()
    columns = (known.ballot_start, known.ballot_voter, known.approval_start, known.approved)
    return Ballots(tuple(voters), tuple(instances), tuple(alternatives), *columns)


def quick(**options):
    return EM(**{"bounds": (1, 2), "max_iterations": 2, **options})


def alternating(**options):
    return AMLE(**{"bounds": (1, 2), "max_iterations": 2, **options})


def fingerprints(*fits):
    return [module.fingerprint(estimator, ballots, gold, history) for estimator, ballots, gold, history in fits]


def refused(path, estimator, ballots, gold=None, history=None):
    with pytest.raises(FileError, match="was kept by a fit of other ballots or with other settings; remove it"):
        estimator.fit(ballots, gold, history, checkpoint=path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """What a fit with gold and a history left."""
    path = tmp_path_factory.mktemp("kept") / "fit.checkpoint"
    quick().fit(cast(), GOLD, HISTORY, checkpoint=path)
    return path


BALLOTS = {
    "a tick more": cast({("u", "x"): {"a", "b", "c"}}),
    "another tick": cast({("u", "x"): {"d"}}),
    "two ballots exchanged": cast({("u", "x"): CAST["v", "x"], ("v", "x"): CAST["u", "x"]}),
    "a ballot by somebody else": cast().select(voters=["u", "w"]),
    "an instance more": cast({("u", "zz"): {"a"}}),
    "an instance less": cast().select(instances=["x", "y"]),
    "an alternative more": cast(alternatives="abcde"),
    "alternatives in another order": cast(alternatives="bacd"),
    "voters by other names": renamed(voters=("u", "v", "W")),
    "instances by other names": renamed(instances=("x", "y", "Z")),
    "alternatives by other names": renamed(alternatives=("a", "b", "c", "D")),
    "menus": cast(menu=MENU),
    "other menus": cast(menu={**MENU, "y": ("a", "b", "c", "d")}),
    "menus of the same sizes": cast(menu={**MENU, "x": ("a", "b", "c", "d"), "z": ("a", "b", "c")}),
}


@pytest.mark.parametrize("where", ["memory", "packed"])
def test_other_ballots_are_never_taken_for_those_of_a_checkpoint(where, tmp_path):
    kinds = {"the same": cast(), **BALLOTS}
    if where == "packed":
        kinds = {name: write_packed([each], tmp_path / name) for name, each in kinds.items()}
    path = tmp_path / "fit.checkpoint"
    quick().fit(kinds["the same"], checkpoint=path)
    quick().fit(kinds.pop("the same"), checkpoint=path)
    for ballots in kinds.values():
        refused(path, quick(), ballots)
    assert len(set(fingerprints(*((quick(), each, None, None) for each in kinds.values())))) == len(kinds)


def test_packed_ballots_are_known_by_every_block_and_not_by_their_folder(tmp_path):
    crowd = simulate(instances=9, voters=4, alternatives=3, bounds=1, seed=1).ballots

    def packed(name, changed=None):
        parts = [crowd.select(instances=crowd.instances[begin : begin + 3]) for begin in (0, 3, 6)]
        if changed is not None:
            ballots = dict(parts[changed].items())
            first = next(iter(ballots))
            ballots[first] = frozenset(crowd.alternatives) - ballots[first]
            columns = Ballots.from_mapping(ballots, alternatives=crowd.alternatives)
            assert columns.voters == crowd.voters
            parts[changed] = columns
        return write_packed(parts, tmp_path / name)

    kept = tmp_path / "fit.checkpoint"
    quick(bounds=1).fit(packed("first"), checkpoint=kept)
    quick(bounds=1).fit(packed("again"), checkpoint=kept)
    (tmp_path / "first").rename(tmp_path / "moved")
    quick(bounds=1).fit(open_packed(tmp_path / "moved", kept_bytes=0), checkpoint=kept)
    for changed in range(3):
        with pytest.raises(FileError, match="other ballots"):
            quick(bounds=1).fit(packed(f"changed {changed}", changed), checkpoint=kept)
    with pytest.raises(FileError, match="other ballots"):
        quick(bounds=1).fit(write_packed([crowd], tmp_path / "in one block"), checkpoint=kept)


def test_a_damaged_block_is_named_when_a_checkpoint_is_asked_for(tmp_path):
    packed = write_packed([cast()], tmp_path / "packed")
    (packed.folder / "block-00000.npz").write_bytes(b"nothing of use")
    with pytest.raises(FileError, match=r"block-00000\.npz is damaged .*; pack the ballots again"):
        quick().fit(packed, checkpoint=tmp_path / "fit.checkpoint")


SETTINGS = [
    (quick(), quick(bounds=(1, 3))),
    (quick(), quick(shrinkage=0)),
    (quick(), quick(shrinkage=1)),
    (quick(), quick(priors="shared")),
    (quick(), quick(priors=0.5)),
    (quick(), quick(tolerance=1e-4)),
    (quick(), quick(max_iterations=3)),
    (quick(), quick(floor=1e-3)),
    (quick(), alternating()),
    (quick(bounds=SizeBounds(1, 2, {"x": 1})), quick(bounds=SizeBounds(1, 2))),
    (quick(bounds=SizeBounds(1, 2, {"x": 1})), quick(bounds=SizeBounds(1, 2, {"x": 2}))),
    (quick(bounds=SizeBounds(1, 2, {"x": 1})), quick(bounds=SizeBounds(1, 2, {"y": 1}))),
    (quick(priors=[0.1, 0.2, 0.3, 0.4]), quick(priors=[0.1, 0.2, 0.3, 0.4 + 1e-12])),
    (quick(priors=dict.fromkeys("abcd", 0.3)), quick(priors={**dict.fromkeys("abc", 0.3), "d": 0.4})),
    (alternating(), alternating(start="uniform")),
    (alternating(), alternating(prior_update="solved")),
    (alternating(), alternating(n_starts=2)),
    (alternating(), alternating(seed=1)),
    (alternating(start="random", seed=np.random.default_rng(0)), alternating(start="random")),
    (
        alternating(start="random", seed=np.random.default_rng(0)),
        alternating(start="random", seed=np.random.default_rng(1)),
    ),
    (
        alternating(start=RATES),
        alternating(start=Parameters(RATES.hit_rates, RATES.false_alarm_rates, RATES.priors + 1e-12)),
    ),
    (
        alternating(start=RATES),
        alternating(start=Parameters(RATES.false_alarm_rates, RATES.hit_rates, RATES.priors)),
    ),
]


@pytest.mark.parametrize(("one", "other"), SETTINGS, ids=lambda each: repr(each).replace("\n", "")[:70])
def test_every_setting_counts(one, other, kept):
    first, second = fingerprints((one, cast(), GOLD, HISTORY), (other, cast(), GOLD, HISTORY))
    assert first != second
    refused(kept, other, cast(), GOLD, HISTORY)


def test_the_fit_that_left_a_checkpoint_goes_on_from_it(kept):
    seen = []
    again = quick().fit(cast(), GOLD, HISTORY, checkpoint=kept, progress=lambda step, _: seen.append(step))
    assert seen == []
    assert again.parameters_ == quick().fit(cast(), GOLD, HISTORY).parameters_


@pytest.mark.parametrize(
    "gold",
    [None, {"x": {"b"}}, {"y": {"a"}}, {"x": {"a", "b"}}, {"x": {"a"}, "y": {"a"}}, {"x": {"a"}, "elsewhere": {"a"}}],
)
def test_gold_counts(gold, kept):
    refused(kept, quick(), cast(), gold, HISTORY)


def test_the_order_of_gold_does_not_count():
    kinds = [
        {"x": ["a", "b", "c"], "y": ["d"]},
        {"x": ["c", "a", "b"], "y": ["d"]},
        {"y": {"d"}, "x": {"a", "b", "c"}},
        {"x": ("b", "c", "a"), "y": frozenset("d")},
    ]
    assert len(set(fingerprints(*((quick(), cast(), gold, None) for gold in kinds)))) == 1


@pytest.mark.parametrize(
    "history",
    [
        None,
        {"u": (3, 4, 1, 5)},
        {"v": (3, 4, 1, 5), "u": (2, 4, 1, 5)},
        {"u": (1, 5, 3, 4), "v": (2, 4, 1, 5)},
        {"u": (3, 5, 1, 4), "v": (2, 4, 1, 5)},
        {"u": (3.0000001, 4, 1, 5), "v": (2, 4, 1, 5)},
        {"u": (3, 4, 1, 5), "v": (2, 4, 1, 5), "w": (0, 0, 0, 0)},
    ],
)
def test_histories_count_with_every_number_in_its_place(history, kept):
    refused(kept, quick(), cast(), GOLD, history)


@pytest.mark.parametrize(
    "pair",
    [
        (renamed(voters=("u', 'v", "w", "x")), renamed(voters=("u", "v', 'w", "x"))),
        (renamed(voters=('u","v', "w", "x")), renamed(voters=("u", 'v","w', "x"))),
        (renamed(instances=("x\n", "y", "z")), renamed(instances=("x", "\ny", "z"))),
        (renamed(alternatives=("ab", "c", "d", "e")), renamed(alternatives=("a", "bc", "d", "e"))),
        (renamed(voters=("\ud800", "v", "w")), renamed(voters=("\\ud800", "v", "w"))),
    ],
)
def test_names_cannot_pass_for_each_other_whatever_they_are_made_of(pair):
    one, other = fingerprints(*((quick(), ballots, None, None) for ballots in pair))
    assert one != other


def test_gold_and_histories_cannot_pass_for_each_other_whatever_the_names():
    kinds = [
        {"x": {"a, b"}},
        {"x": {"a", "b"}},
        {"x": {"a', 'b"}},
        {"x', ['a": {"b"}},
        {"x": {'a", "b'}},
        {"x": set()},
        {},
    ]
    found = fingerprints(*((quick(), cast(), gold, None) for gold in kinds))
    assert len(set(found)) == len(kinds)
    both = fingerprints((quick(), cast(), {"u": ["3"]}, None), (quick(), cast(), None, {"u": ["3"]}))
    assert both[0] != both[1]


def test_long_arrays_in_settings_are_not_cut_short():
    priors = np.linspace(0.1, 0.9, 3000)
    changed = priors.copy()
    changed[1500] += 1e-9
    assert repr(priors) == repr(changed)
    one, other = fingerprints(*((quick(priors=each), cast(), None, None) for each in (priors, changed)))
    assert one != other


def test_order_of_mappings_and_types_of_numbers_do_not_matter():
    first = cast(menu=MENU)
    columns = [getattr(first, name) for name in ("ballot_start", "ballot_voter", "approval_start", "approved")]
    wide, narrow = (
        Ballots(
            first.voters,
            first.instances,
            first.alternatives,
            *(column.astype(kind) for column in columns),
            type(first.menu)(first.menu.start.astype(kind), first.menu.offered.astype(kind)),
        )
        for kind in (np.int64, np.uint8)
    )
    bounds = [
        SizeBounds(1, np.int64(2), {"x": (1, 2), "y": (1, np.int32(1))}),
        SizeBounds(1, 2, {"y": (1, 1), "x": (1, 2)}),
    ]
    priors = [
        dict(zip("abcd", (0.1, 0.2, 0.3, 0.4), strict=True)),
        dict(zip("dcba", (0.4, 0.3, 0.2, 0.1), strict=True)),
    ]
    gold = [{"x": ["b", "a"], "z": ("a",)}, {"z": {"a"}, "x": {"a", "b"}}]
    history = [HISTORY, dict(reversed(HISTORY.items()))]
    fits = [
        (quick(bounds=each, priors=rates), ballots, sets, records)
        for each, rates, ballots, sets, records in zip(bounds, priors, (wide, narrow), gold, history, strict=True)
    ]
    one, other = fingerprints(*fits)
    assert one == other


def test_generators_in_the_same_state_go_on_from_each_other(tmp_path):
    for _ in range(2):
        alternating(start="random", seed=np.random.default_rng(7)).fit(cast(), checkpoint=tmp_path / "fit")
    refused(tmp_path / "fit", alternating(start="random", seed=np.random.default_rng(8)), cast())


@pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 20])
def test_every_part_of_long_columns_counts(chunk, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", chunk)
    crowd = simulate(instances=5, voters=3, alternatives=4, bounds=(1, 3), seed=3).ballots
    whole = fingerprints((quick(), crowd, None, None))
    assert whole == fingerprints((quick(), Ballots.from_mapping(dict(crowd.items())), None, None))
    for key, ticks in crowd.items():
        for name in crowd.alternatives:
            changed = {**dict(crowd.items()), key: ticks ^ {name}}
            other = Ballots.from_mapping(changed, alternatives=crowd.alternatives)
            assert fingerprints((quick(), other, None, None)) != whole


def test_rules_that_keep_no_state_take_any_file_name(tmp_path):
    MaximumLikelihood(0.8, 0.2, 0.5, (1, 2)).fit(cast(), checkpoint=tmp_path / "none")
    assert not (tmp_path / "none").exists()
