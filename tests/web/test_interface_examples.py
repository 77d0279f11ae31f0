"""Examples in the description of the JSON interface can be sent as they stand."""

import pytest

from one_moment import program, still_app
from small_quiz import QUIZ

PUT = "/voters/{voter}/ballots/{instance}"


@pytest.mark.parametrize(
    ("own", "ticks"),
    [
        ('name = "yard"\nalternatives = ["dog", "owl"]\nsize = "2"', ["dog", "owl"]),
        ('name = "yard"\nalternatives = ["owl", "cat"]\nsize = "1"', ["cat"]),
        ('name = "yard"\nsize = "0..3"', []),
    ],
)
def test_the_first_instance_shows_how_a_ballot_is_written(tmp_path, own, ticks):
    with still_app(tmp_path, QUIZ.replace('name = "yard"', own)) as app:
        told = program(app).get("/api/v1/openapi.json").json()["paths"][PUT]["put"]
        body = told["requestBody"]["content"]["application/json"]
        examples = body["schema"].get("examples", body.get("examples"))
        names = {each["name"]: each["schema"]["examples"] for each in told["parameters"]}
        assert examples == [{"ticks": ticks}, {"ticks": []}]
        assert names == {"voter": ["classifier-1"], "instance": ["yard", "barn", "roof"]}
        address = "/api/v1" + PUT.format(voter=names["voter"][0], instance=names["instance"][0])
        assert [program(app).put(address, json=each).json()["ticks"] for each in examples] == [ticks, []]
