"""Everything at once: double clicks, two devices, leaving while answering; one ballot each, and no error."""

import csv
from concurrent.futures import ThreadPoolExecutor

import pytest

from asking import Visitor, organiser

AT_ONCE = 12


def together(*calls):
    """Run calls at the same time; what each returned."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result(60) for each in [pool.submit(call) for call in calls]]


def another_device(served, visitor):
    """The same participant with the same cookies on another connection."""
    other = Visitor(served)
    other.client.cookies.update(visitor.client.cookies)
    return other


def rows_of(served, voter):
    with organiser(served) as boss:
        told = csv.DictReader(boss.get("/organiser/export/ballots.csv").text.splitlines())
        return [(row["instance"], row["alternatives"]) for row in told if row["voter"] == voter]


def test_an_answer_clicked_many_times_is_one_ballot(served_on_both):
    with Visitor(served_on_both).joined("clicks") as visitor:
        fields = visitor.filled_in(1, [1])
        devices = [another_device(served_on_both, visitor) for _ in range(AT_ONCE)]
        sent = together(*(lambda device=device: device.post("/question/1", fields) for device in devices))
        assert {each.status_code for each in sent} == {303}
        assert {each.headers["location"] for each in sent} == {"/question/2"}
        assert [ticks for _, ticks in rows_of(served_on_both, "clicks")] == ["dog"]


def test_different_answers_at_once_leave_one_of_them(served_on_both):
    with Visitor(served_on_both).joined("undecided") as visitor:
        fields = [visitor.filled_in(1, [tick]) for tick in range(3)]
        devices = [another_device(served_on_both, visitor) for _ in range(AT_ONCE)]
        sent = together(
            *(lambda device=device, k=k: device.post("/question/1", fields[k % 3]) for k, device in enumerate(devices))
        )
        assert {each.status_code for each in sent} == {303}
        (kept,) = rows_of(served_on_both, "undecided")
        assert kept[1] in ("cat", "dog", "owl")


def test_joining_many_times_at_once_with_one_form_is_one_participant(served_on_both):
    with Visitor(served_on_both) as visitor:
        fields = {**visitor.page("/").form("/join").fields, "nickname": "impatient"}
        devices = [another_device(served_on_both, visitor) for _ in range(AT_ONCE)]
        sent = together(*(lambda device=device: device.post("/join", fields) for device in devices))
        assert {each.status_code for each in sent} == {303}
        again = devices[0].post("/join", fields)
        assert (again.status_code, again.headers["location"]) == (303, "/question")
        for device in devices:
            assert device.answer(1, [0]).status_code == 303
        assert len(rows_of(served_on_both, "impatient")) == 1


def test_one_name_goes_to_one_of_many(served_on_both):
    visitors = [Visitor(served_on_both) for _ in range(AT_ONCE)]
    forms = [visitor.page("/").form("/join").fields for visitor in visitors]
    sent = together(
        *(
            lambda visitor=visitor, form=form: visitor.post("/join", {**form, "nickname": "the one"})
            for visitor, form in zip(visitors, forms, strict=True)
        )
    )
    assert sorted(each.status_code for each in sent) == [303] + [409] * (AT_ONCE - 1)


@pytest.mark.parametrize("leaving", ["/forget", "/finish"])
def test_answering_while_leaving_is_answered_or_refused(served_on_both, leaving):
    with Visitor(served_on_both).joined(f"leaving {leaving}") as visitor:
        visitor.answer(1, [0])
        fields = [visitor.filled_in(position, [1]) for position in range(1, 5)]
        leave = visitor.page("/end").form("/finish").fields
        devices = [another_device(served_on_both, visitor) for _ in range(AT_ONCE)]
        calls = [
            lambda device=device, k=k: device.post(f"/question/{1 + k % 4}", fields[k % 4])
            for k, device in enumerate(devices)
        ]
        calls.insert(AT_ONCE // 2, lambda: visitor.post(leaving, leave))
        sent = together(*calls)
        assert {each.status_code for each in sent} <= {303, 403, 409}
        if leaving == "/forget":
            assert rows_of(served_on_both, f"leaving {leaving}") == []


def test_programs_that_vote_at_once_are_one_voter(served_on_both):
    headers = {"authorization": f"Bearer {served_on_both.key}"}
    programs = [Visitor(served_on_both) for _ in range(AT_ONCE)]
    sent = together(
        *(
            lambda program=program, name=name: program.client.put(
                f"/api/v1/voters/many at once/ballots/{name}", json={"ticks": ["cat"]}, headers=headers
            )
            for program, name in zip(programs, ["yard", "barn", "roof", "street"] * (AT_ONCE // 4), strict=True)
        )
    )
    assert {each.status_code for each in sent} <= {200, 201, 204}
    assert len(rows_of(served_on_both, "many at once")) == 4


def test_leaving_and_coming_back_with_the_same_name(served_on_both):
    for _ in range(3):
        with Visitor(served_on_both).joined("to and fro") as visitor:
            assert visitor.answer(1, [0]).status_code == 303
            assert visitor.post("/forget", visitor.page("/forget").form("/forget").fields).status_code == 303
    assert rows_of(served_on_both, "to and fro") == []
