"""Attacks on token endpoints. Each is rejected and gains nothing.

Afterwards the application's own code and tokens are still valid, unless the row says otherwise:
nobody can invalidate those of somebody else.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.make import Client
from tests.make.oauth import (
    ask_token,
    challenge_of,
)
from tests.oauth.attacks import ATTACKS, OTHER, Attack, Scene
from tests.oauth.support import api_status, assert_error


@pytest.fixture
def scene(client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(client, stranger, monkeypatch)


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.tries for attack in ATTACKS])
def test_attack_is_rejected_without_side_effects(scene: Scene, attack: Attack) -> None:
    response = attack.send(scene)
    assert_error(response, attack.error, attack.status)
    assert "canopy_o" not in response.get_data(as_text=True)
    if attack.ends == "all":
        return
    if attack.ends != "code":
        assert scene.exchange().status_code == 200
    fresh = scene.refresh()
    if attack.ends == "tokens":
        assert_error(fresh, "invalid_grant")
        assert api_status(scene.client, scene.tokens) == 401
    elif attack.ends != "refresh":
        assert api_status(scene.client, fresh.json) == 200
        assert api_status(scene.client, scene.tokens) == 200


def test_another_application_cannot_revoke_a_family_by_reusing_a_code(scene: Scene) -> None:
    first = scene.exchange().json
    for application in (scene.other, scene.public):
        assert_error(scene.exchange(application), "invalid_grant")
    assert_error(scene.exchange(client_secret="wrong"), "invalid_client", 401)
    assert api_status(scene.client, first) == 200


def test_another_application_cannot_revoke_a_family_by_reusing_a_refresh_token(
    scene: Scene,
) -> None:
    successor = scene.refresh().json
    scene.advance_clock(timedelta(minutes=1))
    assert_error(scene.refresh(scene.other), "invalid_grant")
    assert_error(scene.refresh(client_secret="wrong"), "invalid_client", 401)
    assert api_status(scene.client, successor) == 200
    assert scene.refresh(refresh_token=successor["refresh_token"]).status_code == 200


def test_an_intercepted_code_cannot_be_injected(scene: Scene) -> None:
    """Code injection: the honest application sends the verifier of its own request."""
    caught = scene.code_for(scene.own, code_challenge=challenge_of(OTHER))
    assert_error(scene.exchange(code=caught), "invalid_grant")


@pytest.mark.parametrize("path", ["/oauth/revoke", "/oauth/introspect"])
@pytest.mark.parametrize("proof", [{}, {"client_secret": "x"}, {"client_id": "app_x"}])
def test_other_endpoints_require_authentication(
    scene: Scene, path: str, proof: dict[str, str]
) -> None:
    proof = proof or {"client_secret": ""}
    response = ask_token(scene.app, scene.own, path, token=scene.tokens["access_token"], **proof)
    assert_error(response, "invalid_client", 401)
    assert api_status(scene.client, scene.tokens) == 200


@pytest.mark.parametrize("place", ["query", "form", "cookie"])
def test_an_access_token_is_accepted_in_the_header_only(scene: Scene, place: str) -> None:
    token = scene.tokens["access_token"]
    query = f"?access_token={token}" if place == "query" else ""
    headers = {"Cookie": f"access_token={token}"} if place == "cookie" else {}
    options = {"data": {"access_token": token}} if place == "form" else {}
    response = scene.client.nobody().get(f"/v1/projects{query}", headers=headers, **options)
    assert response.status_code in (400, 401, 415)
