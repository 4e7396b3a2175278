"""Applications: registered in a page, used by a real client, and given up again."""

from __future__ import annotations

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session

from tests.browser.application_scenes import consent_path, register
from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.running import SECONDS, loopback
from tests.browser.test_keyboard import open_menu, press, reach, write

pytestmark = pytest.mark.slow

BACK = "http://127.0.0.1/back"  # requests add a port
SCOPES = ["profile", "projects:read", "offline_access"]


def introspect(instance: Instance, client_id: str, secret: str, token: str) -> int:
    """The status of a request that an application sends with a secret."""
    url = f"{instance.url}/oauth/introspect"
    proof = (client_id, secret)
    return requests.post(url, {"token": token}, auth=proof, timeout=SECONDS).status_code


def test_an_application_is_registered_and_used_until_its_access_is_revoked(
    forester: Visitor, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    page = forester.go("/applications")
    page.get_by_role("link", name="Register an application").click()
    forester.fill(name="Map of Woods", redirect_uris=f"{BACK}\nhttps://map.example.org/back")
    for scope in SCOPES:
        page.locator(f"[value='{scope}']").check()
    forester.press("Register")
    assert forester.heading == "Map of Woods is registered"
    client_id, old = (page.locator(f"#client-{name}").inner_text() for name in ("id", "secret"))
    token_url = page.locator("#token-url").inner_text()
    page.reload()
    assert forester.path == f"/applications/{client_id}"
    assert "was sent before" in page.get_by_role("status").inner_text()

    with loopback() as back:
        session = OAuth2Session(client_id, old, scope=SCOPES, redirect_uri=back.uri)
        address, state = session.create_authorization_url(f"{instance.url}/oauth/authorize")
        forester.go(address)
        assert forester.heading == "Map of Woods asks for access"
        forester.press("Allow")
        tokens = session.fetch_token(token_url, authorization_response=back.address(), state=state)
    me = session.get(f"{instance.url}/v1/me")
    assert me.status_code == 200
    assert me.json()["data"]["name"] == "Jo Hazel"

    forester.go(f"/applications/{client_id}")
    assert "1 person, over all accounts" in page.locator("main").inner_text()
    forester.press("Rotate the secret…")
    forester.press("Rotate")
    new = page.locator("#client-secret").inner_text()
    assert new != old
    answers = [introspect(instance, client_id, each, tokens["access_token"]) for each in (old, new)]
    assert answers == [200, 200]
    session.refresh_token(token_url, tokens["refresh_token"])  # with the former secret
    page.reload()
    assert "was not rotated again" in page.get_by_role("status").inner_text()
    forester.press("End the former one now…")
    forester.press("End it now")
    assert page.get_by_role("status").inner_text() == "Only the present secret works now."
    answers = [introspect(instance, client_id, each, "x") for each in (old, new)]
    assert answers == [401, 200]

    assert session.get(f"{instance.url}/v1/me").status_code == 200
    page = forester.go("/applications")
    page.get_by_role("button", name="Revoke access").click()
    forester.press("Revoke access")
    assert page.get_by_role("status").inner_text() == "Access revoked."
    assert session.get(f"{instance.url}/v1/me").status_code == 401


@pytest.mark.trial
def test_access_that_a_change_ends_is_named_before(forester: Visitor, instance: Instance) -> None:
    client_id = register(forester, "Map of Woods", f"{instance.url}/docs")
    page = forester.page
    forester.go(consent_path(client_id, f"{instance.url}/docs"))
    forester.press("Allow")
    page.wait_for_url("**/docs?code=*")
    forester.go(f"/applications/{client_id}")
    page.locator("[value='projects:read']").uncheck()
    forester.page.locator("#change").get_by_role("button", name="Save").click()
    notice = page.get_by_role("alert")
    assert "1 person granted what you take away" in notice.inner_text()
    notice.get_by_role("checkbox").check()
    notice.get_by_role("button", name="Save").click()
    assert "asked again" in page.get_by_role("status").inner_text()
    assert "none yet" in page.locator("main").inner_text()


@pytest.mark.trial
def test_an_application_by_keyboard(forester: Visitor) -> None:
    page = forester.go("/applications")
    press(forester, "Register an application")
    write(forester, Name="Map of Woods", Redirect_URIs="https://map.example.org/back")
    reach(forester, "See projects and check geometries projects:read")
    page.keyboard.press("Space")
    press(forester, "Register")
    assert forester.heading == "Map of Woods is registered"
    reach(forester, "Copy the client secret")
    secret = page.locator("#client-secret").inner_text()
    press(forester, "Done")
    open_menu(forester, "Rotate the secret…")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("0")
    press(forester, "Rotate")
    assert page.locator("#client-secret").inner_text() not in ("", secret)
    assert "The former secret no longer works." in page.locator("main").inner_text()
    open_menu(forester, "Delete…")
    press(forester, "Delete for good")
    assert page.get_by_role("status").inner_text() == "Map of Woods deleted."
    assert forester.path == "/applications"
