"""The forms of pages and of the endpoints for tokens, as long as they may be; and long headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final
from urllib.parse import urlencode

from app.policy.forms import FIELD_LENGTH, FIELD_LENGTHS, FORM_BYTES
from tests.api.operations import EVERYTHING, bare_app, fill
from tests.make import Browser, Client, make_application, make_project
from tests.oauth.support import authorize_url, browser_of
from tests.site.form_fields import FIELDS, FIELDS_OF, TOKENS, page_rules
from trials.heavy.request import Request, filled

TEXTS: Final = {
    "text": b"x",
    "spaces": b" ",
    "line ends": b"\r\n",
    "marks": "\u0301\u0316".encode(),
    "longest in ASCII": "\ufdfa".encode(),
    "dots": b"a.",
    "at signs": b"a@",
    "Hangul": "\u1112\u1161\u11ab".encode(),
    "not UTF-8": b"\xff",
}
_WHOLE: Final = {"fields": b"a=1&", "names": b"a&", "percent signs": b"%", "escapes": b"%41"}
# Values of headers. The server takes 64 KB of fields of 8,190 bytes, and joins those of one name.
HEADERS: Final = {
    "tags": b'"' + b'","'.join([b"a"] * 2_000) + b'"',
    "empty tags": b'"",' * 2_600,
    "commas": b"," * 8_000,
    "spaces": b"a" + b" " * 7_900 + b"a",
    "codings": b",".join(b"x%d;q=0.%d" % (number, number % 10) for number in range(700)),
    "cookies": b"; ".join(b"a%d=1" % number for number in range(900)),
}
_NAMES: Final = (
    "Accept", "Accept-Encoding", "Authorization", "Content-Type", "Cookie", "Idempotency-Key",
    "If-Match", "If-None-Match", "Range", "X-Forwarded-For",
)  # fmt: skip
_URLENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_MULTIPART: Final = {"Content-Type": "multipart/form-data; boundary=b"}
_PART: Final = b'\r\n--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n'
_END: Final = b"\r\n--b--\r\n"
_SIGNED_OUT: Final = ("/login", "/register", "/forgot-password", "/reset-password")


def forms(client: Client) -> Iterator[Request]:
    """Each field of each form with each text, and forms of as many parts as possible."""
    largest = bare_app().config["SETTINGS"].max_body_bytes
    ids = fill(client, EVERYTHING)
    application = make_application(client)
    for rule, large in page_rules().items():
        browser = Browser(client.app) if rule.startswith(_SIGNED_OUT) else browser_of(client)
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: ids.get(name[1], "x"), rule)
        if rule == "/oauth/authorize":
            path = authorize_url(application)
        fields = {"csrf_token": _form_secret(browser), **FIELDS_OF.get(rule, FIELDS)}
        headers = {"Cookie": cookies_of(browser)} | _MULTIPART
        for field in fields:
            before = b"".join(
                _PART % name.encode() + value.encode()
                for name, value in fields.items()
                if name != field
            )
            length = FIELD_LENGTHS.get(field, FIELD_LENGTH)
            size = largest if field == large.field else large.others
            for kind, piece in TEXTS.items():
                most = None if field == large.field else length // len(piece.decode("latin-1"))
                whole = before + _PART % field.encode()
                body = partial(filled, whole, piece, _END, most, size=size - 64)
                yield Request(f"POST {rule} {field} = {kind}", "POST", path, body, headers)
        body = partial(filled, b"", _PART % b"a", _END, 990, size=large.others)
        yield Request(f"POST {rule} = parts", "POST", path, body, headers)
    for path in TOKENS:
        known = {"grant_type": "refresh_token", "token": "x", **application.proof}
        start = urlencode(known).encode() + b"&"
        for kind, piece in (_WHOLE | TEXTS).items():
            body = partial(filled, start + b"scope=", piece, size=FORM_BYTES - 64)
            yield Request(f"POST {path} = {kind}", "POST", path, body, _URLENCODED)


def heads(client: Client) -> Iterator[Request]:
    """Each header with each value."""
    path = f"/v1/projects/{make_project(client)['id']}"
    for name in _NAMES:
        own = {} if name == "Authorization" else client.authorization
        for kind, value in HEADERS.items():
            for method, body in (("GET", b""), ("PUT", b"{}")):
                what = f"{method} a project {name} = {kind}"
                yield Request(what, method, path, partial(bytes, body), own, (name, value[:8_000]))


def _form_secret(browser: Browser) -> str:
    """The token against forged posts, which all forms of a browser share."""
    page = browser.get("/register")
    return next(form.fields["csrf_token"] for form in page.forms if "csrf_token" in form.fields)


def cookies_of(browser: Browser) -> str:
    found = browser.client._cookies or {}
    return "; ".join(f"{cookie.key}={cookie.value}" for cookie in found.values())
