"""What has been tried against token endpoints: a corpus. Each row is refused, and gives nothing.

After each one the application still gets what is its own, unless the row says that the attack ends
it: nobody can spoil the code or the tokens of somebody else.
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
from tests.oauth.support import refused, status_with


@pytest.fixture
def scene(client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(client, stranger, monkeypatch)


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.tries for attack in ATTACKS])
def test_it_is_refused_and_spoils_nothing(scene: Scene, attack: Attack) -> None:
    response = attack.send(scene)
    refused(response, attack.error, attack.status)
    assert "canopy_o" not in response.get_data(as_text=True)
    if attack.ends == "all":
        return
    if attack.ends != "code":
        assert scene.exchange().status_code == 200
    fresh = scene.refresh()
    if attack.ends == "tokens":
        refused(fresh, "invalid_grant")
        assert status_with(scene.client, scene.tokens) == 401
    elif attack.ends != "refresh":
        assert status_with(scene.client, fresh.json) == 200
        assert status_with(scene.client, scene.tokens) == 200


def test_another_application_cannot_end_a_family_by_a_replay(scene: Scene) -> None:
    first = scene.exchange().json
    for application in (scene.other, scene.public):
        refused(scene.exchange(application), "invalid_grant")
    refused(scene.exchange(client_secret="wrong"), "invalid_client", 401)
    assert status_with(scene.client, first) == 200


def test_another_application_cannot_end_a_family_by_an_old_refresh_token(scene: Scene) -> None:
    successor = scene.refresh().json
    scene.later(timedelta(minutes=1))
    refused(scene.refresh(scene.other), "invalid_grant")
    refused(scene.refresh(client_secret="wrong"), "invalid_client", 401)
    assert status_with(scene.client, successor) == 200
    assert scene.refresh(refresh_token=successor["refresh_token"]).status_code == 200


def test_a_code_that_is_caught_cannot_be_put_into_another_sign_in(scene: Scene) -> None:
    """Code injection: the honest application sends the verifier of its own request with it."""
    caught = scene.code_for(scene.own, code_challenge=challenge_of(OTHER))
    refused(scene.exchange(code=caught), "invalid_grant")


@pytest.mark.parametrize("path", ["/oauth/revoke", "/oauth/introspect"])
@pytest.mark.parametrize("proof", [{}, {"client_secret": "x"}, {"client_id": "app_x"}])
def test_the_other_endpoints_ask_for_proof_too(
    scene: Scene, path: str, proof: dict[str, str]
) -> None:
    proof = proof or {"client_secret": ""}
    response = ask_token(scene.app, scene.own, path, token=scene.tokens["access_token"], **proof)
    refused(response, "invalid_client", 401)
    assert status_with(scene.client, scene.tokens) == 200


@pytest.mark.parametrize("place", ["query", "form", "cookie"])
def test_an_access_token_is_taken_from_the_header_only(scene: Scene, place: str) -> None:
    token = scene.tokens["access_token"]
    query = f"?access_token={token}" if place == "query" else ""
    headers = {"Cookie": f"access_token={token}"} if place == "cookie" else {}
    options = {"data": {"access_token": token}} if place == "form" else {}
    response = scene.client.nobody().get(f"/v1/projects{query}", headers=headers, **options)
    assert response.status_code in (400, 401, 415)
