"""Helpers for OAuth tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.db.extensions import db
from app.values import clock
from tests.make import (
    Application,
    Browser,
    Client,
    bearer,
    grant_tokens,
    make_member,
    signed_in_browser,
)
from tests.make.browser import Page
from tests.make.oauth import BACK, grant_code, request_of

OFFLINE = ("projects:read", "offline_access")


def code_of(client: Client, application: Application, **fields: str | None) -> str:
    """A code that the account's owner granted."""
    return grant_code(client.app, application, client.owner_id, client.account_id, **fields)


def tokens_of(
    client: Client, application: Application, scopes: tuple[str, ...] = OFFLINE
) -> dict[str, Any]:
    """Tokens that the account's owner granted."""
    return grant_tokens(client.app, application, client.owner_id, client.account_id, scopes)


def api_status(client: Client, response: dict[str, Any]) -> int:
    """The status of an API request with the access token in a token response."""
    return bearer(client, response["access_token"]).get("/v1/projects").status_code


def advance_clock(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Advance the clock."""
    moment = clock.now() + by
    monkeypatch.setattr(clock, "now", lambda: moment)


def assert_error(response: TestResponse, error: str, status: int = 400) -> None:
    """Assert that a response is this error, in the format of OAuth."""
    assert (response.status_code, response.json["error"]) == (status, error), response.json
    assert set(response.json) == {"error", "error_description"}
    assert response.json["error_description"]
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Type"] == "application/json"
    assert ("WWW-Authenticate" in response.headers) is (status == 401)


def rows(client: Client, statement: str, **values: Any) -> list[Any]:
    """The rows that a statement selects."""
    with client.app.app_context():
        return list(db.session.execute(text(statement), values))


def second_account(client: Client, stranger: Client) -> str:
    """Make the owner of ``client`` a viewer of the other account. Returns its id."""
    email = rows(client, "SELECT email FROM users WHERE id = :id", id=client.owner_id)[0][0]
    make_member(stranger, "viewer", email=email)
    return stranger.account_id


def browser_of(client: Client, user_id: str | None = None) -> Browser:
    """The browser of the account's owner, or of another person, signed in."""
    return signed_in_browser(client.app, user_id or client.owner_id, client.account_id)


def consented_browser(client: Client, application: Application) -> Browser:
    """The browser of the account's owner, who has granted the application one of its scopes."""
    code_of(client, application, scope=application.scopes[0])
    return browser_of(client)


def authorize_url(application: Application, **fields: str | None) -> str:
    """The URL of an authorization request; ``fields`` as in ``request_of``."""
    return f"/oauth/authorize?{urlencode(request_of(application, **fields))}"


def redirect_query(page: Page, uri: str = BACK) -> dict[str, str]:
    """The parameters with which a page redirects to an application."""
    assert page.status in (302, 303), page.text
    return _query_of(page.response.headers["Location"], uri)


def link_query(page: Page, uri: str = BACK) -> dict[str, str]:
    """The parameters in the link of a page back to an application, whose request it refuses."""
    assert page.status == 400, page.text
    assert "Location" not in page.response.headers
    (link,) = [each for each in page.links if each.startswith(uri)]
    return _query_of(link, uri)


def _query_of(location: str, uri: str) -> dict[str, str]:
    assert location.startswith(uri)
    pairs = parse_qsl(urlsplit(location).query, keep_blank_values=True, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)
