"""A provider that is down, slow, or sends too much: a page says so, and nothing hangs."""

from __future__ import annotations

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest
from flask import Flask

from app.people.single_sign_on.provider import init_app
from app.policy.single_sign_on import RESPONSE_BYTES
from tests.make import Browser, second_app, together
from tests.people.single_sign_on.fake_provider import Answer, FakeProvider, fake_provider, gives
from tests.people.single_sign_on.support import leave, seen
from tests.waiting import PATIENCE

pytestmark = pytest.mark.provokes(503)

FAILED = (503, "You could not be signed in")
DISCOVERY = "/.well-known/openid-configuration"


def drips(woods: FakeProvider, head: bytes) -> Answer:
    """A head, and then a byte now and then, which no timeout of a single operation meets."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head)
        while not woods.over.wait(0.2):
            handler.wfile.write(b"x")

    return answer


def test_a_provider_that_is_down(app: Flask) -> None:
    with fake_provider() as gone:
        settings = gone.settings
    with second_app(app, **settings) as sso:
        page = Browser(sso).get("/login/single-sign-on")
        assert seen(page) == FAILED
        assert page.response.headers["Retry-After"]
        assert "/login" in page.links


def test_a_provider_that_comes_back(sso: Flask, woods: FakeProvider) -> None:
    woods.answers[DISCOVERY] = gives(b"", 500)
    assert seen(Browser(sso).get("/login/single-sign-on")) == FAILED
    woods.answers.clear()
    assert leave(Browser(sso))


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_slow_one_is_given_up(sso: Flask, woods: FakeProvider, subtests: pytest.Subtests) -> None:
    start = b"HTTP/1.1 200 OK\r\n"
    for head in (b"", start + b"Content-Length: 100000\r\n\r\n"):
        init_app(sso)
        with subtests.test(repr(head)):
            woods.answers[DISCOVERY] = drips(woods, head)
            began = time.monotonic()
            assert seen(Browser(sso).get("/login/single-sign-on")) == FAILED
            assert time.monotonic() - began < PATIENCE / 2


@pytest.mark.slow
def test_answers_that_are_none(sso: Flask, woods: FakeProvider, subtests: pytest.Subtests) -> None:
    """At each step: nothing is ever a 500."""
    answers = {
        "an error": gives({"error": "invalid_grant"}, 400),
        "an error of its own": gives(b"<html>", 502),
        "an empty one": gives(b""),
        "no object": gives([1, 2]),
        "null": gives(None),
        "no JSON": gives(b"{"),
        "brackets without end": gives(b"[" * 100_000),
        "a redirect": gives({}, 302, Location="http://127.0.0.1:1/"),
        "too much": gives(b'"' + b"x" * RESPONSE_BYTES + b'"'),
        "compressed": gives(gzip.compress(b"{}"), Content_Encoding="gzip"),
        "an odd token": gives({"access_token": 5, "expires_in": "soon", "id_token": {}}),
        "odd keys": gives({"keys": [{"kty": "RSA"}, 5, None]}),
        "no keys": gives({"keys": []}),
    }
    for path in ("/token", "/keys"):
        for name, answer in answers.items():
            woods.answers = {path: answer}
            init_app(sso)
            with subtests.test(f"{path}: {name}"):
                browser = Browser(sso)
                assert seen(browser.get(woods.sign_in(leave(browser)))) == FAILED


ODD_METADATA = [
    *(
        ("authorization_endpoint", odd)
        for odd in ("https://a:99999999/", "https://a..b/", "https://a/\n", "https://[::1", 5)
    ),
    ("token_endpoint", "https://a:99999999/"),
    ("token_endpoint_auth_methods_supported", 5),
    ("token_endpoint_auth_methods_supported", True),
]


def test_odd_metadata_is_read_again(sso: Flask, woods: FakeProvider) -> None:
    for name, odd in ODD_METADATA:
        init_app(sso)
        woods.metadata[name] = odd
        assert seen(Browser(sso).get("/login/single-sign-on")) == FAILED, (name, odd)
        woods.is_right()
        assert leave(Browser(sso))


def test_a_token_without_end(sso: Flask, woods: FakeProvider) -> None:
    for endless in ("Infinity", "-Infinity", "1e999"):
        woods.answers["/token"] = gives(f'{{"expires_in": {endless}}}'.encode())
        browser = Browser(sso)
        assert seen(browser.get(woods.sign_in(leave(browser)))) == FAILED


def test_a_token_whose_header_has_certificates(sso: Flask, woods: FakeProvider) -> None:
    for certificates, expected in ((3, (200, "Finish signing up")), (20, FAILED)):
        woods.header["x5c"] = ["MII" + "x" * 2000] * certificates
        browser = Browser(sso)
        assert seen(browser.get(woods.sign_in(leave(browser)))) == expected


ODD_KEYS = (
    {"kty": "AKP", "alg": "ML-DSA-44", "kid": "tomorrow", "pub": "AA"},
    {"kty": "EC", "crv": "P-999", "kid": "another curve", "x": "AA", "y": "AA"},
    {"kty": "RSA", "kid": "no numbers"},
    {"kty": "RSA", "kid": "odd numbers", "n": 5, "e": [1]},
    {"kty": []},
    {},
    "text",
    17,
    None,
)


def test_a_key_that_cannot_be_read_does_not_spoil_the_others(
    sso: Flask, woods: FakeProvider
) -> None:
    """RFC 7517, section 5."""
    (key,) = woods.keys["keys"]
    for odd in ODD_KEYS:
        init_app(sso)
        woods.keys = {"keys": [odd, key, odd]}
        browser = Browser(sso)
        page = browser.get(woods.sign_in(leave(browser)))
        assert seen(page) == (200, "Finish signing up"), odd


def test_keys_none_of_which_can_be_read(
    sso: Flask, woods: FakeProvider, caplog: pytest.LogCaptureFixture
) -> None:
    for keys in (None, 17, "text", {"kid": {}}, [], ODD_KEYS):
        init_app(sso)
        caplog.clear()
        woods.keys = {"keys": keys}
        browser = Browser(sso)
        assert seen(browser.get(woods.sign_in(leave(browser)))) == FAILED
        assert "the provider publishes no key that can be read" in caplog.text


@pytest.mark.slow
def test_a_slow_provider_does_not_take_all_threads(app: Flask, woods: FakeProvider) -> None:
    """Of four threads, two may wait for it; others hear at once that it is busy."""

    refused = threading.Barrier(2 + 4)

    def slow(handler: BaseHTTPRequestHandler) -> None:
        refused.wait(PATIENCE)
        gives(woods.metadata)(handler)

    woods.answers[DISCOVERY] = slow
    with second_app(app, **woods.settings, web_threads=4) as sso:

        def ask() -> int:
            page = Browser(sso).get("/login/single-sign-on", follow=False)
            if page.status == 503:
                refused.wait(PATIENCE)
            return page.status

        assert sorted(together(*[ask] * 6)) == [303] * 2 + [503] * 4
