"""Secrets: shown once, kept encrypted, and changed with an overlap."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.models import IdempotentResponse, Webhook
from app.security import sealing
from app.security.sealing import unseal
from app.values import clock
from tests.make import (
    Client,
    audit_entries,
    events,
    make_log,
    make_project,
    make_webhook,
    second_app,
)
from tests.make.webhooks import webhook_row

PATH = "/v1/webhooks"


def _unsealed(client: Client, sealed: str) -> str:
    with client.app.app_context():
        return str(unseal(sealed))


def _rotate(client: Client, webhook_id: str, body: Any = None, **options: Any) -> Any:
    return client.post(f"{PATH}/{webhook_id}/rotate-secret", json=body, **options)


def _everything_kept(client: Client) -> str:
    """The text of every row of every table."""
    with client.app.app_context():
        rows = [
            repr(row)
            for table in Webhook.metadata.sorted_tables
            for row in db.session.execute(text(f"SELECT * FROM {table.name}")).all()
        ]
        bodies = [bytes(row.body) for row in db.session.scalars(db.select(IdempotentResponse))]
        db.session.rollback()
        return "".join(rows) + repr(bodies)


@pytest.mark.both
def test_a_secret_is_stored_encrypted(client: Client) -> None:
    made = make_webhook(client, secret="correct-horse-battery")
    row = webhook_row(client, made["id"])
    assert _unsealed(client, row["sealed_secret"]) == "correct-horse-battery"
    assert "correct-horse-battery" not in _everything_kept(client)


@pytest.mark.both
def test_a_short_secret_that_is_stored_stays(client: Client) -> None:
    """Before 16 characters were required, a secret could have 8."""
    made = make_webhook(client)
    with client.app.app_context():
        db.session.get_one(Webhook, made["id"]).sealed_secret = sealing.seal("12345678")
        db.session.commit()
    changed = client.put(f"{PATH}/{made['id']}", json={"description": "new", "enabled": True})
    assert changed.json["data"]["description"] == "new"
    assert _unsealed(client, webhook_row(client, made["id"])["sealed_secret"]) == "12345678"


def test_a_secret_is_in_no_other_response(client: Client) -> None:
    made = make_webhook(client, secret="correct-horse-battery")
    path = f"{PATH}/{made['id']}"
    make_project(client)
    log_id = make_log(client, made["id"], events(client)[-1]["id"])
    answers = [
        client.get(PATH),
        client.get(path),
        client.put(path, json={"description": "new"}),
        client.post(f"{path}/test"),
        client.get(f"{path}/logs"),
        client.get(f"{path}/logs/{log_id}"),
        client.post(f"{path}/logs/{log_id}/redeliver"),
        client.get("/v1/events"),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert "correct-horse-battery" not in answer.get_data(as_text=True)
        assert "secret" not in answer.get_data(as_text=True)


@pytest.mark.parametrize("operation", ["create", "rotate"])
def test_a_stored_response_is_encrypted(client: Client, operation: str) -> None:
    headers = {"Idempotency-Key": "one"}
    if operation == "create":
        path, body = PATH, {"url": "https://hooks.example.org/", "events": ["*"]}
    else:
        path, body = f"{PATH}/{make_webhook(client)['id']}/rotate-secret", {}
    first = client.post(path, json=body, headers=headers)
    secret = first.json["data"]["secret"]
    assert secret not in _everything_kept(client)
    again = client.post(path, json=body, headers=headers)
    assert again.json == first.json
    assert again.headers["ETag"] == first.headers["ETag"]


def test_a_stored_response_that_cannot_be_decrypted_is_not_repeated(client: Client) -> None:
    body, headers = {"url": "https://x.example/", "events": ["*"]}, {"Idempotency-Key": "one"}
    assert client.post(PATH, json=body, headers=headers).status_code == 201
    with second_app(client.app) as other:
        sealing.init_app(other, "another key")
        elsewhere = Client(other, client.account_id, client.owner_id, client.token)
        answer = elsewhere.post(PATH, json=body, headers=headers)
    assert answer.status_code == 409
    assert client.get(PATH).json["meta"]["total"] == 1


def test_rotation(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_webhook(client)
    moment = clock.now() + timedelta(hours=1)
    monkeypatch.setattr(clock, "now", lambda: moment)
    answer = _rotate(client, made["id"], {"overlap_hours": 5})
    rotated = answer.json["data"]
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert rotated["secret"].startswith("whsec_")
    assert rotated["secret"] != made["secret"]
    assert rotated["former_secret_until"] == clock.format_time(moment + timedelta(hours=5))
    assert rotated["updated_at"] == clock.format_time(moment)
    same = made.keys() - {"secret", "updated_at"}
    assert {name: rotated[name] for name in same} == {name: made[name] for name in same}
    row = webhook_row(client, made["id"])
    assert _unsealed(client, row["sealed_secret"]) == rotated["secret"]
    assert _unsealed(client, row["sealed_former_secret"]) == made["secret"]
    assert row["former_secret_until"] == moment + timedelta(hours=5)


@pytest.mark.parametrize("body", [None, {}])
def test_the_default_overlap_is_a_day(client: Client, body: Any) -> None:
    rotated = _rotate(client, make_webhook(client)["id"], body).json["data"]
    since = clock.parse_time(rotated["updated_at"])
    assert clock.parse_time(rotated["former_secret_until"]) - since == timedelta(hours=24)


@pytest.mark.both
def test_a_secret_can_be_set(client: Client) -> None:
    webhook = make_webhook(client, secret="correct-horse-battery")
    path = f"{PATH}/{webhook['id']}"
    _rotate(client, webhook["id"])
    changed = client.put(path, json={"secret": "another-horse-battery", "description": "x"})
    assert changed.status_code == 200
    assert "secret" not in changed.json["data"]
    row = webhook_row(client, webhook["id"])
    assert _unsealed(client, row["sealed_secret"]) == "another-horse-battery"
    assert (row["sealed_former_secret"], row["former_secret_until"]) == (None, None)
    entries = audit_entries(client)
    assert entries[-1]["action"] == "webhook.updated"
    assert entries[-1]["changes"]["secret"] == {"from": "…", "to": "…"}
    again = client.put(path, json={"secret": "another-horse-battery"})
    assert again.json["data"] == changed.json["data"]
    assert len(audit_entries(client)) == len(entries)
    assert client.put(path, json={"secret": "a-third-battery-of-horses"}).status_code == 200
    assert audit_entries(client)[-1]["action"] == "webhook.secret_rotated"
    assert "another-horse-battery" not in _everything_kept(client)


@pytest.mark.parametrize("secret", ["", "short", "no spaces in secrets", None])
def test_a_secret_has_one_fault(client: Client, secret: str | None) -> None:
    webhook = make_webhook(client)
    new = {"url": "https://hooks.example.org/", "events": ["*"], "secret": secret}
    for response in (
        client.put(f"{PATH}/{webhook['id']}", json={"secret": secret}),
        client.post(PATH, json=new),
    ):
        assert response.status_code == 422
        assert [each["field"] for each in response.json["error"]["details"]] == ["secret"]


def test_a_secret_whose_key_is_lost_can_be_set(client: Client) -> None:
    webhook = make_webhook(client)
    with client.app.app_context():
        db.session.get_one(Webhook, webhook["id"]).sealed_secret = "sealed with another key"
        db.session.commit()
    path = f"{PATH}/{webhook['id']}"
    assert client.put(path, json={"secret": "another-horse-battery"}).status_code == 200
    sealed = webhook_row(client, webhook["id"])["sealed_secret"]
    assert _unsealed(client, sealed) == "another-horse-battery"


def test_without_an_overlap_the_former_secret_is_deleted(client: Client) -> None:
    webhook_id = make_webhook(client)["id"]
    _rotate(client, webhook_id)
    assert (
        _rotate(client, webhook_id, {"overlap_hours": 0}).json["data"]["former_secret_until"]
        is None
    )
    row = webhook_row(client, webhook_id)
    assert (row["sealed_former_secret"], row["former_secret_until"]) == (None, None)


@pytest.mark.parametrize("hours", [-1, 169, 1.5, 24.0, "24", None, True, 10**30])
def test_hours_that_are_rejected(client: Client, hours: Any) -> None:
    webhook_id = make_webhook(client)["id"]
    before = webhook_row(client, webhook_id)
    answer = _rotate(client, webhook_id, {"overlap_hours": hours})
    assert answer.status_code in (400, 422)  # an integer past 64 bits is not JSON of this service
    assert webhook_row(client, webhook_id) == before


@pytest.mark.both
@pytest.mark.parametrize("hours", [0, 1, 168])
def test_hours_that_are_accepted(client: Client, hours: int) -> None:
    answer = _rotate(client, make_webhook(client)["id"], {"overlap_hours": hours})
    assert answer.status_code == 200


def test_a_body_with_other_fields_is_rejected(client: Client) -> None:
    webhook_id = make_webhook(client)["id"]
    assert _rotate(client, webhook_id, {"secret": "a-secret-of-mine-1"}).status_code == 422
    assert _rotate(client, webhook_id, data=b"[]").status_code == 415
    json = {"Content-Type": "application/json"}
    assert _rotate(client, webhook_id, data=b"[]", headers=json).status_code == 422
    assert _rotate(client, webhook_id, data=b"{", headers=json).status_code == 400


def test_the_body_is_described_as_one_that_may_be_absent(client: Client) -> None:
    paths = client.get("/v1/openapi.json").json["paths"]
    rotation = paths["/v1/webhooks/{webhook_id}/rotate-secret"]["post"]["requestBody"]
    assert not rotation.get("required")
    assert paths["/v1/webhooks"]["post"]["requestBody"]["required"] is True
