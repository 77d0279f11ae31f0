"""The JSON interface answer by answer, and what it says of itself."""

import pytest
from sqlalchemy.exc import OperationalError

from epivote.web.security.limits import Limits, Rate
from epivote.web.site import Settings
from in_process import visitor
from one_moment import estimate_now, program, still_app
from small_quiz import QUIZ

FULL = QUIZ.replace(
    'name = "barn"',
    'name = "barn"\nalternatives = ["owl", "cat"]\nsize = "2"\nlink = "https://example.org/?a"\naudio = "a b.ogg"',
).replace('name = "roof"', 'name = "roof"\ngold = ["owl"]')


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiz")
    (folder / "a b.ogg").write_bytes(b"OggS")
    with still_app(folder, f"most_ballots = 2\n{FULL}") as made:
        yield made


@pytest.fixture
def robot(app):
    return program(app)


def test_the_task_is_told_whole(app, robot):
    assert robot.get("/api/v1/task").json() == {
        "title": "Which animals?",
        "instructions": "Tick what you hear.",
        "alternatives": [
            {"name": "cat", "help": "", "picture": None},
            {"name": "dog", "help": "It barks.", "picture": None},
            {"name": "owl", "help": "", "picture": app.state.site.picture("dot.svg")},
        ],
        "size": "1..2",
        "instances": 4,
        "open": True,
    }


def test_instances_are_told_whole_and_whether_more_ballots_are_wanted(app, robot):
    def instance(name, text="", wanted=True, picture=None, picture_text="", **other):
        usual = {"audio": None, "video": None, "link": None, "alternatives": ["cat", "dog", "owl"], "wanted": wanted}
        return {"name": name, "text": text, "picture": picture, "picture_text": picture_text, **usual, **other}

    for number in range(2):
        for name in ("barn", "roof"):
            robot.put(f"/api/v1/voters/wanted {number}/ballots/{name}", json={"ticks": ["owl"]})
        assert [each["wanted"] for each in robot.get("/api/v1/instances").json()] == [
            True,
            number == 0,
            number == 0,
            True,
        ]
    barn = {
        "audio": app.state.site.picture("a b.ogg"),
        "link": "https://example.org/?a",
        "alternatives": ["cat", "owl"],
    }
    assert robot.get("/api/v1/instances").json() == [
        instance("yard", picture=app.state.site.picture("dot.svg"), picture_text="A yard."),
        instance("barn", "What is in the barn?", wanted=False, **barn),
        instance(
            "roof",
            "What is on the roof?",
            wanted=False,
            picture=app.state.site.picture("dot.svg"),
            picture_text="A roof.",
        ),
        instance("street", "Who crosses the street?"),
    ]
    for number in range(2):
        assert robot.delete(f"/api/v1/voters/wanted {number}").status_code == 204
    assert app.state.site.store.snapshot()[1] == []


def test_a_ballot_is_kept_in_the_order_of_the_menu_and_listed_by_instance(robot):
    for name in ("yard", "barn", "street"):
        put = robot.put(f"/api/v1/voters/ listed  one /ballots/{name}", json={"ticks": ["owl", "cat"]})
        assert put.json() == {"voter": "listed one", "instance": name, "ticks": ["cat", "owl"]}
    robot.put("/api/v1/voters/another/ballots/roof", json={"ticks": []})
    assert robot.get("/api/v1/voters/Listed One/ballots").json() == [
        {"voter": "listed one", "instance": name, "ticks": ["cat", "owl"]} for name in ("barn", "street", "yard")
    ]
    assert robot.get("/api/v1/voters/listed one/ballots/yard").json()["voter"] == "listed one"
    assert robot.delete("/api/v1/voters/listed one/ballots/yard").content == b""
    assert [each["instance"] for each in robot.get("/api/v1/voters/listed one/ballots").json()] == ["barn", "street"]
    for voter in ("listed one", "another"):
        assert robot.delete(f"/api/v1/voters/{voter}").status_code == 204


@pytest.mark.parametrize(
    ("method", "address", "status", "told"),
    [
        ("get", "nobody/ballots", 404, "there is no voter 'nobody'; put a ballot under this name first"),
        ("get", "nobody/ballots/yard", 404, "there is no voter 'nobody'; put a ballot under this name first"),
        ("delete", "nobody", 404, "there is no voter 'nobody'; put a ballot under this name first"),
        ("get", "known/ballots/barn", 404, "'known' has no ballot on 'barn'; put one"),
        (
            "delete",
            "known/ballots/barn",
            404,
            "'known' has no ballot on 'barn', so there is nothing to withdraw",
        ),
        (
            "get",
            "=x/ballots",
            422,
            "'=x' cannot be a name; use 1 to 40 printable characters, the first not = + - or @",
        ),
        ("get", f"{'x' * 41}/ballots", 422, "path.voter: String should have at most 40 characters"),
        ("get", f"known/ballots/{'x' * 201}", 422, "path.instance: String should have at most 200 characters"),
        ("get", f"known/ballots/{'x' * 200}", 404, "has no ballot on"),
        ("get", f"{'x' * 40}/ballots", 404, "there is no voter"),
        ("get", "known/ballots/", 422, "path.instance: String should have at least 1 character"),
    ],
)
def test_what_is_not_there_and_what_cannot_be(robot, method, address, status, told):
    robot.put("/api/v1/voters/known/ballots/yard", json={"ticks": []})
    refused = getattr(robot, method)(f"/api/v1/voters/{address}")
    assert refused.status_code == status
    assert refused.json()["error"].startswith(told) or told in refused.json()["error"]
    assert status != 422 or "=x" in address or refused.json()["error"].endswith("; see openapi.json")


