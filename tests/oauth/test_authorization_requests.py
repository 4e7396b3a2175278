"""Authorization requests that are not right, of which the application is told."""

from __future__ import annotations

import pytest

from tests.make import (
    Application,
    Browser,
    Client,
    make_application,
)
from tests.oauth.support import address_of, browser_of, sent_back


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": '"ü\\'}, "unsupported_response_type"),
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
    ],
)
def test_what_is_wrong_is_told_to_the_application(
    client: Client, application: Application, fields: dict[str, str | None], error: str
) -> None:
    answer = sent_back(Browser(client.app).get(address_of(application, **fields), follow=False))
    assert answer["error"] == error
    assert answer["state"] == "xyz"
    assert answer["iss"] == client.app.config["SETTINGS"].public_url
    assert answer.get("error_description", "").isascii()


def test_a_scope_that_the_application_has_not_registered(client: Client) -> None:
    application = make_application(client, scopes=["projects:read"])
    asked = address_of(application, scope="projects:read assets:read")
    answer = sent_back(Browser(client.app).get(asked, follow=False))
    assert answer["error"] == "invalid_scope"


@pytest.mark.parametrize(
    "more", ["scope=profile", "state=other", "response_type=code", "code_challenge=x", "x=1&x=2"]
)
def test_a_repeated_parameter_is_told(client: Client, application: Application, more: str) -> None:
    page = Browser(client.app).get(f"{address_of(application)}&{more}", follow=False)
    answer = sent_back(page)
    assert answer["error"] == "invalid_request"
    assert ("state" in answer) is not more.startswith("state")


@pytest.mark.parametrize(
    "more", ["x=%00", "x=%ff", "state2=%ED%A0%80", "x=" + "y" * 2_001, "x" * 3_000, "x&" * 60]
)
def test_what_cannot_be_read_is_a_page(client: Client, application: Application, more: str) -> None:
    page = Browser(client.app).get(f"{address_of(application)}&{more}", follow=False)
    assert page.status == 400
    assert page.response.mimetype == "text/html"


def test_pkce_is_optional_with_a_secret_and_required_without(client: Client) -> None:
    without = {"code_challenge": None, "code_challenge_method": None}
    browser = browser_of(client)
    page = browser.get(address_of(make_application(client), **without))
    assert page.status == 200
    public = make_application(client, public=True)
    answer = sent_back(browser.get(address_of(public, **without), follow=False))
    assert answer["error"] == "invalid_request"
