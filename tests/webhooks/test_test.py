"""Sending a test event."""

from __future__ import annotations

from typing import Any

from tests.make import Client, make_webhook


def _test(client: Client, webhook: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/v1/webhooks/{webhook['id']}/test")
    assert answer.status_code == 200
    return answer.json["data"]


def test_an_empty_body_is_accepted_and_any_field_rejected(client: Client) -> None:
    path = f"/v1/webhooks/{make_webhook(client)['id']}/test"
    assert client.post(path, json={}).status_code == 200
    assert client.post(path, json={"event_type": "project.created"}).status_code == 422
