"""The forms of pages and of the endpoints for tokens, as long as they may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final
from urllib.parse import urlencode

from app.policy.forms import FIELD_LENGTH, FIELD_LENGTHS, FORM_BYTES
from app.policy.oauth import PARAMETER_LENGTH, PARAMETERS
from app.site.protection import LargeForm
from tests.api.operations import bare_app
from tests.make import (
    Browser,
    Client,
    invitation_token,
    make_application,
    make_asset,
    make_invited,
    make_key,
    make_member,
    make_operator,
    make_project,
    make_webhook,
    new_email,
)
from tests.make.imports import make_import
from tests.make.oauth import VERIFIER
from tests.oauth.support import authorize_url, browser_of
from trials.faults.heavy.form_fields import FIELDS, FIELDS_OF
from trials.faults.heavy.request import Request, filled

_BOUNDARY: Final = "b"
_PART: Final = b'\r\n--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n'
_FILE: Final = b'\r\n--b\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n'
_MOST_PARTS: Final = 990  # that werkzeug takes, nearly
_END: Final = b"\r\n--b--\r\n"
_URLENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_MULTIPART: Final = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
_SIGNED_OUT: Final = ("/login", "/register", "/forgot-password", "/reset-password")
_TOKENS: Final = ("/oauth/token", "/oauth/revoke", "/oauth/introspect")

TEXTS: Final = {
    "text": b"x",
    "spaces": b" ",
    "line ends": b"\r\n",
    "control characters": b"x\x01",
    "marks": "\u0301\u0316".encode(),
    "capitals": "\u0130".encode(),
    "longest in ASCII": "\ufdfa".encode(),
    "dots": b"a.",
    "at signs": b"a@",
    "hyphens": b"--",
    "Hangul": "\u1112\u1161\u11ab".encode(),
    "not UTF-8": b"\xff",
}
_PAIRS: Final = {
    "fields": b"a=1&",
    "names": b"a&",
    "equals signs": b"=",
    "percent signs": b"%",
    "escapes": b"%41",
}
_PARTS: Final = {
    "parts": _PART % b"a",
    "files": _FILE,
    "boundaries": b"--b\r\n" * 13,
    "line ends": b"\r\n" * 33,
    "beginnings of a boundary": b"\r\n--" * 16,
    "headers": b"a: b\r\n" * 11,
}
# Of a request for tokens; each of as many and as long parameters as it may have.
_PARAMETERS: Final = {
    "grant_type": "refresh_token",
    "refresh_token": "x",
    "code": "x",
    "code_verifier": VERIFIER,
    "redirect_uri": "https://client.example/back",
    "scope": "projects:read",
    "token": "x",
    "token_type_hint": "refresh_token",
}


def forms(client: Client) -> Iterator[Request]:
    """Each field of each form with each text, and forms of as many parts as possible."""
    invited = new_email()
    make_invited(client, email=invited)
    application = make_application(client)
    project_id = make_project(client)["id"]
    make_operator(client)
    values = {
        "app_id": application.id,
        "asset_id": make_asset(client, project_id)["id"],
        "account_id": client.account_id,
        "credential_id": make_key(client).credential_id,
        "import_id": make_import(client),
        "member_id": make_member(client, "viewer").id,
        "project_id": project_id,
        "token": invitation_token(client, invited),
    }
    for rule, large in page_rules().items():
        browser = Browser(client.app) if rule.startswith(_SIGNED_OUT) else browser_of(client)
        if "<webhook_id>" in rule:
            values["webhook_id"] = make_webhook(client)["id"]  # for it alone: it may end it
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: values.get(name[1], "x"), rule)
        if rule == "/oauth/authorize":
            path = authorize_url(application)
        fields = {"csrf_token": _form_secret(browser)} | FIELDS_OF.get(rule, FIELDS)
        cookies = {"Cookie": _cookies(browser)}
        yield from _of_page(f"POST {rule}", path, fields, cookies, large)
    for path in _TOKENS:
        yield from _of_tokens(path, _PARAMETERS | application.proof)


def page_rules() -> dict[str, LargeForm]:
    """The addresses to which forms of pages lead, and what may be large there."""
    app = bare_app()
    found = dict[str, LargeForm]()
    for rule in sorted(app.url_map.iter_rules(), key=str):
        is_page = not rule.rule.startswith(("/v1/", "/api/", *_TOKENS))
        if "POST" in (rule.methods or ()) and is_page:
            view = app.view_functions[rule.endpoint]
            found[rule.rule] = getattr(view, "large_form", LargeForm())
    return found


def _form_secret(browser: Browser) -> str:
    """The token against forged posts, which all forms of a browser share."""
    page = browser.get("/register")
    return next(form.fields["csrf_token"] for form in page.forms if "csrf_token" in form.fields)


def _cookies(browser: Browser) -> str:
    found = browser.client._cookies or {}
    return "; ".join(f"{cookie.key}={cookie.value}" for cookie in found.values())


def _of_page(
    name: str, path: str, fields: Mapping[str, str], cookies: Mapping[str, str], large: LargeForm
) -> Iterator[Request]:
    largest = bare_app().config["SETTINGS"].max_body_bytes
    plain, parts = {**cookies, **_URLENCODED}, {**cookies, **_MULTIPART}
    for field in fields:
        others = {key: value for key, value in fields.items() if key != field}
        length = FIELD_LENGTHS.get(field, FIELD_LENGTH)
        for kind, piece in TEXTS.items():
            what = f"{name} {field} = {kind}"
            most = None if field == large.field else length // len(piece.decode(errors="replace"))
            body = partial(_form, f"{urlencode(others)}&{field}=".encode(), piece, most=most)
            yield Request(f"{what}, urlencoded", "POST", path, body, plain)
            before = _head(others) + _PART % field.encode()
            size = largest if field == large.field else large.others
            body = partial(_form, before, piece, _END, most, size=size)
            yield Request(f"{what}, multipart", "POST", path, body, parts)
    for kind, piece in _PAIRS.items():
        yield Request(f"{name} = {kind}", "POST", path, partial(_form, b"", piece), plain)
    for kind, piece in _PARTS.items():
        size = largest if large.field else large.others
        body = partial(_form, b"", piece, _END, _MOST_PARTS, size=size)
        yield Request(f"{name} = {kind}", "POST", path, body, parts)


def _head(fields: Mapping[str, str]) -> bytes:
    return b"".join(_PART % name.encode() + value.encode() for name, value in fields.items())


def _form(
    before: bytes,
    piece: bytes,
    after: bytes = b"",
    most: int | None = None,
    *,
    size: int = FORM_BYTES,
) -> bytes:
    return filled(before, piece, after, most, size=size - 64)


def _of_tokens(path: str, parameters: Mapping[str, str]) -> Iterator[Request]:
    for kind, piece in _PAIRS.items():
        yield Request(
            f"POST {path} = {kind}", "POST", path, partial(_form, b"", piece), _URLENCODED
        )
    others = {f"p{number}": "x" * 1_000 for number in range(PARAMETERS - len(parameters))}
    for name in parameters:
        for kind, text in TEXTS.items():
            value = (text * PARAMETER_LENGTH)[:PARAMETER_LENGTH]
            body = urlencode({**parameters, **others, name: value}).encode()[:FORM_BYTES]
            what = f"POST {path} {name} = {kind}"
            yield Request(what, "POST", path, partial(bytes, body), _URLENCODED)
