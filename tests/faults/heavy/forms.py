"""The forms of pages and of the endpoints for tokens, as long as they may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final
from urllib.parse import urlencode

from app.policy.oauth import PARAMETER_LENGTH, PARAMETERS
from app.policy.people import FORM_BYTES
from app.site.protection import LargeForm
from app.values.strict_json import dumps
from tests.api.operations import bare_app
from tests.faults.heavy.request import Request, filled
from tests.make import (
    Browser,
    Client,
    invitation_token,
    make_application,
    make_asset,
    make_invited,
    make_key,
    make_member,
    make_project,
    make_webhook,
    new_email,
    square,
)
from tests.make.imports import make_import
from tests.make.oauth import VERIFIER
from tests.oauth.support import authorize_url, browser_of

_BOUNDARY: Final = "b"
_PART: Final = b'\r\n--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n'
_FILE: Final = b'\r\n--b\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n'
_MOST_PARTS: Final = 990  # that werkzeug takes, nearly
_END: Final = b"\r\n--b--\r\n"
_URLENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_MULTIPART: Final = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
_SIGNED_OUT: Final = ("/login", "/register", "/forgot-password", "/reset-password")
_TOKENS: Final = ("/oauth/token", "/oauth/revoke", "/oauth/introspect")

_RECORD: Final = {
    "metadata_name": "note",
    "metadata_value": "by the road",
    "metadata_was": "",
    "name": "Beech stand",
    "status": "active",
    "version": "",
}
_PROJECT: Final = _RECORD | {
    "description": "",
    "external_id": "",
    "geometry": dumps(square()).decode(),
}
_ASSET: Final = _RECORD | {
    "latitude": "0.5",
    "longitude": "0.5",
    "project": "",
    "project_id": "",
    "then": "another",
    "type": "monitoring_station",
}
_CREDENTIAL: Final = {
    "is_search": "",
    "mark": "x",
    "name": "Nightly",
    "permissions": "projects:read",
    "project_ids": "proj_01arz3ndektsv4rrffq69g5fav",
    "scope": "some",
    "search": "",
}
_APPLICATION: Final = {
    "end_access": "profile",
    "name": "Map of Woods",
    "redirect_uris": "https://client.example/back",
    "scopes": "projects:read",
}
_WEBHOOK: Final = {
    "description": "",
    "enabled": "true",
    "events": "project.created",
    "url": "https://hooks.example.org/canopy",
    "which": "chosen",
}
_SELECTION: Final = {"back": "/projects", "ids": "proj_01arz3ndektsv4rrffq69g5fav"}
_FACTOR: Final = {
    "second_factor_code": "123456",
    "second_factor_passkey": "{}",
    "second_factor_recovery_code": "0123-4567-89ab-cdef",
}
# A value of each field of a form. Without the others a form may be refused for these.
FIELDS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "/api-keys/new": _CREDENTIAL | {"expires_on": "2027-01-31", "life": "date"},
    "/applications/<app_id>": _APPLICATION,
    "/applications/<app_id>/secret": {"mark": "x", "overlap_hours": "24"},
    "/applications/new": _APPLICATION | {"kind": "secret", "mark": "x"},
    "/assets/<project_id>/<asset_id>/edit": _ASSET,
    "/assets/<project_id>/<asset_id>/status": {"status": "active"},
    "/assets/export": _SELECTION | {"format": "csv"},
    "/assets/new": _ASSET,
    "/audit-log/export": {
        "action": "project.updated",
        "actor_id": "user_01arz3ndektsv4rrffq69g5fav",
        "format": "csv",
        "since": "2026-01-31T02:15",
        "target_id": "proj_01arz3ndektsv4rrffq69g5fav",
        "until": "2027-01-31T02:15",
    },
    "/imports/<import_id>/apply": {"looked_at": ""},
    "/imports/<import_id>/change": {
        "close_lines": "true",
        "column_external_id": "0",
        "column_name": "0",
        "crs": "other",
        "epsg": "32632",
        "layer": "0",
        "match": "external_id",
        "metadata": "chosen",
        "metadata_column": "0",
        "read_layer": "",
    },
    "/imports/new": {"kind": "projects", "project_id": "", "search": ""},
    "/login/second-factor": _FACTOR,
    "/members/<member_id>/remove": {"was_joined_at": "", "was_role": "viewer"},
    "/members/<member_id>/role": {"role": "viewer", "was_joined_at": "", "was_role": "viewer"},
    "/profile/second-factor/authenticator/confirm": {"code": "123456", "mark": "x", "setup": "x"},
    "/profile/second-factor/off": _FACTOR | {"confirm_password": "not the right one"},
    "/profile/second-factor/passkeys": {"mark": "x", "name": "Phone", "response": "{}"},
    "/profile/times": {"date_format": "iso", "time_zone": "Europe/Berlin"},
    "/projects/<project_id>/edit": _PROJECT,
    "/projects/archive": _SELECTION,
    "/projects/check": {"geometry": _PROJECT["geometry"], "project_id": ""},
    "/projects/export": _SELECTION | {"format": "csv"},
    "/projects/new": _PROJECT,
    "/projects/restore": _SELECTION,
    "/service-tokens/new": _CREDENTIAL | {"ip_allowlist": "203.0.113.7"},
    "/settings": {"name": "Hazel Woods", "was_name": "Hazel Wood"},
    "/settings/second-factor": {"grace_days": "7", "required": "yes"},
    "/webhooks/<webhook_id>/edit": _WEBHOOK,
    "/webhooks/<webhook_id>/replay": {
        "event_types": "project.created",
        "only_failed": "true",
        "since": "2026-01-02T03:04",
        "until": "",
        "which": "chosen",
    },
    "/webhooks/<webhook_id>/rotate": {"mark": "x", "overlap_hours": "24"},
    "/webhooks/new": _WEBHOOK | {"mark": "x", "secret": ""},
}
# Likewise of all other forms.
FIELDS: Final = {
    "account_id": "acct_01arz3ndektsv4rrffq69g5fav",
    "account_name": "Hazel Woods",
    "account_slug": "",
    "application_id": "app_01arz3ndektsv4rrffq69g5fav",
    "decision": "perhaps",
    "email": "nobody@example.org",
    "mark": "x",
    "name": "Jo Hazel",
    "new_password": "lichen over young firs",
    "password": "not the right one",
    "role": "viewer",
}
TEXTS: Final = {
    "text": b"x",
    "spaces": b" ",
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
    invited = new_email(client)
    make_invited(client, email=invited)
    application = make_application(client)
    project_id = make_project(client)["id"]
    values = {
        "app_id": application.id,
        "asset_id": make_asset(client, project_id)["id"],
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
            found[rule.rule] = getattr(view, "large_form", LargeForm(FORM_BYTES))
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
        for kind, piece in TEXTS.items():
            what = f"{name} {field} = {kind}"
            body = partial(_form, f"{urlencode(others)}&{field}=".encode(), piece)
            yield Request(f"{what}, urlencoded", "POST", path, body, plain)
            before = _head(others) + _PART % field.encode()
            size = largest if field == large.field else large.others
            body = partial(_form, before, piece, _END, size=size)
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
