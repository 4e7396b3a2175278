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


def assert_rejected(scene: Scene, attack: Attack) -> None:
    response = attack.send(scene)
    assert_error(response, attack.error, attack.status)
    assert "canopy_o" not in response.get_data(as_text=True)


def test_attacks_are_rejected_without_side_effects(scene: Scene, subtests: pytest.Subtests) -> None:
    for attack in ATTACKS:
        if not attack.ends:
            with subtests.test(attack.tries):
                assert_rejected(scene, attack)
                assert api_status(scene.client, scene.tokens) == 200
    assert scene.exchange().status_code == 200
    fresh = scene.refresh()
    assert api_status(scene.client, fresh.json) == 200
    assert api_status(scene.client, scene.tokens) == 200


ENDING = {attack.tries: attack for attack in ATTACKS if attack.ends}


@pytest.mark.parametrize("tries", ENDING)
def test_attacks_that_end_something_are_rejected(scene: Scene, tries: str) -> None:
    attack = ENDING[tries]
    assert_rejected(scene, attack)
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


def test_other_endpoints_require_authentication(scene: Scene) -> None:
    token = scene.tokens["access_token"]
    for path in ("/oauth/revoke", "/oauth/introspect"):
        for proof in ({"client_secret": ""}, {"client_secret": "x"}, {"client_id": "app_x"}):
            response = ask_token(scene.app, scene.own, path, token=token, **proof)
            assert_error(response, "invalid_client", 401)
    assert api_status(scene.client, scene.tokens) == 200
