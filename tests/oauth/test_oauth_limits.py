"""Rate limits on errors of the OAuth endpoints."""

from __future__ import annotations

import pytest

from app.policy.tiers import OAUTH_REJECTIONS
from tests.make import Application, Client, make_application, second_app
from tests.make.oauth import code_form, refresh
from tests.oauth.support import assert_error, code_of

pytestmark = pytest.mark.one_database


def test_errors_per_address_are_limited(client: Client, application: Application) -> None:
    caller = client.app.test_client()
    form = application.proof | {"client_secret": "wrong", "grant_type": "refresh_token"}
    for left in reversed(range(OAUTH_REJECTIONS)):
        response = caller.post("/oauth/token", data=form)
        assert_error(response, "invalid_client", 401)
        assert response.headers["X-RateLimit-Remaining"] == str(left)
    response = caller.post("/oauth/introspect", data={"token": "x"})
    assert_error(response, "temporarily_unavailable", 429)
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    good = code_form(application, code_of(client, application)) | application.proof
    assert caller.post("/oauth/token", data=good).status_code == 200
    assert client.app.test_client().post("/oauth/token", data=form).status_code == 401


def test_authenticated_applications_are_not_limited(
    client: Client, application: Application
) -> None:
    """One server may refresh for many people, whose tokens may all have expired."""
    caller = client.app.test_client()
    form = application.proof | {"grant_type": "refresh_token", "refresh_token": "canopy_ort_x"}
    for _ in range(OAUTH_REJECTIONS + 5):
        response = caller.post("/oauth/token", data=form)
        assert_error(response, "invalid_grant")
        assert "X-RateLimit-Limit" not in response.headers


def test_errors_of_public_applications_are_counted(client: Client) -> None:
    public = make_application(client, public=True)
    response = refresh(client.app, public, "canopy_ort_x")
    assert response.headers["X-RateLimit-Remaining"] == str(OAUTH_REJECTIONS - 1)


def test_limits_can_be_disabled(client: Client) -> None:
    with second_app(client.app, rate_limit_disabled=True) as app:
        caller = app.test_client()
        for _ in range(OAUTH_REJECTIONS + 2):
            assert caller.post("/oauth/token", data={"client_id": "x"}).status_code == 400
