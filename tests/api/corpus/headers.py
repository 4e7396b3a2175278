"""Headers."""

from __future__ import annotations

from app.security.tokens import ACCESS_TOKEN, API_KEY
from tests.api.corpus.case import JSON, PROJECT, PROJECTS, Bad

GOOD = b'{"name": "A"}'
TAG = '"0123456789abcdef0123456789abcdef"'


def _authorization(what: str, value: str) -> Bad:
    sent = {"Authorization": value}
    return Bad(f"Authorization {what}", "GET", PROJECTS, 401, None, None, sent)


def _type(what: str, value: str, body: bytes = GOOD) -> Bad:
    sent = {"Content-Type": value}
    return Bad(f"Content-Type {what}", "POST", PROJECTS, 415, None, body, sent)


def _key(what: str, value: str) -> Bad:
    sent = {"Idempotency-Key": value}
    return Bad(f"key {what}", "POST", PROJECTS, 400, "Idempotency-Key", {"name": "A"}, sent)


def _if_match(what: str, value: str) -> Bad:
    sent = {"If-Match": value}
    return Bad(f"If-Match {what}", "PUT", PROJECT, 400, "If-Match", {"name": "B"}, sent)


def _if_none_match(what: str, value: str) -> Bad:
    sent = {"If-None-Match": value}
    return Bad(f"If-None-Match {what}", "GET", PROJECT, 400, "If-None-Match", None, sent)


CASES = [
    _authorization("empty", ""),
    _authorization("of junk", "Bearer junk"),
    _authorization("of a wrong checksum", f"Bearer {API_KEY}{'0' * 38}"),
    _authorization("of an access token's wrong checksum", f"Bearer {ACCESS_TOKEN}{'0' * 38}"),
    _authorization("in other letters", f"Bearer {API_KEY}ÿ"),
    _authorization("of 100 kB", "Bearer " + "x" * 100_000),
    _type("text", "text/plain"),
    _type("of a form", "application/x-www-form-urlencoded"),
    _type("of a multipart form", "multipart/form-data; boundary=x", b"--x--\r\n"),
    _type("of JSON Patch", "application/json-patch+json"),
    _type("of JSON in Latin-1", "application/json; charset=iso-8859-1"),
    _type("of nonsense", ";;;"),
    Bad("a body of a GET that is no JSON", "GET", PROJECTS, 415, None, b"x", {
        "Content-Type": "text/plain",
    }),
    Bad("Content-Encoding br", "POST", PROJECTS, 415, None, GOOD, JSON | {
        "Content-Encoding": "br",
    }),
    Bad("Content-Encoding of nonsense", "POST", PROJECTS, 415, None, GOOD, JSON | {
        "Content-Encoding": "x" * 1000,
    }),
    _key("empty", ""),
    _key("of 256 characters", "k" * 256),
    _key("with a tab", "a\tb"),
    _key("in other letters", "schlüssel"),
    _if_match("of commas", ",,"),
    _if_match("of * and a tag", f"*, {TAG}"),
    _if_match("with a space inside", '"a b"'),
    _if_none_match("without quotes", "abc"),
    _if_none_match("empty", ""),
]  # fmt: skip
