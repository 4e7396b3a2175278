"""The list of webhooks, making and editing one, its secret and its end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from werkzeug.datastructures import MultiDict

from app.policy.deliveries import WEBHOOKS_PER_ACCOUNT
from app.policy.events import EVENTS
from app.policy.forms import FIELD_LENGTH
from app.values import clock
from tests.make import Browser, Client, make_attempts, make_log, make_webhook
from tests.make.webhooks import set_webhook, webhook_row

URL = "https://hooks.example.org/canopy"
EVENT = "evt_01arz3ndektsv4rrffq69g5fav"
HOUR = timedelta(hours=1)


def test_health_is_seen_at_a_glance(client: Client, owner: Browser) -> None:
    now = clock.now()
    failing, gone, given_up, by_hand, good, _ = (
        make_webhook(client, description=f"Number {number}")["id"] for number in range(6)
    )
    set_webhook(client, failing, failing_since=now - HOUR, consecutive_failures=41)
    for webhook_id, reason in ((gone, "gone"), (given_up, "failing"), (by_hand, "manual")):
        set_webhook(client, webhook_id, enabled=False, disabled_reason=reason, canceled_at=now)
    set_webhook(client, good, last_success_at=now - HOUR)
    make_log(client, failing, EVENT)
    text = owner.get("/webhooks").text
    assert "Number 0 failing" in text
    assert "41 attempts in a row failed. Your receiver answered 503" in text
    assert "your receiver answered 410 Gone" in text
    assert "nothing was received for days" in text
    assert "Disabled by hand" in text
    assert "Working: last success" in text
    assert "Number 5 new" in text
    assert text.count("0 attempts in 24 hours") == 6


def test_attempts_of_the_last_day_are_counted(client: Client, owner: Browser) -> None:
    webhook_id = make_webhook(client)["id"]
    for hours, status, number in ((0, "success", 1_200), (5, "failed", 3), (26, "failed", 99)):
        make_attempts(client, webhook_id, hours * HOUR, status, number)
    text = owner.get("/webhooks").text
    assert "1,203 attempts in 24 hours" in text
    assert "3 failed" in text


def test_a_webhook_is_created_and_its_secret_shown_once(client: Client, owner: Browser) -> None:
    page = owner.get("/webhooks/new")
    assert all(name in page.text for name in EVENTS)
    assert "A project is created" in page.text
    page = owner.submit(url=URL, description=" The registry ")
    assert "Webhook created" in page.text
    assert page.response.headers["Cache-Control"] == "no-store"
    (webhook,) = client.get("/v1/webhooks").json["data"]
    assert (webhook["url"], webhook["description"]) == (URL, "The registry")
    assert (webhook["events"], webhook["enabled"]) == (["*"], True)
    secret = page.text.partition("whsec_")[2].split()[0]
    assert len(secret) == 40
    for path in ("/webhooks", f"/webhooks/{webhook['id']}", f"/webhooks/{webhook['id']}/edit"):
        assert secret not in owner.get(path).response.get_data(as_text=True)


def test_events_a_secret_and_being_disabled_are_chosen(client: Client, owner: Browser) -> None:
    page = owner.get("/webhooks/new")
    fields = MultiDict(page.form().fields | {"url": URL, "secret": "a-few-words-of-mine"})
    del fields["enabled"]
    fields["which"] = "chosen"
    fields.setlist("events", ["asset.created", "project.created"])
    page = owner.send("/webhooks/new", **fields.to_dict(flat=False))
    assert "a-few-words-of-mine" in page.text
    (webhook,) = client.get("/v1/webhooks").json["data"]
    assert webhook["events"] == ["asset.created", "project.created"]
    assert webhook["disabled_reason"] == "manual"


def test_what_is_wrong_stands_beside_its_field(client: Client, owner: Browser) -> None:
    for fields, message in [
        ({"url": ""}, "Enter the address that events are posted to."),
        ({"url": "http://hooks.example.org/"}, "https"),
        ({"url": "https://10.0.0.1/"}, "public IP address"),
        ({"description": "x" * 501}, "Must have at most 500 characters"),
        ({"secret": "short"}, "Must have 16 to 200 characters"),
        ({"secret": "sixteen and spaces"}, "without spaces"),
        ({"which": "chosen"}, "Choose at least one type of event"),
        ({"which": "chosen", "events": "project.painted"}, "Must be one of"),
    ]:
        owner.get("/webhooks/new")
        page = owner.submit(**{"url": URL, "description": "The registry"} | fields)
        assert page.status == 422, page.text
        assert message in page.text
        assert "Please fix 1 field." in page.text
        assert page.form().fields["url"] == ({"url": URL} | fields)["url"]
        assert client.get("/v1/webhooks").json["data"] == []


def test_the_limit_is_told(client: Client, owner: Browser) -> None:
    for _ in range(WEBHOOKS_PER_ACCOUNT):
        make_webhook(client)
    page = owner.get("/webhooks")
    assert "The account has 50 webhooks, which is the limit" in page.text
    assert "/webhooks/new" not in page.links
    owner.get("/webhooks/new")
    page = owner.submit(url=URL)
    assert page.status == 403
    assert "Delete one that you no longer need" in page.text
    assert page.form().fields["url"] == URL


@pytest.mark.both
def test_a_webhook_is_edited(client: Client, owner: Browser) -> None:
    webhook = make_webhook(client, events=["project.created"])
    path = f"/webhooks/{webhook['id']}"
    page = owner.get(f"{path}/edit")
    assert page.form().fields["events"] == "project.created"
    assert "Set another secret" in page.text
    page = owner.submit(url="https://other.example.org/", description="Archive", which="all")
    assert (page.path, "Webhook saved." in page.text) == (path, True)
    now = client.get(f"/v1{path}").json["data"]
    assert (now["url"], now["description"]) == ("https://other.example.org/", "Archive")
    assert now["events"] == ["*"]
    row = webhook_row(client, webhook["id"])
    owner.get(f"{path}/edit")
    page = owner.submit(secret="a-few-words-of-mine")
    assert (page.path, "Webhook saved." in page.text) == (path, True)
    assert "a-few-words-of-mine" not in page.text
    assert webhook_row(client, webhook["id"])["sealed_secret"] != row["sealed_secret"]
    owner.get(f"{path}/edit")
    assert owner.submit(url="gopher://x").status == 422


def test_a_form_that_was_open_does_not_enable_a_disabled_webhook(
    client: Client, owner: Browser
) -> None:
    path = f"/webhooks/{make_webhook(client)['id']}"
    owner.get(f"{path}/edit")
    client.put(f"/v1{path}", json={"enabled": False})
    page = owner.submit(description="Mine")
    assert page.status == 412
    assert "The two differ in: description, enabled." in page.text
    assert client.get(f"/v1{path}").json["data"]["enabled"] is False
    assert "Webhook saved." in owner.submit(f"{path}/edit").text
    now = client.get(f"/v1{path}").json["data"]
    assert (now["description"], now["enabled"]) == ("Mine", True)


def test_a_webhook_is_disabled_and_enabled(client: Client, owner: Browser) -> None:
    webhook = make_webhook(client)
    path = f"/webhooks/{webhook['id']}"
    page = owner.get(path)
    assert "Deliveries that wait for their next try are canceled" in page.text
    page = owner.submit(f"{path}/disable")
    assert "Disabled by hand" in page.text
    assert client.get(f"/v1{path}").json["data"]["disabled_reason"] == "manual"
    page = owner.submit(f"{path}/enable")
    assert "What it missed is not sent by itself" in page.text
    assert client.get(f"/v1{path}").json["data"]["enabled"]


def test_the_secret_is_rotated(client: Client, owner: Browser) -> None:
    for typed, hours, words in [
        ("168", 168, "is valid with the former secret as well"),
        ("0", 0, "The former secret is no longer used"),
    ]:
        webhook = make_webhook(client)
        path = f"/webhooks/{webhook['id']}"
        owner.get(path)
        page = owner.submit(f"{path}/rotate", overlap_hours=typed)
        assert "New secret" in page.text
        assert words in page.text
        assert webhook["secret"] not in page.text
        until = webhook_row(client, webhook["id"])["former_secret_until"]
        left = until - clock.now() if until else timedelta()
        assert hours * HOUR - left < timedelta(minutes=1)
        assert ("Former secret" in owner.get(path).text) is bool(hours)


def test_a_secret_is_not_rotated_for_no_number_of_hours(client: Client, owner: Browser) -> None:
    for typed in ["", "999", "soon", "1" * FIELD_LENGTH]:
        webhook = make_webhook(client)
        path = f"/webhooks/{webhook['id']}"
        owner.get(path)
        page = owner.submit(f"{path}/rotate", overlap_hours=typed)
        assert "Nothing was done." in page.text
        assert webhook_row(client, webhook["id"])["former_secret_until"] is None


def test_forms_that_are_sent_again_do_nothing_again(client: Client, owner: Browser) -> None:
    fields = owner.get("/webhooks/new").form("/webhooks/new").fields
    given = fields | {"url": "https://hooks.example.org/again", "which": "all"}
    assert "shown" in owner.send("/webhooks/new", **given).text
    assert owner.send("/webhooks/new", **given).status == 303
    (webhook,) = client.get("/v1/webhooks").json["data"]
    path = f"/webhooks/{webhook['id']}"
    fields = owner.get(path).form(f"{path}/rotate").fields
    assert owner.send(f"{path}/rotate", **fields).status == 200
    secret = webhook_row(client, webhook["id"])["sealed_secret"]
    assert owner.send(f"{path}/rotate", **fields).status == 303
    assert webhook_row(client, webhook["id"])["sealed_secret"] == secret


def test_a_webhook_is_deleted(client: Client, owner: Browser) -> None:
    webhook = make_webhook(client)
    path = f"/webhooks/{webhook['id']}"
    page = owner.get(path)
    assert "This cannot be undone" in page.text
    page = owner.submit(f"{path}/delete")
    assert (page.path, "Webhook deleted." in page.text) == ("/webhooks", True)
    assert owner.get(path).status == 404


def test_an_attempt_of_another_webhook_is_not_found(client: Client, owner: Browser) -> None:
    webhook, other = make_webhook(client), make_webhook(client)
    log_id = make_log(client, webhook["id"], EVENT)
    assert owner.get(f"/webhooks/{other['id']}/logs/{log_id}").status == 404
