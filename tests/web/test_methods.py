"""Which methods every address takes: what changes something is never done by following a link."""

import pytest

from in_process import visitor
from one_moment import still_app

SHOWS = {"GET", "HEAD"}
ADDRESSES = {
    "/": SHOWS,
    "/join": {"POST"},
    "/question": SHOWS,
    "/question/1": SHOWS | {"POST"},
    "/end": SHOWS,
    "/finish": {"POST"},
    "/forget": SHOWS | {"POST"},
    "/leave": SHOWS | {"POST"},
    "/link": {"POST"},
    "/resume": {"POST"},
    "/resume/1": SHOWS,
    "/privacy": SHOWS,
    "/language/en": SHOWS,
    "/picture/dot.svg": SHOWS,
    "/health": SHOWS,
    "/organiser": SHOWS | {"POST"},
    "/organiser/live": SHOWS,
    "/organiser/export/ballots.csv": SHOWS,
    "/organiser/report": SHOWS,
    "/organiser/qr.svg": SHOWS,
    "/organiser/close": SHOWS | {"POST"},
    "/organiser/leave": {"POST"},
    "/organiser/open": {"POST"},
    "/theme.css": SHOWS,
    "/static/icon.svg": SHOWS,
}


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with still_app(tmp_path_factory.mktemp("quiz")) as made:
        yield made


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_takes_its_own_methods(app, address):
    refused = visitor(app).request("DELETE", address)
    assert refused.status_code == 405
    assert set(refused.headers["allow"].split(", ")) == ADDRESSES[address]
    for method in {"GET", "POST"}:
        status = visitor(app).request(method, address).status_code
        assert (status == 405) == (method not in ADDRESSES[address]), (method, status)


def test_no_address_is_left_out(app):
    known = {address.partition("/1")[0] for address in ADDRESSES}
    paths = [route.path.partition("/{")[0] or "/" for route in app.routes]
    assert [path for path in paths if not any(each.startswith(path) for each in known)] == ["/api/v1"]
