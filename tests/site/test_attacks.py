"""Malicious requests to pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.db.transactions import transaction
from app.people.mailed_links import request_reset
from app.policy.forms import FIELD_LENGTH
from config import ROOT
from tests.make import Browser, new_email, sign_up, text_of
from tests.make.browser import PASSWORD
from tests.make.mails import mails_to
from tests.normalizing import refuse_to_normalize_long_texts

HTML = {"Accept": "text/html"}
FORMS = ("/login", "/register", "/forgot-password")
ODD = {
    "NUL": "a\x00@example.org",
    "surrogate": "\ud800@example.org",
    "line break": "a@example.org\r\nBcc: b@example.org",
    "line separator": "a@example.org\u2028Bcc: b",
    "right to left": "\u202ea@example.org",
    "two addresses": "a@example.org, b@example.org",
    "angle brackets": "A <a@example.org>",
    "quoted": '"a b"@example.org\n',
    "very long": "a" * 30_000 + "@example.org",
    "script": "<script>alert(1)</script>@example.org",
    "template": "{{ config }}@example.org",
    "SQL": "a'; DROP TABLE users; --@example.org",
}
NAMES = {
    "script": "<script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)',
    "template": "{{ 777 * 777 }}{% if 1 %}",
    "formula": "=HYPERLINK(1)",
    "right to left": "\u202eevil\u202c",
}


def send(app: Flask, path: str, data: Any = None, **options: Any) -> TestResponse:
    """POST with a fresh CSRF token, from a new client address."""
    browser = Browser(app)
    token = browser.get("/login").form().fields["csrf_token"]
    fields = {"csrf_token": token} | (data if isinstance(data, dict) else {})
    body = fields if data is None or isinstance(data, dict) else data
    options.setdefault("environ_overrides", {"REMOTE_ADDR": browser.address()})
    return browser.client.post(
        path, data=body, headers=HTML | options.pop("headers", {}), **options
    )


def test_malformed_paths(app: Flask) -> None:
    for path in FORMS:
        for odd in ODD:
            data = {"email": ODD[odd].encode("utf-8", "surrogatepass"), "password": PASSWORD}
            response = send(app, path, data)
            assert response.status_code in (200, 422)
            shown = response.get_data(as_text=True)
            assert "<script>alert" not in shown
            if response.status_code == 200:
                assert odd in ("right to left", "template", "SQL", "script", "surrogate")


@pytest.mark.parametrize("path", FORMS)
def test_a_long_email_address_is_not_normalized(
    app: Flask, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes as long as the square of the marks in a row."""
    data = {"email": "\u0301\u0316" * (FIELD_LENGTH // 2), "password": PASSWORD}
    refuse_to_normalize_long_texts(monkeypatch)
    response = send(app, path, data, content_type="multipart/form-data")
    assert response.status_code == 422
    assert "at most 254 characters" in response.get_data(as_text=True)


def test_names_are_escaped_on_all_pages(app: Flask) -> None:
    for name in NAMES:
        email = new_email("odd")
        browser = sign_up(app, email, name=NAMES[name], account=NAMES[name])
        for path in ("/accounts", "/profile", "/nothing"):
            shown = browser.get(path).response.get_data(as_text=True)
            assert "<script>alert" not in shown
            assert ' onmouseover="alert' not in shown
            assert "603729" not in shown
        with app.app_context(), transaction():
            request_reset(email)
        message = mails_to(app, email)[-1]
        assert "\n" not in str(message["Subject"])
        assert NAMES[name] in text_of(message) or name == "right to left"


def test_malformed_bodies(app: Flask) -> None:
    for path in FORMS:
        for body, kind in [
        (b"\xff\xfe=%ff&email=\xc3\x28", "application/x-www-form-urlencoded"),
        (b"{", "application/json"),
        (b'{"email": "a@example.org"}', "application/json"),
        (b"email=a@example.org", "text/plain"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"x" * 70_000, "application/x-www-form-urlencoded"),
        (b"a=1&" * 5_000, "application/x-www-form-urlencoded"),
        (b"", ""),
    ]:  # fmt: skip
            response = send(app, path, body, content_type=kind)
            assert response.status_code in (403, 413)


def test_no_template_lets_markup_through() -> None:
    """All that templates show is escaped by Jinja, and what the code escapes has its own format."""
    for path in (ROOT / "app").rglob("*"):
        if path.suffix == ".html":
            assert not re.search(r"\|\s*safe\b|autoescape", path.read_text()), path
        elif path.suffix == ".py":
            marked = re.findall(r"\bMarkup\((?!['\"])(.*)", path.read_text())
            assert marked in ([], ["body),  # noqa: S704 - made from documents of this version"])


def test_a_chunked_form_is_rejected(app: Flask) -> None:
    """It would be silently truncated at the limit."""
    headers = {"Transfer-Encoding": "chunked"}
    assert send(app, "/login", {"email": "a@example.org"}, headers=headers).status_code == 400


def test_unsupported_methods(app: Flask) -> None:
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]:
        for path in ["/login", "/profile", "/logout"]:
            response = app.test_client().open(path, method=method, headers=HTML)
            assert response.status_code == 405
            assert response.headers["Allow"]


def test_forged_client_addresses_do_not_evade_the_limit(app: Flask) -> None:
    for header in ["X-Forwarded-For", "X-Real-IP", "Forwarded"]:
        browser, found = Browser(app, Browser.address()), []
        for number in range(6):
            value = f"10.0.0.{number}"
            browser.headers[header] = f"for={value}" if header == "Forwarded" else value
            browser.get("/login")
            page = browser.submit(email=f"{header.lower()}@example.org", password=PASSWORD)
            found.append(page.status)
        assert found == [422] * 5 + [429]


def test_forged_client_addresses_are_not_shown(app: Flask) -> None:
    for headers in [
        {"X-Forwarded-Host": "evil.example"},
        {"X-Forwarded-Proto": "https"},
        {"X-Forwarded-Prefix": "/evil"},
        {"X-Original-URL": "/profile"},
        {"X-Rewrite-URL": "/profile"},
        {"Host": "evil.example"},
    ]:
        for path in ("/", "/login", "/profile", "/forgot-password"):
            response = app.test_client().get(path, headers=HTML | headers)
            assert "evil" not in response.headers.get("Location", "")
            assert "evil" not in response.get_data(as_text=True)
            assert "Strict-Transport-Security" not in response.headers


def test_a_session_in_the_url_is_ignored(app: Flask) -> None:
    browser = sign_up(app, new_email("odd"))
    cookie = browser.client.get_cookie("canopy_session")
    assert cookie is not None
    for name in ("canopy_session", "session", "token", "access_token"):
        page = Browser(app).get("/profile", query_string={name: cookie.value})
        assert page.title == "Sign in"


def test_invalid_cookies(app: Flask) -> None:
    for value in [
        "",
        "x",
        "canopy_ses_",
        "canopy_ses_" + "0" * 38,
        "\x00",
        "%00",
        "é",
        "x" * 10_000,
        "null",
    ]:
        for name in ("canopy_session", "canopy_known", "canopy_forms"):
            response = app.test_client().get(
                "/profile", headers=HTML | {"Cookie": f"{name}={value}"}
            )
            assert response.status_code == 303
            assert response.headers["Location"].startswith("/login")


def test_the_cookie_of_a_known_browser_cannot_be_forged(app: Flask) -> None:
    """Else anybody could evade the throttle by inventing browsers."""
    browser = sign_up(app, new_email("odd"))
    cookie = browser.client.get_cookie("canopy_known")
    assert cookie is not None
    body, _, signature = cookie.value.rpartition(".")
    with app.test_request_context(headers={"Cookie": f"canopy_known={body}.{signature[::-1]}"}):
        from app.site.signed_in import known_browser

        assert known_browser() is None
    with app.test_request_context(headers={"Cookie": f"canopy_known={cookie.value}"}):
        assert known_browser() is not None
