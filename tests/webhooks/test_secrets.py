"""Secrets: shown once, kept encrypted, and changed with an overlap."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import IdempotentResponse, Webhook
from app.security import sealing
from app.security.sealing import unseal
from app.values import clock
from tests.make import (
    Client,
    audit_entries,
    events,
    make_account,
    make_log,
    make_project,
    make_webhook,
    second_app,
)
from tests.make.apps import bare_app
from tests.make.webhooks import webhook_row

PATH = "/v1/webhooks"
KEY = {"Idempotency-Key": "one"}


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
        return "".join(rows) + repr(bodies)


def test_a_secret_is_stored_encrypted_also_in_a_stored_response(
    tmp_path: Path, valkey_url: str
) -> None:
    with bare_app(tmp_path, REDIS_URL=valkey_url) as app:
        client = make_account(app)
        body = {"url": "https://hooks.example.org/", "events": ["*"]}
        body |= {"secret": "correct-horse-battery"}
        first, again = (client.post(PATH, json=body, headers=KEY) for _ in range(2))
        assert again.json == first.json
        assert again.headers["ETag"] == first.headers["ETag"]
        webhook_id = first.json["data"]["id"]
        sealed = webhook_row(client, webhook_id)["sealed_secret"]
        assert _unsealed(client, sealed) == "correct-horse-battery"
        key = {"Idempotency-Key": "two"}
        rotated, repeated = (_rotate(client, webhook_id, {}, headers=key) for _ in range(2))
        assert repeated.json == rotated.json
        path = f"{PATH}/{webhook_id}"
        changed = client.put(path, json={"secret": "another-horse-battery"})
        assert changed.status_code == 200
        kept = _everything_kept(client)
        assert webhook_id in kept
        for secret in ("horse-battery", rotated.json["data"]["secret"]):
            assert secret not in kept


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


def test_a_stored_response_that_cannot_be_decrypted_is_not_repeated(client: Client) -> None:
    body = {"url": "https://x.example/", "events": ["*"]}
    assert client.post(PATH, json=body, headers=KEY).status_code == 201
    with second_app(client.app) as other:
        sealing.init_app(other, "another key")
        elsewhere = Client(other, client.account_id, client.owner_id, client.token)
        answer = elsewhere.post(PATH, json=body, headers=KEY)
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


def test_the_default_overlap_is_a_day(client: Client) -> None:
    rotated = _rotate(client, make_webhook(client)["id"]).json["data"]
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


def test_a_secret_has_one_fault(client: Client) -> None:
    webhook = make_webhook(client)
    for secret in ("", "no spaces in secrets", None):
        response = client.put(f"{PATH}/{webhook['id']}", json={"secret": secret})
        assert response.status_code == 422
        assert [each["field"] for each in response.json["error"]["details"]] == ["secret"]


def test_a_secret_whose_key_is_lost_can_be_set(client: Client) -> None:
    webhook = make_webhook(client)
    with client.app.app_context(), transaction():
        db.session.get_one(Webhook, webhook["id"]).sealed_secret = "sealed with another key"
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


def test_hours_are_limited(client: Client) -> None:
    webhook_id = make_webhook(client)["id"]
    before = webhook_row(client, webhook_id)
    for hours in (-1, 169, 24.0, "24", None, True):
        assert _rotate(client, webhook_id, {"overlap_hours": hours}).status_code == 422
    assert webhook_row(client, webhook_id) == before
    assert _rotate(client, webhook_id, {"overlap_hours": 168}).status_code == 200


def test_a_body_with_other_fields_is_rejected(client: Client) -> None:
    webhook_id = make_webhook(client)["id"]
    assert _rotate(client, webhook_id, {"secret": "a-secret-of-mine-1"}).status_code == 422
    text = {"Content-Type": "text/plain"}
    assert _rotate(client, webhook_id, data=b"[]", headers=text).status_code == 415
    json = {"Content-Type": "application/json"}
    assert _rotate(client, webhook_id, data=b"[]", headers=json).status_code == 422
    assert _rotate(client, webhook_id, data=b"{", headers=json).status_code == 400
