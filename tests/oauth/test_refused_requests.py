"""Errors of authorization requests lead to no application that the person has not consented to.

Anybody who registers one would have links on this service's name that lead wherever they like
(RFC 9700, section 4.11.2).
"""

from __future__ import annotations

import itertools

import pytest

from tests.make import Application, Browser, Client, make_application, make_member
from tests.oauth.support import (
    authorize_url,
    browser_of,
    code_of,
    consented_browser,
    link_query,
    redirect_query,
)

WRONG = [
    {"scope": "nope"},
    {"prompt": "none"},
    {"prompt": "none consent"},
    {"response_type": "token"},
    {"response_mode": "fragment"},
    {"request": "eyJ.x.y"},
    {"code_challenge": "short"},
]


def test_nobody_is_redirected_without_consent(client: Client, application: Application) -> None:
    browsers = (Browser(client.app), browser_of(client))
    for browser, fields in itertools.product(browsers, WRONG):
        page = browser.get(authorize_url(application, **fields), follow=False)
        answer = link_query(page)
        assert "Map of Woods got no access" in page.text
        assert answer["error_description"] in page.text
        assert "Back to client.example" in page.text
        assert (answer["state"], "error" in answer, "iss" in answer) == ("xyz", True, True)
        assert page.response.headers["Cache-Control"] == "no-store"


def test_whoever_has_consented_is_redirected(client: Client, application: Application) -> None:
    browser = consented_browser(client, application)
    for fields in WRONG:
        page = browser.get(authorize_url(application, **fields), follow=False)
        assert redirect_query(page).keys() == {"error", "error_description", "state", "iss"}


@pytest.mark.both
def test_only_ones_own_consent_to_this_application_and_uri_counts(
    client: Client, application: Application
) -> None:
    elsewhere = "https://elsewhere.example/back"
    own = make_application(client, redirect_uris=(application.redirect_uri, elsewhere))
    code_of(client, application, scope="profile")
    browser, member = browser_of(client), make_member(client, "viewer")
    link_query(browser.get(authorize_url(own, scope="nope"), follow=False))
    other = browser_of(client, member.id)
    link_query(other.get(authorize_url(application, scope="nope"), follow=False))
    code_of(client, own, scope="profile")
    redirect_query(browser.get(authorize_url(own, scope="nope"), follow=False))
    url = authorize_url(own, redirect_uri=elsewhere, scope="nope")
    link_query(browser.get(url, follow=False), elsewhere)  # the consent was to the other one


def test_a_program_on_the_device_is_named_as_such(client: Client) -> None:
    uri = "com.example.notes:/back"
    native = make_application(client, public=True, redirect_uris=(uri,))
    page = Browser(client.app).get(authorize_url(native, prompt="none"), follow=False)
    assert link_query(page, uri)["error"] == "login_required"
    assert "Back to a program on this device, com.example.notes:" in page.text
