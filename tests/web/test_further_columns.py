"""What participants bring from other sites and take back: every column, code and link, for every kind of task."""

from dataclasses import replace
from itertools import product
from time import perf_counter

import pytest
from test_live_values import crowd_rows, small_task

from epivote.web.estimation.estimate import live
from epivote.web.estimation.gathered import gather
from epivote.web.security.signing import Signer
from epivote.web.store import Store, open_database
from epivote.web.store.details import Details
from epivote.web.views.completion import completion_code, further_columns

SIGNER = Signer("key")
MOMENT = 1_800_000_000_000_000


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two people, one of whom another site has sent, one without details, and a program."""
    opened = Store(open_database(f"sqlite:///{tmp_path_factory.mktemp('quiz') / 'quiz.db'}"))
    opened.join("ann", "", Details(MOMENT, "P1"))
    opened.join("bo", "", Details(None, "P2"))
    opened.join("cy", "")
    opened.answer_as_program("robot", "q0", ["owl"])
    yield opened
    opened.database.close()


@pytest.mark.parametrize(
    ("consent", "parameter", "code"), [*product(["", "I agree."], ["", "PID"], ["", "DONE", "unique"])]
)
def test_columns_are_there_for_what_a_task_asks_and_gives(store, consent, parameter, code):
    task = replace(small_task(), consent=consent, participant_parameter=parameter, completion_code=code)
    tokens = {name: store.join(name, "").token for name in ("ann", "bo", "cy")}
    own = {name: SIGNER.token("completion", token)[:10].upper() for name, token in tokens.items()}
    expected = {}
    if consent:
        expected["consented"] = {"ann": "2027-01-15T08:00:00+00:00"}
    if parameter:
        expected["PID"] = {"ann": "P1", "bo": "P2", "cy": ""}
    if code:
        expected["completion_code"] = own if code == "unique" else dict.fromkeys(tokens, "DONE")
    found = further_columns(task, store.database, SIGNER)
    assert found == expected
    assert list(found) == list(expected)


def test_codes_of_ones_own_are_ten_digits_that_differ():
    task = replace(small_task(), completion_code="unique")
    codes = {completion_code(task, SIGNER, f"token {number}") for number in range(50)}
    assert len(codes) == 50
    assert all(len(code) == 10 and set(code) <= set("0123456789ABCDEF") for code in codes)
    assert completion_code(replace(task, completion_code="unique2"), SIGNER, "token") == "unique2"


def test_an_estimate_tells_how_long_it_took():
    began = perf_counter()
    found = live((1, 1), gather(crowd_rows(3)), small_task(), is_over=False)
    assert 0 < found.seconds < perf_counter() - began
