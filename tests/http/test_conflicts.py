"""Every 403 and 409 has a code for its cause."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from app.http.errors import Conflict, Forbidden
from app.policy.causes import CONFLICTS, FORBIDDEN
from tests.architecture.sources import dotted, sources
from tests.make import Client, make_project, make_webhook


def raised(kind: str) -> Iterator[str]:
    """The cause of each error of a kind that the code makes."""
    for source in sources().values():
        if f"{kind}(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and dotted(node.func).endswith(kind):
                yield ast.literal_eval(node.args[0])


def detail_of(response: Any) -> dict[str, str]:
    assert response.status_code == 409
    error = response.json["error"]
    (detail,) = error["details"]
    assert detail["message"] == error["message"]
    return dict(detail)


def test_every_cause_is_known_and_used() -> None:
    assert {*raised("Conflict"), "still_running"} == set(CONFLICTS)  # StillRunning
    assert set(raised("Forbidden")) == set(FORBIDDEN)


def test_an_unknown_cause_is_a_defect() -> None:
    with pytest.raises(AssertionError):
        Conflict("bees", "status", "Bees.")
    with pytest.raises(AssertionError):
        Forbidden("bees", "Bees.")


def test_states(client: Client) -> None:
    path = f"/v1/projects/{make_project(client)['id']}"
    assert detail_of(client.delete(path))["code"] == "not_archived"
    client.post(f"{path}/archive")
    assert detail_of(client.post(f"{path}/archive"))["code"] == "archived"
    owner = client.get(f"/v1/account/members/{client.owner_id}").json["data"]
    invited = client.post(
        "/v1/account/members/invite", json={"email": owner["email"], "role": "viewer"}
    )
    assert (detail_of(invited)["code"], detail_of(invited)["id"]) == (
        "already_member",
        client.owner_id,
    )
    webhook = make_webhook(client, enabled=False)
    replay = client.post(
        f"/v1/webhooks/{webhook['id']}/replay", json={"since": "2026-01-01T00:00:00Z"}
    )
    assert detail_of(replay)["code"] == "disabled"
