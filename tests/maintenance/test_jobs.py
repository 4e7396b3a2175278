"""Pruning: what is kept for a time goes after it, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import insert, select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Event, IdempotentResponse, Project
from app.policy.request_limits import EVENT_DAYS, IDEMPOTENCY_HOURS
from app.values import clock
from app.values.ids import new_id_at
from tests.maintenance.conftest import prune
from tests.make import Client, make_project

pytestmark = pytest.mark.both


def _answers(client: Client, ages: dict[str, timedelta]) -> None:
    rows = [
        {
            "account_id": client.account_id,
            "key": key,
            "fingerprint": "0" * 64,
            "status": 200,
            "headers": {},
            "body": b"",
            "created_at": clock.now() - age,
        }
        for key, age in ages.items()
    ]
    _add(client, IdempotentResponse, rows)


def _events(client: Client, ages: dict[str, timedelta]) -> None:
    rows = [
        {
            "id": new_id_at("event", clock.now() - age),
            "account_id": client.account_id,
            "type": "project.created",
            "subject_id": name,
            "body": "{}",
        }
        for name, age in ages.items()
    ]
    _add(client, Event, rows)


def _add(client: Client, model, rows: list[dict]) -> None:
    with client.app.app_context(), transaction():
        db.session.execute(insert(model), rows)


def _left(client: Client, column) -> set[str]:
    with client.app.app_context():
        owner = column.class_.account_id == client.account_id
        return set(db.session.scalars(select(column).where(owner)))


def _prune(app: Flask) -> int:
    with app.app_context():
        return prune()


def test_answers_that_can_still_be_repeated_are_kept(client: Client) -> None:
    day = timedelta(hours=IDEMPOTENCY_HOURS)
    minute = timedelta(minutes=1)
    _answers(client, {"new": minute, "almost": day - minute, "over": day + minute, "old": day * 9})
    _prune(client.app)
    assert _left(client, IdempotentResponse.key) == {"new", "almost"}


def test_events_are_kept_for_their_days(client: Client) -> None:
    month = timedelta(days=EVENT_DAYS)
    minute = timedelta(minutes=1)
    _events(client, {"new": minute, "almost": month - minute, "over": month + minute})
    _prune(client.app)
    assert _left(client, Event.subject_id) == {"new", "almost"}


def test_nothing_else_is_deleted(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(client)
    client.post("/v1/projects", json={"name": "Kept"}, headers={"Idempotency-Key": "kept"})
    later = clock.now() + timedelta(days=400)
    monkeypatch.setattr(clock, "now", lambda: later)
    _prune(client.app)
    assert project["id"] in _left(client, Project.id)
    assert _left(client, IdempotentResponse.key) == set()
    assert _left(client, Event.subject_id) == set()


def test_a_repeat_after_pruning_is_a_new_request(client: Client) -> None:
    headers = {"Idempotency-Key": "again"}
    client.post("/v1/projects", json={"name": "First"}, headers=headers)
    with client.app.app_context(), transaction():
        row = db.session.get_one(IdempotentResponse, (client.account_id, "again"))
        row.created_at = clock.now() - timedelta(hours=IDEMPOTENCY_HOURS, minutes=1)
    _prune(client.app)
    second = client.post("/v1/projects", json={"name": "Second"}, headers=headers)
    assert second.status_code == 201
    assert second.json["data"]["name"] == "Second"
