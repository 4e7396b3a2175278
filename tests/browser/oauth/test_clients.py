"""Complete flows with third-party clients."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from oauthlib.oauth2 import WebApplicationClient
from requests_oauthlib import OAuth2Session

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.oauth.running import SECONDS, Loopback, program
from tests.browser.oauth.woods import SCOPES, Application, Woods
from tests.make import new_email
from tests.node import HERE

pytestmark = pytest.mark.slow


@pytest.mark.trial
def test_requests_oauthlib_with_a_person_who_signs_up(
    visitor: Visitor,
    instance: Instance,
    application: Application,
    back: Loopback,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    session = OAuth2Session(application.id, redirect_uri=back.uri, scope=SCOPES)
    address, state = session.authorization_url(f"{instance.url}/oauth/authorize")
    visitor.go(address)
    visitor.page.locator("main").get_by_role("link", name="Sign up").click()
    assert visitor.path == "/register"
    sign_up(visitor, new_email(), account="Birch Hill")
    visitor.go(address)
    assert visitor.heading == f"{application.name} asks for access"
    assert "Birch Hill" in visitor.page.locator("main").inner_text()
    visitor.press("Allow")
    came = back.address()
    assert f"state={state}" in came
    tokens = session.fetch_token(
        f"{instance.url}/oauth/token",
        authorization_response=came,
        client_secret=application.secret,  # in the form, and also in the header
        include_client_id=True,
        auth=(application.id, application.secret or ""),
    )
    assert tokens["expires_in"] == 3600
    assert session.get(f"{instance.url}/v1/projects").json()["data"] == []
    assert session.get(f"{instance.url}/v1/account").json()["data"]["name"] == "Birch Hill"

    kept: list[dict[str, Any]] = []
    proof = {"client_id": application.id, "client_secret": application.secret}
    later = OAuth2Session(
        application.id,
        token=tokens | {"expires_at": time.time() - 1},
        auto_refresh_url=f"{instance.url}/oauth/token",
        auto_refresh_kwargs=proof,
        token_updater=kept.append,
    )
    assert later.get(f"{instance.url}/v1/projects").status_code == 200
    assert [token["access_token"] for token in kept] == [later.token["access_token"]]
    assert kept[0]["refresh_token"] != tokens["refresh_token"]
    url, headers, body = WebApplicationClient(application.id).prepare_token_revocation_request(
        f"{instance.url}/oauth/revoke", kept[0]["refresh_token"], "refresh_token"
    )
    secret = (application.id, application.secret or "")
    response = requests.post(url, body, headers=headers, auth=secret, timeout=SECONDS)
    assert response.status_code == 200, response.text
    for each in (session, later):
        assert each.get(f"{instance.url}/v1/projects").status_code == 401


@pytest.mark.trial
def test_authlib_without_a_secret(
    visitor: Visitor, instance: Instance, woods: Woods, back: Loopback
) -> None:
    application = woods.register("Notes", *SCOPES, public=True)
    kept: list[dict[str, Any]] = []
    session = AuthlibSession(
        application.id,
        token_endpoint_auth_method="none",
        token_endpoint=f"{instance.url}/oauth/token",
        redirect_uri=back.uri,
        scope=" ".join(SCOPES),
        code_challenge_method="S256",
        update_token=lambda token, **_: kept.append(token),
    )
    verifier = "a-verifier-of-more-than-forty-three-characters"
    address, state = session.create_authorization_url(
        f"{instance.url}/oauth/authorize", code_verifier=verifier
    )
    woods.ask(visitor, address)
    visitor.press("Allow")
    tokens = session.fetch_token(
        authorization_response=back.address(), code_verifier=verifier, state=state
    )
    assert session.get(f"{instance.url}/v1/projects").status_code == 200
    lacking = session.get(f"{instance.url}/v1/assets")
    assert lacking.status_code == 403
    assert 'error="insufficient_scope"' in lacking.headers["WWW-Authenticate"]
    session.token = tokens | {"expires_at": time.time() - 1}
    assert session.get(f"{instance.url}/v1/projects").status_code == 200
    assert [token["access_token"] for token in kept] == [session.token["access_token"]]
    session.revoke_token(
        f"{instance.url}/oauth/revoke", kept[0]["refresh_token"], token_type_hint="refresh_token"
    )
    assert session.get(f"{instance.url}/v1/projects").status_code == 401


def test_openid_client_with_a_secret(
    visitor: Visitor, instance: Instance, woods: Woods, application: Application, tmp_path: Path
) -> None:
    settings = {
        "PATH": os.environ["PATH"],
        "CANOPY": instance.url,
        "CLIENT_ID": application.id,
        "CLIENT_SECRET": application.secret,
    }
    running = program("javascript", (HERE / "openid_client.mjs").read_text(), tmp_path, settings)
    woods.ask(visitor, running.address())
    visitor.press("Allow")
    seen = json.loads(running.finish())
    assert '"iss"' in seen["ofAnother"]
    assert '"iss"' in seen["ofNobody"]
    assert '"state"' in seen["withAnotherState"]
    assert seen["first"]["expires_in"] == 3600
    assert seen["first"]["scope"] == " ".join(SCOPES)
    assert seen["account"]["body"]["data"]["id"] == woods.account_id
    assert seen["projects"]["status"] == seen["refreshed"]["status"] == 200
    for path in ("/v1/assets", "/ogc/collections/assets/items"):
        expected = {"realm": "canopy", "error": "insufficient_scope", "scope": "assets:read"}
        assert seen[path] == {"scheme": "bearer", "parameters": expected}
    assert seen["differ"] == [True, True]
    assert seen["introspected"]["active"] is True
    assert seen["introspected"]["client_id"] == application.id
    assert seen["revoked"] == [False, 401]
    assert seen["others"] == [True, True]
    assert seen["ended"] == [False, False]
    assert seen["endedStatus"] == 401
    assert seen["afterwards"] == "invalid_grant"
