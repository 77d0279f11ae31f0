"""The live page in parts: what is not new is not sent, and a large task is searched, sorted and turned over."""

import gzip
import json
import re
from dataclasses import replace

import pytest

from epivote.web.estimation.live import Live, SetFound
from epivote.web.views.looking import ROWS, Look, PageOf
from in_process import organiser
from one_moment import still_app
from small_quiz import QUIZ

MANY = 5_000
INSTANCES = "".join(f'[[instances]]\nname = "shot {number}"\ntext = "?"\n' for number in range(1, MANY + 1))


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """Five thousand instances, sixty people and an estimate; the higher its number, the surer an instance is."""
    text = QUIZ[: QUIZ.index("[[instances]]")] + INSTANCES
    with still_app(tmp_path_factory.mktemp("quiz"), text) as made:
        store = made.state.site.store
        for number in range(1, 61):
            store.join(f"person {number}", "")
        sets = {
            f"shot {number}": SetFound(("owl",) if number % 100 else ("cat",), number / MANY, 5, 3, ("owl",))
            for number in range(1, MANY)
        }
        made.state.site.estimation.live = Live(stamp=(0, 1), moment=7, method="em", sets=sets)
        yield made


@pytest.fixture(scope="module")
def boss(app):
    return organiser(app)


def names(board):
    return [row["name"] for row in board["sets"]]


def test_what_is_not_new_costs_nothing(app, boss):
    first = boss.get("/organiser/live")
    tag = {"If-None-Match": first.headers["etag"]}
    same = boss.get("/organiser/live", headers=tag)
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", first.headers["etag"])
    assert boss.get("/organiser/live?page=2", headers=tag).status_code == 200, "another part is new"
    store, estimation = app.state.site.store, app.state.site.estimation
    ann = store.join("ann", "")
    changes = [
        lambda: store.answer(ann.id, "shot 1", ["cat"]),
        lambda: store.answer(ann.id, "shot 1", ["dog"]),
        lambda: store.finish(ann.id),
        lambda: store.forget(ann.id),
        store.close_task,
        store.open_task,
        lambda: setattr(estimation, "live", replace(estimation.live, moment=8)),
        lambda: setattr(estimation, "live", replace(estimation.live, problem="it broke")),
        lambda: setattr(estimation, "live", replace(estimation.live, problem="")),
    ]
    for change in changes:
        seen = boss.get("/organiser/live").headers["etag"]
        change()
        assert boss.get("/organiser/live", headers={"If-None-Match": seen}).status_code == 200
    assert boss.get("/organiser/live", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


def test_a_changed_page_is_small(boss):
    with boss.stream("GET", "/organiser/live", headers={"Accept-Encoding": "gzip"}) as answered:
        sent = b"".join(answered.iter_raw())
    assert answered.headers["content-encoding"] == "gzip"
    assert len(sent) < 20_000
    assert json.loads(gzip.decompress(sent))["sets_page"]["words"] == "1 to 50 of 5,000"
    plain = boss.get("/organiser/live", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == json.loads(gzip.decompress(sent))


def test_the_most_doubtful_come_first_and_those_without_ballots_last(boss):
    first = boss.get("/organiser/live").json()
    assert names(first) == [f"shot {number}" for number in range(1, ROWS + 1)]
    last = boss.get("/organiser/live?page=100").json()
    assert names(last)[-2:] == [f"shot {MANY - 1}", f"shot {MANY}"]
    assert last["sets_page"] == {"words": "4,951 to 5,000 of 5,000", "before": "?page=99", "after": ""}
    assert boss.get("/organiser/live?page=9999").json()["sets"] == last["sets"]
    assert names(boss.get("/organiser/live?sort=ballots").json())[0] == f"shot {MANY}", "it has none"
    assert names(boss.get("/organiser/live?sort=task&page=100").json())[-1] == f"shot {MANY}"


def test_instances_alternatives_and_people_are_found(boss):
    cats = boss.get("/organiser/live", params={"find": " CAT ", "page": "1"}).json()
    assert names(cats) == [f"shot {number}" for number in range(100, MANY, 100)]
    assert cats["voters_page"]["words"] == "nothing found"
    found = boss.get("/organiser/live?find=49").json()
    assert found["sets_page"]["after"] == "?find=49&page=2"
    assert [row["name"] for row in found["voters"]] == ["person 49"]
    people = boss.get("/organiser/live?voters=2").json()
    assert [row["name"] for row in people["voters"]] == [f"person {number}" for number in range(51, 61)]
    assert people["voters_page"]["before"] == "?"


def test_without_javascript_pages_are_turned_by_links(boss):
    page = boss.get("/organiser?find=shot&sort=task").text
    assert len(page) < 60_000
    rows = re.search(r'<table id="sets">(.*?)</table>', page, re.DOTALL)[1]
    assert rows.count("<tr>") == ROWS + 1
    (following,) = re.findall(r'href="([^"]+)">Next</a>\s*</nav>\s*<div', page[: page.index('id="voters"')])[:1]
    assert following == "organiser?find=shot&amp;sort=task&amp;page=2"
    assert '<option value="task" selected>' in page
    assert "shot 51<" in boss.get("/organiser?find=shot&sort=task&page=2").text


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "page=99999999999", "sort=x", "voters=", "find="])
def test_what_makes_no_sense_counts_as_not_given(query):
    assert Look.of(dict([query.split("=")])) == Look()


def test_pages_of_few_rows():
    assert PageOf.of([], 3).told(Look(), "page") == {"words": "nothing found", "before": "", "after": ""}
    assert PageOf.of(range(ROWS), 1).told(Look(), "page")["after"] == ""
    assert PageOf.of(range(ROWS + 1), 2).told(Look(find="a b"), "voters") == {
        "words": "51 to 51 of 51",
        "before": "?find=a+b",
        "after": "",
    }
