"""Entries of the audit log name a webhook by its URL, without secrets of the receiver."""

from __future__ import annotations

import json

import pytest

from app.db.transactions import transaction
from app.webhooks.deliveries.health import update_health
from tests.make import Client, audit_entries, make_webhook
from tests.pages.support import browser_of
from tests.webhooks.deliveries.makers import claimed, outcome

URL = "https://hooks.example.org/in?token="
MASKED = f"{URL}…"


def labels(client: Client) -> set[str]:
    found = audit_entries(client)
    return {each["target"]["label"] for each in found if each["target"]["type"] == "webhook"}


@pytest.mark.both
def test_no_entry_about_a_webhook_has_a_secret_of_its_receiver(client: Client) -> None:
    webhook = make_webhook(client, url=f"{URL}s3cret")
    path = f"/v1/webhooks/{webhook['id']}"
    assert client.put(path, json={"url": f"{URL}0ther"}).status_code == 200
    for operation in ("test", "rotate-secret"):
        assert client.post(f"{path}/{operation}").status_code in (200, 202)
    assert client.get(path).json["data"]["url"] == f"{URL}0ther"
    assert client.delete(path).status_code == 204
    written = json.dumps(audit_entries(client))
    assert "s3cret" not in written
    assert "0ther" not in written
    assert labels(client) == {MASKED}


def test_another_secret_alone_is_a_change(client: Client) -> None:
    webhook = make_webhook(client, url=f"{URL}s3cret")
    client.put(f"/v1/webhooks/{webhook['id']}", json={"url": f"{URL}0ther"})
    entry = audit_entries(client)[-1]
    assert entry["action"] == "webhook.updated"
    assert entry["changes"] == {"url": {"from": MASKED, "to": MASKED}}
    page = browser_of(client).get("/audit-log").text
    assert f"URL {MASKED} the same, except for what … hides" in page


def test_a_webhook_that_is_disabled_is_named_without_a_secret(client: Client) -> None:
    webhook = make_webhook(client, url=f"{URL}s3cret")
    sent = outcome(claimed(webhook["id"], account_id=client.account_id), error="gone")
    with client.app.app_context(), transaction():
        update_health([sent._replace(url=webhook["url"], status=410)])
    assert audit_entries(client)[-1]["action"] == "webhook.disabled"
    assert labels(client) == {MASKED}
