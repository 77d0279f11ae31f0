"""The JSON interface, in process."""

import pytest

from epivote.web.interface.api import DESCRIPTION
from in_process import joined, visitor
from one_moment import estimate_now, still_app
from small_quiz import QUIZ


@pytest.fixture
def app(tmp_path):
    with still_app(tmp_path, QUIZ.replace('name = "barn"', 'name = "a/b ü"\nalternatives = ["cat", "owl"]')) as made:
        yield made


@pytest.fixture
def program(app):
    return visitor(app, authorization=f"Bearer {app.state.site.secrets.interface}")


def test_it_describes_itself_to_everybody(app):
    described = visitor(app).get("/api/v1/openapi.json").json()
    assert described["servers"] == [{"url": "/api/v1"}]
    assert described["info"] == {"title": "epivote collect", "version": "1", "description": DESCRIPTION}
    put = described["paths"]["/voters/{voter}/ballots/{instance}"]["put"]
    examples = put["requestBody"]["content"]["application/json"]["schema"]["examples"]
    assert examples == [{"ticks": ["alternative-1"]}, {"ticks": []}]
    assert set(described["paths"]) == {
        "/task",
        "/instances",
        "/estimate",
        "/voters/{voter}",
        "/voters/{voter}/ballots",
        "/voters/{voter}/ballots/{instance}",
    }
    for methods in described["paths"].values():
        for operation in methods.values():
            assert operation["security"] == [{"HTTPBearer": []}]
            assert {"401", "422", "429"} <= set(operation["responses"])


def test_every_address_needs_the_key(app):
    for headers in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": "Basic eDp5"},
        {"authorization": "Bearer é".encode()},
    ):
        refused = visitor(app).get("/api/v1/task", headers=headers)
        assert refused.status_code == 401
        assert refused.json() == {"error": "the key is missing or wrong; send the header Authorization: Bearer KEY"}
        assert refused.headers["www-authenticate"] == "Bearer"


def test_the_task_and_its_instances(app, program):
    task = program.get("/api/v1/task").json()
    assert (task["title"], task["size"], task["instances"], task["open"]) == ("Which animals?", "1..2", 4, True)
    assert task["alternatives"][2] == {"name": "owl", "help": "", "picture": app.state.site.picture("dot.svg")}
    instances = program.get("/api/v1/instances").json()
    assert [each["alternatives"] for each in instances][:2] == [["cat", "dog", "owl"], ["cat", "owl"]]
    assert all(each["wanted"] for each in instances)
    assert "gold" not in str(instances)


def test_ballots_come_and_go(program):
    where = "/api/v1/voters/robot 1/ballots/a%2Fb%20%C3%BC"
    assert program.get(where).status_code == 404
    put = program.put(where, json={"ticks": ["owl", "cat", "owl"]})
    assert put.json() == {"voter": "robot 1", "instance": "a/b ü", "ticks": ["cat", "owl"]}
    assert program.put(where, json={"ticks": []}).json()["ticks"] == []
    assert program.get(where).json()["ticks"] == []
    assert program.get("/api/v1/voters/robot 1/ballots").json() == [program.get(where).json()]
    assert program.delete(where).status_code == 204
    assert program.delete(where).status_code == 404
    assert program.delete("/api/v1/voters/robot 1").status_code == 204
    assert program.get("/api/v1/voters/robot 1/ballots").status_code == 404


@pytest.mark.parametrize(
    ("address", "body", "status", "told"),
    [
        ("r/ballots/none", {"ticks": []}, 404, "there is no instance 'none'; GET /instances lists them"),
        ("r/ballots/yard", {"ticks": ["cow"]}, 422, "'cow' is not offered on 'yard'; tick from ['cat', 'dog', 'owl']"),
        ("r/ballots/yard", {"ticks": "cat"}, 422, "body.ticks: Input should be a valid list"),
        ("r/ballots/yard", {"tick": []}, 422, "body.ticks: Field required"),
        ("r/ballots/yard", {"ticks": [], "more": 1}, 422, "body.more: Extra inputs are not permitted"),
        ("%00/ballots/yard", {"ticks": []}, 422, "cannot be a name; use 1 to 40 printable characters"),
        (f"{'x' * 41}/ballots/yard", {"ticks": []}, 422, "at most 40 characters"),
    ],
)
def test_what_makes_no_sense(program, address, body, status, told):
    refused = program.put(f"/api/v1/voters/{address}", json=body)
    assert refused.status_code == status
    assert told in refused.json()["error"]


def test_bodies_that_are_no_json(program):
    for body in (b"{", b"\xff\xfe", b"[" * 50_000, b"", b'{"ticks": ["\\ud800"]}'):
        refused = program.put(
            "/api/v1/voters/r/ballots/yard", content=body, headers={"content-type": "application/json"}
        )
        assert refused.status_code in (400, 422)
        assert "error" in refused.json()
    assert program.put("/api/v1/voters/r/ballots/yard", content=b"x" * 70_000).status_code == 413


def test_addresses_that_are_not_there(program):
    assert program.post("/api/v1/task").headers["allow"] == "GET"
    assert program.post("/api/v1/voters/r/ballots/yard").headers["allow"] == "DELETE, GET, PUT"
    for address in ("/api/v1", "/api/v1/", "/api/v1/none", "/api/v1/task/", "/api/v1/voters/a%0Ab/ballots"):
        refused = program.get(address)
        assert (refused.status_code, refused.json()["error"]) == (404, "There is nothing at this address."), address


def test_no_program_acts_for_a_person(app, program):
    joined(app, "Ann")
    for method in ("put", "get", "delete"):
        body = {"json": {"ticks": []}} if method == "put" else {}
        refused = getattr(program, method)("/api/v1/voters/ann/ballots/yard", **body)
        assert refused.status_code == 409, method
        assert "is the name of a participant" in refused.json()["error"]
    assert program.delete("/api/v1/voters/ann").status_code == 409


def test_nothing_is_taken_once_closed(app, program):
    app.state.site.store.close_task()
    refused = program.put("/api/v1/voters/r/ballots/yard", json={"ticks": []})
    assert (refused.status_code, refused.json()["error"]) == (
        409,
        "the task is closed, so no ballots are accepted; ask its organiser",
    )
    assert not program.get("/api/v1/task").json()["open"]


def test_the_estimate(app, program):
    for name in ("a", "b", "c"):
        program.put(f"/api/v1/voters/{name}/ballots/yard", json={"ticks": ["owl"]})
    app.state.site.store.close_task()
    estimate_now(app)
    found = program.get("/api/v1/estimate").json()
    assert found["ballots"] == 3
    (one,) = found["sets"]
    assert (one["instance"], one["alternatives"], one["ballots"], found["method"]) == ("yard", ["owl"], 3, "em")


def test_a_hidden_size_stays_hidden(tmp_path):
    with still_app(tmp_path, f"show_size = false\n{QUIZ}") as app:
        program = visitor(app, authorization=f"Bearer {app.state.site.secrets.interface}")
        assert program.get("/api/v1/task").json()["size"] is None
