"""Sending a test event."""

from __future__ import annotations

from typing import Any

from tests.make import Client, deliveries, events, make_webhook
from tests.make.webhooks import set_webhook


def _test(client: Client, webhook: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/v1/webhooks/{webhook['id']}/test")
    assert answer.status_code == 200
    return answer.json["data"]


def test_it_is_queued_for_this_webhook_alone_even_if_it_is_disabled(client: Client) -> None:
    webhook, other = make_webhook(client), make_webhook(client)
    set_webhook(client, webhook["id"], enabled=False)
    queued = _test(client, webhook)
    (event,) = events(client)
    assert queued == {
        "event_id": event["id"],
        "event_type": "webhook.test",
        "status": "queued",
    }
    assert event["type"] == "webhook.test"
    assert event["data"]["webhook_id"] == webhook["id"]
    (delivery,) = deliveries(client)
    assert delivery["webhook_id"] == webhook["id"] != other["id"]
    assert (delivery["cause"], delivery["state"]) == ("test", "pending")
    listed = client.get("/v1/events?type=webhook.test").json["data"]
    assert [event["id"] for event in listed] == [queued["event_id"]]


def test_an_empty_body_is_accepted_and_any_field_rejected(client: Client) -> None:
    path = f"/v1/webhooks/{make_webhook(client)['id']}/test"
    assert client.post(path, json={}).status_code == 200
    assert client.post(path, json={"event_type": "project.created"}).status_code == 422
