"""The pieces that keep people apart."""

import hashlib
import string

import itsdangerous
import pytest
from starlette.requests import Request

from epivote.web.security.headers import address_of, sent_from_here
from epivote.web.security.limits import MOST_REMEMBERED, Limiter, Rate
from epivote.web.security.signing import Signer, same_secret


def test_a_cookie_is_good_for_its_kind_and_its_key():
    signer = Signer("key")
    sealed = signer.seal("participant", "ann")
    assert signer.unseal("participant", sealed) == "ann"
    assert signer.unseal("organiser", sealed) is None
    assert Signer("other key").unseal("participant", sealed) is None
    assert signer.unseal("participant", sealed[:-1]) is None
    assert signer.unseal("participant", None) is None
    assert signer.unseal("participant", "é\x00") is None
    for letter in string.ascii_letters + string.digits + "-_":
        changed = sealed[:-1] + letter
        assert (signer.unseal("participant", changed) == "ann") == (changed == sealed), (
            "not even a spare bit may differ"
        )
    number = itsdangerous.URLSafeSerializer(
        "key", salt="epivote participant", signer_kwargs={"digest_method": hashlib.sha256}
    ).dumps(7)
    assert signer.unseal("participant", number) is None


def test_tokens_differ_by_visit_kind_and_key():
    tokens = {Signer(key).token(kind, value) for key in "ab" for kind in ("form", "x") for value in "cd"}
    assert len(tokens) == 8


def test_secrets_are_compared_whole():
    assert same_secret("abc", "abc")
    for other in ("ab", "abcd", "", None, "é", "\ud800"):
        assert not same_secret(other, "abc")


def test_a_bucket_empties_and_fills():
    clock = iter([0.0] * 20).__next__
    limiter = Limiter(lambda: clock())
    rate = Rate(2, 0.5)
    assert [limiter.take("x", "ann", rate) for _ in range(3)] == [0.0, 0.0, 2.0]
    assert limiter.take("x", "bo", rate) == 0.0, "everybody has a bucket"
    assert limiter.take("y", "ann", rate) == 0.0, "for every kind of thing"
    limiter.clock = lambda: 2.0
    assert [limiter.take("x", "ann", rate) for _ in range(2)] == [0.0, 2.0]
    limiter.clock = lambda: 1000.0
    assert [limiter.take("x", "ann", rate) for _ in range(3)] == [0.0, 0.0, 2.0], "it never overflows"


def test_buckets_do_not_fill_the_memory():
    limiter = Limiter()
    for number in range(MOST_REMEMBERED + 1000):
        limiter.take("x", str(number), Rate(5, 1))
    assert len(limiter._buckets) <= MOST_REMEMBERED


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("10.0.0.1", 5), "10.0.0.1"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:ffff:4:5:6", 5), "2001:db8:1:2::/64"),
        (("2001:0db8:0001:0002::", 5), "2001:db8:1:2::/64"),
        (("2001:db8::1", 5), "2001:db8::/64"),
        (("2001:db8::ffff:1", 5), "2001:db8::/64"),
        (("2001:db8:0:1::1", 5), "2001:db8:0:1::/64"),
        (("fe80::1%eth0", 5), "fe80::/64"),
        (("::1", 5), "::/64"),
        (("::ffff:10.0.0.1", 5), "10.0.0.1"),
        (("testclient", 5), "testclient"),
        (None, "unknown"),
    ],
)
def test_addresses(client, address):
    assert address_of({"client": client}) == address


@pytest.mark.parametrize(
    ("headers", "fine"),
    [
        ({}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://quiz.org"}, False),
        ({"origin": "http://quiz.org"}, True),
        ({"origin": "https://quiz.org"}, True),
        ({"origin": "http://evil.org"}, False),
        ({"origin": "null"}, False),
    ],
)
def test_where_a_form_comes_from(headers, fine):
    raw = [(name.encode(), value.encode()) for name, value in {"host": "quiz.org", **headers}.items()]
    assert sent_from_here(Request({"type": "http", "headers": raw})) == fine
