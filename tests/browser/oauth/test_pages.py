"""Consenting, denying and revoking on the OAuth pages, without scripts."""

from __future__ import annotations

import pytest
import requests
from playwright.sync_api import Request

from app.policy.oauth_errors import Description
from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.running import Loopback
from tests.browser.oauth.woods import (
    SCOPES,
    Application,
    Tokens,
    Woods,
    authorization_address,
    call,
    exchange,
    numbers,
    refresh,
    revoke_access,
    status,
    with_access,
)
from tests.browser.test_people import new_address
from tests.make.browser import PASSWORD


def test_denying_gives_the_application_nothing(
    visitor: Visitor, instance: Instance, woods: Woods, application: Application, back: Loopback
) -> None:
    address = authorization_address(
        instance, application, back.uri, scope="profile", state="a+b/c="
    )
    woods.ask(visitor, address)
    visitor.press("Deny")
    assert back.response() == {
        "error": "access_denied",
        "error_description": Description.DENIED,
        "state": "a+b/c=",
        "iss": instance.url,
    }
    assert application.name not in with_access(visitor).inner_text()


@pytest.mark.slow
def test_consent_is_remembered_until_revoked(
    visitor: Visitor, instance: Instance, woods: Woods, application: Application, back: Loopback
) -> None:
    address = authorization_address(
        instance, application, back.uri, scope="projects:read offline_access"
    )
    woods.ask(visitor, address)
    visitor.press("Allow")
    first = exchange(instance, application, back)
    visitor.go(address)
    assert visitor.page.url.startswith(back.uri)
    second = exchange(instance, application, back)
    visitor.go(authorization_address(instance, application, back.uri, scope=" ".join(SCOPES)))
    assert visitor.heading == f"{application.name} asks for access"
    visitor.press("Deny")
    assert back.response()["error"] == "access_denied"
    assert status(instance, first) == status(instance, second) == 200

    shown = with_access(visitor, application.name)
    assert "See projects and check geometries" in shown.inner_text()
    assert "Keep access while you are away" in shown.inner_text()
    assert "last used" in shown.inner_text()
    revoke_access(visitor, application.name)
    for tokens in (first, second):
        assert status(instance, tokens) == 401
        assert refresh(instance, application, tokens)["error"] == "invalid_grant"
    visitor.go(address)
    assert visitor.heading == f"{application.name} asks for access"


@pytest.mark.trial
@pytest.mark.parametrize("mistakes", [0, 1])
def test_signing_in_redirects_straight_back_if_consent_is_remembered(
    visitor: Visitor,
    instance: Instance,
    woods: Woods,
    application: Application,
    back: Loopback,
    mistakes: int,
) -> None:
    """From the sign-in form through the consent page to the application: browsers apply the
    ``form-action`` of the first page to the last redirect.
    """
    address = authorization_address(instance, application, back.uri, scope="profile")
    woods.ask(visitor, address)
    visitor.press("Allow")
    assert "code" in back.response()
    visitor.context.clear_cookies()
    visitor.go(address)
    for _ in range(mistakes):
        visitor.fill(email=woods.owner, password="not that one")
        visitor.press("Sign in")
        visitor.page.locator("[aria-invalid]").first.wait_for()
    woods.enter(visitor)
    visitor.page.wait_for_url(f"{back.uri}?**")
    assert "code" in back.response()


@pytest.mark.parametrize("uri", ["http://[::1]:9/back", "com.example.notes:/back"])
def test_forms_redirect_to_uris_that_a_policy_cannot_express(
    visitor: Visitor, instance: Instance, woods: Woods, uri: str
) -> None:
    """The consent form, and then the sign-in form."""
    application = woods.register("Field notes", "profile", uri=uri)
    address = authorization_address(instance, application, uri, scope="profile")

    def is_led_on(sent: Request) -> bool:
        return sent.url.startswith(f"{uri}?code=")

    woods.ask(visitor, address)
    with visitor.page.expect_request(is_led_on):
        visitor.press("Allow")
    visitor.context.clear_cookies()
    visitor.page = visitor.context.new_page()  # the other one still waits for somebody to answer
    visitor.go(address)
    with visitor.page.expect_request(is_led_on):
        woods.enter(visitor)


@pytest.mark.trial
def test_a_lower_role_revokes_consents_and_a_higher_one_does_not(
    visitor: Visitor, instance: Instance, woods: Woods, back: Loopback
) -> None:
    scopes = ("projects:write", "offline_access")
    application = woods.register("Planting", *scopes)
    address = authorization_address(instance, application, back.uri, scope=" ".join(scopes))
    guest = new_address(instance)
    invited = call(
        *(instance, woods.key, "/v1/account/members/invite", "POST"),
        json={"email": guest, "role": "editor"},
    )
    assert invited.status_code == 201, invited.text
    member = f"/v1/account/members/{invited.json()['data']['id']}"

    def create(tokens: Tokens) -> requests.Response:
        name = {"name": f"Planting {next(numbers)}"}
        return call(instance, tokens["access_token"], method="POST", json=name)

    visitor.go(address)
    assert visitor.heading == "Sign in"
    visitor.go(instance.link_to(guest))
    visitor.fill(name="Kim Alder", password=PASSWORD)
    visitor.press("Join")
    visitor.go(address)
    assert "where you are an editor" in visitor.page.locator("main").inner_text()
    visitor.press("Allow")
    tokens = exchange(instance, application, back)
    assert create(tokens).status_code == 201

    lower = call(instance, woods.key, member, "PUT", json={"role": "viewer"})
    assert lower.status_code == 200, lower.text
    assert create(tokens).status_code == 401
    assert refresh(instance, application, tokens)["error"] == "invalid_grant"
    visitor.go("/applications")
    assert visitor.heading == "Sign in"
    visitor.fill(email=guest, password=PASSWORD)
    visitor.press("Sign in")
    assert (
        "No application has access to your accounts." in visitor.page.locator("main").inner_text()
    )

    visitor.go(address)
    assert "where you are a viewer" in visitor.page.locator("main").inner_text()
    visitor.press("Allow")
    tokens = exchange(instance, application, back)
    assert status(instance, tokens) == 200
    rejected = create(tokens)
    assert rejected.status_code == 403
    assert "projects:write" in rejected.json()["error"]["message"]
    higher = call(instance, woods.key, member, "PUT", json={"role": "editor"})
    assert higher.status_code == 200, higher.text
    assert create(tokens).status_code == 201
    assert "access_token" in refresh(instance, application, tokens)
    visitor.go("/applications")
    assert "Planting" in visitor.page.locator("main").inner_text()
