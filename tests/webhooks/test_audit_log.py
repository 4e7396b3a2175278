"""The audit log as events: its entries and checkpoints, for webhooks that name them."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook

from app.audit.entries import write_entry
from app.audit.log import jobs, sealing
from app.audit.log.sealing import AccountSealer, AlreadySealed
from app.audit.proof.checkpoint import read_kept
from app.audit.targets import Target
from app.db.transactions import transaction
from app.policy.audit import INSTANCE
from tests.audit.log.logs import PATH, checkpoints, exported, kinds, seal, seal_log, write
from tests.make import Client, deliveries, event_types, events, make_project, make_webhook
from tests.make.webhooks import end_replays
from tests.outbound.receivers import Receiver, answering
from tests.webhooks.conftest import Deliver

NAMED = ["audit.entry", "audit.checkpoint"]


def audit_events(client: Client) -> list[dict[str, Any]]:
    return [each for each in events(client) if each["type"].startswith("audit.")]


def test_entries_and_checkpoints_arrive_as_the_api_gives_them(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=NAMED)
    make_project(customer)
    seal(customer, monkeypatch)
    deliver()
    verifier = Webhook(webhook["secret"])
    arrived = [verifier.verify(each.body, each.headers) for each in receiver.requests]
    arrived.sort(key=lambda each: each["id"])
    entries = [each["data"] for each in arrived if each["type"] == "audit.entry"]
    points = [each["data"] for each in arrived if each["type"] == "audit.checkpoint"]
    assert len(arrived) == len(entries) + len(points)
    listed = customer.get(f"{PATH}?per_page=100").json["data"][::-1]
    assert len(listed) >= 2
    assert entries == [each | {"number": number} for number, each in enumerate(listed, 1)]
    assert points == customer.get(f"{PATH}/checkpoints").json["data"]


def test_a_receiver_can_verify_a_checkpoint_with_the_entries(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``data`` without its number has the text that is sealed, byte for byte."""
    make_webhook(customer, url=receiver.url(), events=NAMED)
    make_project(customer, name="Ä “quoted” \\ \u2028", metadata={"z": 1.0, "a": [1e300, -0.5]})
    seal(customer, monkeypatch)
    deliver()
    bodies = sorted(each.body for each in receiver.requests if b'"audit.entry"' in each.body)
    texts = [body.partition(b'"data":')[2].partition(b',"number":')[0] + b"}" for body in bodies]
    (point,) = checkpoints(customer)
    hashes = "".join(hashlib.sha256(text).hexdigest() for text in texts)
    assert hashes == point.entry_hashes
    kept = read_kept(b"\n".join(each.body for each in receiver.requests))
    assert [each.hash for each in kept] == [point.hash]
    assert kinds(exported(customer), earlier=kept) == []
    other = kept[0]._replace(hash="0" * 64)
    assert kinds(exported(customer), earlier=[other]) != []


def test_a_webhook_for_all_events_gets_those_alone_that_it_names_besides(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(client, events=["*"])
    make_project(client)
    seal(client, monkeypatch)
    assert event_types(client) == ["project.created"]
    webhook = make_webhook(client, events=["*", "audit.checkpoint"])
    assert webhook["events"] == ["*", "audit.checkpoint"]
    seal(client, monkeypatch)
    assert event_types(client) == ["project.created", "audit.checkpoint"]


def test_each_webhook_gets_what_it_names(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    of_entries = make_webhook(client, events=["audit.entry"])
    of_points = make_webhook(client, events=["audit.checkpoint"])
    seal(client, monkeypatch)
    kinds = {each["id"]: each["type"] for each in audit_events(client)}
    sent = {(each["webhook_id"], kinds[each["event_id"]]) for each in deliveries(client)}
    assert sent == {(of_entries["id"], "audit.entry"), (of_points["id"], "audit.checkpoint")}


def test_a_webhook_that_is_disabled_or_of_another_account_is_no_subscription(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(client, events=NAMED, enabled=False)
    make_webhook(stranger, events=NAMED)
    seal(client, monkeypatch)
    assert audit_events(client) == audit_events(stranger) == []


def test_a_batch_that_was_sealed_meanwhile_is_sent_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(client, events=NAMED)
    write(client)
    with client.app.app_context():
        monkeypatch.setattr(sealing, "SEALED_AFTER", timedelta(days=-1))
        sealer = AccountSealer(client.account_id)
        batch = sealer.read()
        seal(client, monkeypatch)
        known = len(audit_events(client))
        with pytest.raises(AlreadySealed), transaction():
            sealer.write(batch, jobs._signing_key())
    assert known == len(batch) + 1
    assert len(audit_events(client)) == len(deliveries(client)) == known


def test_delivering_enters_nothing_and_so_causes_nothing_to_deliver(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(customer, url=receiver.url(), events=NAMED)
    seal(customer, monkeypatch)
    assert deliver() > 0
    known = event_types(customer)
    seal(customer, monkeypatch)
    assert deliver() == 0
    assert event_types(customer) == known


def test_that_a_webhook_was_disabled_is_sent_to_others_only(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = make_webhook(customer, url=receiver.url(), events=NAMED)
    receiver.answer = answering(410)
    seal(customer, monkeypatch)
    deliver()
    other = make_webhook(customer, events=["audit.entry"])
    sent = len(deliveries(customer))
    seal(customer, monkeypatch)
    disabled = [
        each for each in audit_events(customer) if each["data"].get("action") == "webhook.disabled"
    ]
    assert [each["data"]["target"]["id"] for each in disabled] == [gone["id"]]
    assert {each["webhook_id"] for each in deliveries(customer)[sent:]} == {other["id"]}


def test_they_are_replayed_by_name_only(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_webhook(client, events=NAMED)
    make_project(client)
    seal(client, monkeypatch)
    webhook = make_webhook(client, events=["*"])
    path, since = f"/v1/webhooks/{webhook['id']}/replay", "2020-01-01T00:00:00Z"

    def replayed(**fields: Any) -> int:
        end_replays(client, webhook["id"])
        answer = client.post(path, json={"since": since} | fields)
        assert answer.status_code == 200, answer.json
        return int(answer.json["data"]["replayed"])

    assert replayed() == replayed(event_types=["*"]) == 1
    assert replayed(event_types=["audit.checkpoint"]) == 1
    assert replayed(event_types=["audit.entry"]) == len(audit_events(client)) - 1


def test_the_log_of_the_instance_is_sent_to_nobody(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(client, events=NAMED)
    with client.app.app_context(), transaction():
        write_entry("account.deleted", Target("account", "acct_1", "Gone"), account_id=INSTANCE)
    assert seal_log(client.app, INSTANCE, monkeypatch) > 0
    assert audit_events(client) == []
