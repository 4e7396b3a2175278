"""Invalid authorization requests that are reported to the application."""

from __future__ import annotations

from tests.make import (
    Application,
    Browser,
    Client,
    make_application,
)
from tests.oauth.support import authorize_url, browser_of, consented_browser, redirect_query


def test_errors_are_reported_to_the_application(client: Client, application: Application) -> None:
    browser, issuer = (
        consented_browser(client, application),
        client.app.config["SETTINGS"].public_url,
    )
    for fields, error in (
        ({"response_type": None}, "invalid_request"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": '"ü\\'}, "unsupported_response_type"),
        ({"request": "eyJ.x.y"}, "request_not_supported"),
        ({"request": "eyJ.x.y", "response_type": None}, "request_not_supported"),
        ({"request_uri": "urn:example:x"}, "request_uri_not_supported"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": None}, "invalid_scope"),
        ({"scope": ""}, "invalid_scope"),
        ({"scope": " "}, "invalid_scope"),
        ({"scope": "bees"}, "invalid_scope"),
        ({"scope": "profile bees"}, "invalid_scope"),
        ({"scope": "projects:read,profile"}, "invalid_scope"),
        ({"scope": "projects:read\tprofile"}, "invalid_scope"),
        ({"scope": "PROFILE"}, "invalid_scope"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "members:write"}, "invalid_scope"),
        ({"scope": "offline_accessre"}, "invalid_scope"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"code_challenge": "=" * 43}, "invalid_request"),
        ({"code_challenge": "ü" * 43}, "invalid_request"),
    ):
        response = redirect_query(browser.get(authorize_url(application, **fields), follow=False))
        assert response["error"] == error, fields
        assert (response["state"], response["iss"]) == ("xyz", issuer), fields
        assert response["error_description"].isascii(), fields


def test_unregistered_scope(client: Client) -> None:
    application = make_application(client, scopes=["projects:read"])
    url = authorize_url(application, scope="projects:read assets:read")
    response = redirect_query(consented_browser(client, application).get(url, follow=False))
    assert response["error"] == "invalid_scope"


def test_repeated_parameter(client: Client, application: Application) -> None:
    browser, address = consented_browser(client, application), authorize_url(application)
    for more in ("scope=profile", "state=other", "response_type=code", "x=1&x=2"):
        response = redirect_query(browser.get(f"{address}&{more}", follow=False))
        assert response["error"] == "invalid_request", more
        assert ("state" in response) is not more.startswith("state")


def test_unreadable_requests_get_an_error_page(client: Client, application: Application) -> None:
    browser, address = Browser(client.app), authorize_url(application)
    for more in ("x=%00", "x=%ff", "state2=%ED%A0%80", "x=" + "y" * 2_001, "x" * 3_000, "x&" * 60):
        page = browser.get(f"{address}&{more}", follow=False)
        assert page.status == 400, more[:20]
        assert page.response.mimetype == "text/html"


def test_pkce_is_optional_with_a_secret_and_required_without(client: Client) -> None:
    without = {"code_challenge": None, "code_challenge_method": None}
    browser = browser_of(client)
    page = browser.get(authorize_url(make_application(client), **without))
    assert page.status == 200
    public = make_application(client, public=True)
    browser = consented_browser(client, public)
    response = redirect_query(browser.get(authorize_url(public, **without), follow=False))
    assert response["error"] == "invalid_request"
