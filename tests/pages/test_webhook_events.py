"""Events of the audit log in the form of a webhook, which all events do not include."""

from __future__ import annotations

from tests.make import Browser, Client, make_webhook

URL = "https://hooks.example.org/"


def test_all_events_and_the_audit_log_are_chosen_together(client: Client, owner: Browser) -> None:
    webhook = make_webhook(client, events=["*", "audit.checkpoint"])
    path = f"/webhooks/{webhook['id']}"
    page = owner.get(f"{path}/edit")
    fields = page.form().fields
    assert (fields["which"], fields["events"]) == ("all", "audit.checkpoint")
    assert "all events except audit.entry" in owner.submit(description="Evidence").text
    now = client.get(f"/v1{path}").json["data"]
    assert (now["description"], now["events"]) == ("Evidence", ["*", "audit.checkpoint"])
    owner.get(f"{path}/edit")
    assert owner.submit(events="").status == 200
    assert client.get(f"/v1{path}").json["data"]["events"] == ["*"]
    assert "all events except audit.entry and audit.checkpoint" in owner.get("/webhooks").text


def test_a_webhook_for_the_audit_log_alone(client: Client, owner: Browser) -> None:
    owner.get("/webhooks/new")
    page = owner.submit(url=URL, which="chosen", events="audit.entry")
    assert "Webhook created" in page.text
    (webhook,) = client.get("/v1/webhooks").json["data"]
    assert webhook["events"] == ["audit.entry"]
