"""Flags are sentences that carry their kind and numbers, and stay so through copies, pickles and JSON."""

import copy
import json
import pickle
from dataclasses import asdict

import pytest

from epivote import Flag, FlagKind, VoterReport

NOTHING = {"right_seen": None, "other": None, "identical": None, "common": None}
NOTHING |= {"others": None, "same": None, "expected": None}
SENTENCES = [
    (FlagKind.TICKS_EVERYTHING, {}, "ticks everything"),
    (FlagKind.TICKS_NOTHING, {}, "ticks nothing"),
    (FlagKind.TOO_FEW_BALLOTS, {"right_seen": 8.6}, "too few ballots to say (9 right alternatives seen)"),
    (FlagKind.WORSE_THAN_CHANCE, {}, "worse than chance: an approval counts against the alternative"),
    (FlagKind.GUESSING, {}, "may be guessing"),
    (
        FlagKind.NEAR_COPY,
        {"other": "{bo}", "identical": 19, "common": 20},
        "near-copy of {bo} (19 of 20 common ballots are identical)",
    ),
    (
        FlagKind.SAME_MISTAKES,
        {"other": "bo", "others": ("bo", "cy", "di", "ed", "fy"), "same": 13.7, "expected": 3.2},
        "makes the same mistakes as bo, cy, di and 2 more (14 in common with bo, 3 expected by chance)",
    ),
]


def test_every_kind_has_its_sentence():
    assert {kind for kind, _, _ in SENTENCES} == set(FlagKind)


@pytest.mark.parametrize(("kind", "carried", "sentence"), SENTENCES, ids=lambda value: getattr(value, "name", ""))
def test_a_flag_is_its_sentence_and_knows_what_it_is_about(kind, carried, sentence):
    flag = Flag(kind, **carried)
    report = VoterReport("ann", 1, 0.5, (0.4, 0.6), 0.5, (0.4, 0.6), 0.0, (-1.0, 1.0), (flag,))
    in_a_record = asdict(report)["flags"][0]
    for each in (flag, copy.copy(flag), copy.deepcopy(flag), pickle.loads(pickle.dumps(flag)), in_a_record):
        assert each == str(each) == f"{each}" == sentence
        assert vars(each) == {**NOTHING, **carried, "kind": kind}
        assert each.kind is kind
    assert json.dumps(asdict(report)["flags"]) == json.dumps([sentence])


def test_a_flag_does_not_change():
    flag = Flag(FlagKind.GUESSING)
    with pytest.raises(AttributeError, match="a flag cannot be changed; kind stays"):
        flag.kind = FlagKind.TICKS_NOTHING
    assert flag.kind is FlagKind.GUESSING