def test_a_ballot_names_at_most_a_thousand_ticks(robot):
    where = "/api/v1/voters/many/ballots/yard"
    assert robot.put(where, json={"ticks": ["owl"] * 1000}).json()["ticks"] == ["owl"]
    refused = robot.put(where, json={"ticks": ["owl"] * 1001})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("body.ticks: List should have at most 1000 items")


def test_every_address_takes_its_own_methods_and_needs_the_key(app, robot):
    for address, methods in {
        "task": "GET",
        "instances": "GET",
        "estimate": "GET",
        "voters/r": "DELETE",
        "voters/r/ballots": "GET",
        "voters/r/ballots/yard": "DELETE, GET, PUT",
    }.items():
        refused = robot.patch(f"/api/v1/{address}")
        assert (refused.status_code, refused.headers["allow"]) == (405, methods)
        assert refused.json() == {"error": "This cannot be done at this address."}
        for method in methods.split(", "):
            locked = visitor(app).request(method, f"/api/v1/{address}", json={"ticks": []})
            assert (locked.status_code, locked.headers["www-authenticate"]) == (401, "Bearer"), (method, address)
    assert "www-authenticate" not in robot.get("/api/v1/none").headers
    assert "allow" not in robot.get("/api/v1/none").headers


def test_requests_of_programs_are_limited_on_their_own(tmp_path):
    limits = Limits(interface=Rate(2, 0.1), wrong_secrets=Rate(1, 0.1))
    with still_app(tmp_path, QUIZ, Settings(limits=limits)) as app:
        robot = program(app)
        assert [robot.get("/api/v1/task").status_code for _ in range(3)] == [200, 200, 429]
        refused = robot.get("/api/v1/task")
        assert refused.json() == {"error": "there were too many requests from your address; wait as Retry-After says"}
        assert refused.headers["retry-after"] == "10"
        assert visitor(app).get("/").status_code == 200


def test_a_database_that_does_not_answer_is_told_in_json(app, robot, monkeypatch):
    def gone():
        raise OperationalError("SELECT 1", {}, Exception("gone"))

    monkeypatch.setattr(app.state.site.store, "is_closed", gone)
    refused = robot.get("/api/v1/task")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert refused.json() == {"error": "The server cannot reach its database."}


def test_it_describes_every_part_of_itself(app, robot):
    told = robot.get("/api/v1/openapi.json").json()
    assert told["info"]["title"] == "epivote collect"
    assert told["info"]["version"] == "1"
    assert "Authorization: Bearer KEY" in told["info"]["description"]
    (scheme,) = told["components"]["securitySchemes"].values()
    assert (scheme["scheme"], scheme["description"]) == ("bearer", "The key that `epivote collect serve` prints.")
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            assert operation["tags"] == ["ballots" if "voter" in path else "task"]
            assert operation["description"]
            refusals = {status for status in operation["responses"] if status >= "4"}
            assert refusals == {"400", "401", "403", "404", "405", "408", "409", "413", "422", "429", "503"}
            for status in refusals:
                answer = operation["responses"][status]
                assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")
                assert answer["description"].endswith(".")
            assert ("204" if method == "delete" else "200") in operation["responses"]
            limits = {"voter": 40, "instance": 200}
            for parameter in operation.get("parameters", []):
                assert parameter["description"]
                schema = parameter["schema"]
                assert (schema["minLength"], schema["maxLength"]) == (1, limits[parameter["name"]])
                assert (
                    schema["examples"]
                    == {"voter": ["classifier-1"], "instance": ["yard", "barn", "roof"]}[parameter["name"]]
                )
    body = told["paths"]["/voters/{voter}/ballots/{instance}"]["put"]["requestBody"]["content"]["application/json"]
    assert [each["ticks"] for each in body["schema"].get("examples", body.get("examples"))] == [["cat"], []]
    schemas = told["components"]["schemas"]
    assert schemas["BallotIn"]["properties"]["ticks"]["description"]
    assert not schemas["BallotIn"]["additionalProperties"]
    for address in ("/api/v1/docs", "/api/v1/redoc"):
        assert visitor(app).get(address).status_code == 404, "such pages would load scripts from elsewhere"


def test_the_estimate_tells_how_sure_a_set_is(app, robot):
    for number, ticks in enumerate((["cat"], ["dog"], ["owl"], [])):
        robot.put(f"/api/v1/voters/e{number}/ballots/street", json={"ticks": ticks})
    app.state.site.store.close_task()
    estimate_now(app)
    told = {each["instance"]: each for each in robot.get("/api/v1/estimate").json()["sets"]}
    app.state.site.store.open_task()
    assert told["street"]["ballots"] == 4
    assert told["street"]["more_ballots"] == app.state.site.estimation.live.sets["street"].more
    assert 0 < told["street"]["confidence"] < 0.95
