"""Common to all pages: CSRF protection, framing, error pages."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.db import queries
from app.policy.forms import FORM_BYTES
from tests.make import Browser, Client, make_member, new_email, second_app, sign_up
from tests.make.browser import PASSWORD
from tests.oauth.support import browser_of

POSTS = (
    "/login", "/register", "/forgot-password", "/logout", "/profile/name", "/profile/password",
    "/profile/verify-email", "/profile/sessions/end-others", "/accounts", "/accounts/switch",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(app: Flask) -> Browser:
    """The browser of a signed-in person."""
    return sign_up(app, new_email("page"))


def test_a_post_from_another_site_is_rejected(browser: Browser) -> None:
    token = browser.get("/profile").form("/logout").fields
    foreign = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    sent = [(path, foreign[0]) for path in POSTS] + [("/profile/name", each) for each in foreign]
    for path, headers in sent:
        page = browser.send(path, headers, **token)
        assert page.status == 403, (path, headers)
        assert "another site" in page.text


def test_the_csrf_token_of_another_browser_is_invalid(app: Flask, browser: Browser) -> None:
    """Else a person could be signed in as the attacker without noticing (login CSRF)."""
    attacker = Browser(app)
    token = {"csrf_token": attacker.get("/login").form().fields["csrf_token"]}
    for path in ("/login", "/register"):
        assert Browser(app).send(path, **token, email="a@example.org").status == 403
    assert browser.send("/logout", **token).status == 403


def test_a_form_of_this_service_is_accepted(browser: Browser) -> None:
    for origin in ["http://localhost", "http://127.0.0.1:8000"]:
        token = browser.get("/profile").form("/logout").fields
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
        assert browser.send("/profile/name", headers, **token, name="Ash").status == 303


@pytest.mark.slow
def test_with_a_public_url_the_host_that_a_request_names_is_not_believed(app: Flask) -> None:
    with second_app(app, public_url="http://forest.example.org", public_url_is_set=True) as named:
        person = sign_up(named, new_email("page"))
        token = person.get("/profile").form("/logout").fields
        cookies = {
            name: cookie.value
            for name in ("canopy_session", "canopy_forms")
            if (cookie := person.client.get_cookie(name))
        }
        for host, origin, status in (
            ("forest.example.org", "http://forest.example.org", 303),
            ("localhost", "http://forest.example.org", 303),  # by a proxy that names itself
            ("localhost", "http://localhost", 403),
            ("evil.example", "http://evil.example", 403),
            ("forest.example.org", "http://forest.example.org:8000", 403),
            ("forest.example.org", "https://forest.example.org", 403),
        ):
            browser = Browser(named)
            for name, value in cookies.items():
                browser.client.set_cookie(name, value, domain=host)
            headers = {"Host": host, "Origin": origin}
            page = browser.send("/profile/name", headers, **token, name="Ash")
            assert page.status == status
            if origin == f"http://{host}" and status == 403:
                assert "Open http://forest.example.org and try again." in page.text
                assert host not in page.text
            elif status == 403:
                assert "another site" in page.text


def test_signing_in_invalidates_earlier_forms(app: Flask) -> None:
    browser = Browser(app)
    before = browser.get("/login").form().fields
    email = new_email("page")
    sign_up(app, email)
    browser.submit(email=email, password=PASSWORD)
    assert browser.send("/logout", **before).status == 403


def test_a_form_that_was_loaded_in_another_account_is_refused(
    app: Flask, subtests: pytest.Subtests
) -> None:
    browser = sign_up(app, new_email("page"))
    paths = "/projects/new", "/members/invite", "/webhooks/new", "/settings"
    loaded = {path: browser.get(path.removesuffix("/invite")).form(path).fields for path in paths}
    typed = {"name": "Hazel", "email": new_email("page"), "role": "viewer"}
    browser.get("/accounts")
    browser.submit("/accounts", account_name="Second Wood", account_slug="")  # in another tab
    for path, fields in loaded.items():
        with subtests.test(path):
            page = browser.send(path, **fields | typed)
            assert page.status == 403
            assert "Switch to that account, and send it again." in page.text
    browser.submit("/accounts/switch", press=loaded["/settings"]["account"])
    assert browser.send("/projects/new", **loaded["/projects/new"] | typed).status == 303


def test_pages_are_not_framed_or_cached(browser: Browser) -> None:
    for path in ["/login", "/register", "/profile", "/accounts", "/nothing"]:
        headers = browser.get(path, follow=False).response.headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"


def test_pages_load_nothing_from_other_hosts(browser: Browser) -> None:
    for path in ["/login", "/register", "/profile", "/accounts"]:
        text = browser.get(path, follow=False).response.get_data(as_text=True)
        for mark in ('src="http', 'href="http', "url(http", "<script>", "style="):
            assert mark not in text


def test_a_form_that_is_too_long_is_rejected(app: Flask) -> None:
    browser = Browser(app)
    browser.get("/login")
    page = browser.submit(email="a@example.org", password="x" * FORM_BYTES)
    assert page.status == 413


def test_a_browser_gets_a_404_page(app: Flask) -> None:
    for accept in ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html"]:
        response = app.test_client().get("/nothing", headers={"Accept": accept})
        assert response.status_code == 404
        assert response.mimetype == "text/html"
        assert response.headers["X-Request-Id"] in response.get_data(as_text=True)


def test_an_error_page_shows_who_is_signed_in(
    app: Flask, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"/projects", "/profile"} <= set(browser.get("/nothing").links)
    assert "/login" in Browser(app).get("/nothing").links

    def fail(*arguments: object) -> None:
        raise OperationalError("", {}, Exception("the database is down"))

    monkeypatch.setattr(queries, "_execute_statement", fail)
    page = browser.get("/nothing")
    assert (page.status, page.title) == (404, "Page not found")


def test_a_program_gets_json(app: Flask) -> None:
    for accept in ["*/*", "application/json", "", "application/json, text/html"]:
        response = app.test_client().get("/nothing", headers={"Accept": accept})
        assert response.status_code == 404
        assert response.json["error"]["code"] == "NOT_FOUND"


def test_the_api_returns_json_to_browsers_too(app: Flask) -> None:
    for path in ["/v1/projects", "/v1/nothing", "/api/nothing", "/metrics"]:
        response = app.test_client().get(path, headers={"Accept": "text/html"})
        assert response.mimetype == "application/json"


def test_a_page_that_is_closed_is_not_called_an_action(client: Client) -> None:
    viewer = browser_of(client, make_member(client, "viewer").id)
    token = viewer.get("/profile").form("/logout").fields
    page = viewer.get("/api-keys")
    assert (page.status, page.title) == (403, "You cannot open this page")
    page = viewer.send("/api-keys/new", **token)
    assert (page.status, page.title) == (403, "You are not allowed to do this")


@pytest.mark.provokes(500)
def test_a_bug_gives_a_page_without_details(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret internals")

    monkeypatch.setattr("app.pages.sign_in.views.LoginSchema", fail)
    response = app.test_client().get("/login", headers={"Accept": "text/html"})
    assert response.status_code == 500
    text = response.get_data(as_text=True)
    assert "Something went wrong" in text
    assert "secret" not in text


def test_a_rejected_field_is_described_by_its_message(app: Flask) -> None:
    browser = Browser(app)
    browser.get("/register")
    html = browser.submit(email="nobody").response.text
    (field,) = re.findall(r'<input id="email"[^>]*>', html)
    assert 'aria-invalid="true"' in field
    described = re.findall(r'aria-describedby="[^"]*?([^" ]+)"', field)
    (message,) = re.findall(rf'id="{described[0]}">(.*)</p>', html)
    assert "jo@example.org" in message


@pytest.mark.provokes(503)
def test_without_the_database_a_browser_gets_a_503_page(app: Flask) -> None:
    gone = "sqlite:////nowhere/at/all.sqlite3"
    with second_app(app, database_url=gone) as broken:
        client = broken.test_client()
        client.set_cookie("canopy_session", _token())
        response = client.get("/profile", headers={"Accept": "text/html"})
    assert response.status_code == 503
    assert "Temporarily unavailable" in response.get_data(as_text=True)
    assert response.headers["Retry-After"]


def _token() -> str:
    from app.security import tokens

    return tokens.new_token(tokens.SESSION)


def test_cookies_do_not_authenticate_api_requests(app: Flask, browser: Browser) -> None:
    """Other sites can make the browser send them."""
    for path in ("/v1/projects", "/v1/account", "/v1/auth/verify"):
        assert browser.client.get(path).status_code == 401
