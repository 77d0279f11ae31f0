"""How JSON is laid out for people who look at it or compare two runs line by line."""

import json

import pytest

from epivote import EM, Ballots, InputError, save_model
from said import said

PLAIN = "voter,instance,alternatives\nann,q1,a\nbo,q1,a|ü\nann,q2,ü\nbo,q2,\n"


@pytest.mark.parametrize(
    "command", [("aggregate", "--size", "1..2"), ("inspect",), ("explain", "q1", "--size", "1..2")]
)
def test_what_commands_print_has_one_blank_for_each_level(tmp_path, command):
    (tmp_path / "b.csv").write_text(PLAIN, encoding="utf-8")
    text = said(command[0], tmp_path / "b.csv", *command[1:], "--json")
    assert text == json.dumps(json.loads(text), indent=1) + "\n"


def test_a_model_has_one_blank_for_each_level_and_no_number_that_others_cannot_read(tmp_path):
    ballots = Ballots.from_mapping({("ann", "q1"): {"a"}, ("bo", "q1"): {"ü"}})
    save_model(EM(1).fit(ballots), tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=1)
    with pytest.raises((ValueError, InputError)):
        save_model(EM(1, tolerance=float("inf")).fit(ballots), tmp_path / "m.json")
    assert (tmp_path / "m.json").read_text(encoding="utf-8") == text
