"""Bytes of events, entries of the audit log and deliveries: counted, and bounded by
MAX_HISTORY_BYTES."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.transactions import transaction
from app.maintenance import jobs
from app.maintenance.pruning import prune_tables
from app.models import AccountUsage, AuditEntry, Delivery, Event, Webhook
from app.policy.request_limits import EVENT_DAYS, HISTORY_ROW_BYTES
from app.values import clock
from tests.audit.log.logs import prune, seal
from tests.jobs.due import run_if_due
from tests.make import Client, make_account, make_asset, make_entry, make_project, square
from tests.make.apps import second_app
from tests.make.webhooks import make_webhook
from tests.pages.support import browser_of
from tests.waiting import wait_for


def current(client: Client) -> int:
    found: int = client.get("/v1/account/usage").json["data"]["history_bytes"]["current"]
    return found


def actual(client: Client) -> int:
    """The same from the rows: of entries, those that are sealed."""
    with client.app.app_context():
        of = client.account_id
        events = select(byte_length(Event.body)).where(Event.account_id == of)
        entries = select(byte_length(AuditEntry.body)).where(AuditEntry.account_id == of)
        sealed = entries.where(AuditEntry.number.is_not(None))
        sizes = [*db.session.scalars(events), *db.session.scalars(sealed)]
        own = select(Delivery.id).where(Delivery.account_id == client.account_id)
        deliveries = db.session.scalars(own).all()
        return sum(sizes) + HISTORY_ROW_BYTES * (len(sizes) + 2 * len(deliveries))


def fill(client: Client, size: int) -> None:
    """Let the history of the account be larger by so many bytes, for its counter."""
    with client.app.app_context(), transaction():
        own = update(AccountUsage).where(AccountUsage.account_id == client.account_id)
        db.session.execute(own.values(history_bytes=AccountUsage.history_bytes + size))


@pytest.mark.both
def test_they_follow_every_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def grows() -> None:
        seal(client, monkeypatch)
        made.append(current(client))
        assert made[-1] == actual(client)
        assert len(made) == 1 or made[-1] > made[-2]

    grows()
    project = make_project(client, geometry=square(), description="Wald und Höhe")
    path = f"/v1/projects/{project['id']}"
    grows()
    make_webhook(client, events=["*"])
    grows()
    client.put(path, json={"description": "ä" * 5_000})
    grows()
    asset = make_asset(client, project["id"])
    grows()
    client.put(f"{path}/assets/{asset['id']}", json={"name": "Other"})
    grows()
    client.delete(f"{path}/assets/{asset['id']}")
    grows()
    client.post(f"{path}/archive")
    grows()
    client.get("/v1/exports/projects?format=csv")
    grows()
    make_entry(client)
    grows()
    client.delete(path)
    grows()


def test_a_failed_change_counts_nothing(client: Client) -> None:
    make_project(client, external_id="a")
    before = current(client)
    assert client.post("/v1/projects", json={"name": "B", "external_id": "a"}).status_code == 409
    assert current(client) == before == actual(client)


@pytest.mark.both
def test_what_is_pruned_no_longer_counts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_webhook(client, events=["*"])
    project = make_project(client)
    with client.app.app_context(), transaction():
        deliveries = Delivery.account_id == client.account_id
        db.session.execute(update(Delivery).where(deliveries).values(due_at=None, state="failed"))
    before = current(client)
    later = clock.now() + timedelta(days=EVENT_DAYS, hours=1)
    with client.app.app_context(), monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        assert run_if_due(jobs.prune_events)
        # An event goes after its deliveries, in a later run if those of others come first.
        wait_for(lambda: not run_if_due(jobs.prune_events))
    assert current(client) == actual(client) < before - 3 * HISTORY_ROW_BYTES
    client.put(f"/v1/projects/{project['id']}", json={"name": "After"})
    seal(client, monkeypatch)
    before = current(client)
    prune(client, monkeypatch, [1])
    assert current(client) == actual(client)
    assert actual(client) < before


def test_deliveries_of_a_webhook_go_with_it(client: Client) -> None:
    webhook = make_webhook(client, events=["*"])
    make_project(client)
    client.delete(f"/v1/webhooks/{webhook['id']}")
    with client.app.app_context():
        own = update(Webhook).where(Webhook.id == webhook["id"])
        db.session.execute(own.values(deleted_at=clock.now() - timedelta(days=99)))
        db.session.commit()
        before = current(client)
        webhooks = [each for each in jobs._OTHERS if each.model is Webhook]
        prune_tables(webhooks, jobs.transaction)
    assert current(client) == actual(client) == before - 2 * HISTORY_ROW_BYTES


def test_a_full_history_refuses_creates_and_updates(app: Flask) -> None:
    with second_app(app, max_history_bytes=20_000) as made:
        client = make_account(made)
        project = make_project(client, geometry=square())
        path = f"/v1/projects/{project['id']}"
        asset = make_asset(client, project["id"])
        boundary = client.get(f"{path}/boundaries").json["data"][0]["id"]
        assert client.put(path, json={"geometry": square(size=0.2)}).status_code == 200
        archived = f"/v1/projects/{make_project(client)['id']}"
        client.post(f"{archived}/archive")
        fill(client, 20_000 - current(client))
        before = actual(client)
        body: dict[str, Any]
        for method, target, body in (
            ("POST", "/v1/projects", {"name": "B"}),
            ("PUT", path, {"name": "B"}),
            ("PATCH", path, {"name": "B"}),
            ("POST", f"{path}/assets", {"name": "B", "type": "x"}),
            ("PUT", f"{path}/assets/{asset['id']}", {"name": "B"}),
            ("POST", f"{path}/boundaries/{boundary}/restore", {}),
            ("PUT", path, {"status": "draft"}),
            ("PUT", archived, {"status": "active"}),
            ("POST", f"{archived}/restore", None),
        ):
            refused = client.send(method, target, json=body)
            assert refused.status_code == 403, (target, refused.json)
            (detail,) = refused.json["error"]["details"]
            assert (detail["field"], detail["code"]) == ("", "history")
            day = clock.now().date() + timedelta(days=EVENT_DAYS)
            assert refused.json["error"]["message"] == (
                f"The account's history is full. There is room again on {day}."
            )
            assert "of at most 20,000" in detail["message"]
        assert actual(client) == before
        usage = client.get("/v1/account/usage").json["data"]["history_bytes"]
        assert usage == {"current": 20_000, "limit": 20_000}


def test_a_replay_needs_room_for_its_deliveries(app: Flask) -> None:
    with second_app(app, max_history_bytes=20_000) as made:
        client = make_account(made)
        for _ in range(3):
            make_project(client)
        webhook = make_webhook(client)
        path = f"/v1/webhooks/{webhook['id']}/replay"
        body = {"since": clock.format_value(clock.now() - timedelta(minutes=5))}
        events = len(client.get("/v1/events").json["data"])
        fill(client, 20_000 - current(client) - events * 2 * HISTORY_ROW_BYTES + 1)
        refused = client.post(path, json=body)
        assert refused.status_code == 403, refused.json
        assert refused.json["error"]["details"][0]["code"] == "history"
        browser, address = browser_of(client), f"/webhooks/{webhook['id']}/replay"
        browser.get(f"{address}?since=2026-01-02T03:04&which=all&only_failed=false")
        assert "history is full" in browser.submit(address).text
        fill(client, -1)
        assert client.post(path, json=body).json["data"]["replayed"] == events


def test_a_full_history_does_not_refuse_the_rest(app: Flask) -> None:
    with second_app(app, max_history_bytes=20_000) as made:
        client = make_account(made)
        projects = [make_project(client) for _ in range(2)]
        assets = [make_asset(client, projects[0]["id"]) for _ in range(2)]
        fill(client, 20_000)
        path = f"/v1/projects/{projects[0]['id']}"
        for method, target, body in (
            ("GET", "/v1/exports/projects?format=csv", None),
            ("DELETE", f"{path}/assets/{assets[0]['id']}", None),
            ("POST", f"{path}/archive", None),
            ("PUT", f"/v1/projects/{projects[1]['id']}", {"status": "archived"}),
            ("DELETE", path, None),
            ("POST", "/v1/account/members/invite", {"email": "a@example.org", "role": "viewer"}),
            ("PUT", "/v1/account", {"name": "Renamed"}),
        ):
            answer = client.send(method, target, json=body)
            assert answer.status_code < 300, (target, answer.json)


def test_zero_is_no_bound(app: Flask) -> None:
    with second_app(app, max_history_bytes=0) as made:
        client = make_account(made)
        make_project(client)
        assert client.get("/v1/account/usage").json["data"]["history_bytes"]["limit"] is None


def test_a_lowered_bound_says_before_which_day_there_is_no_room(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with second_app(app, max_history_bytes=1_000) as made:
        client = make_account(app)
        make_project(client)
        seal(client, monkeypatch)
        fill(client, 10**9)
        client = dataclasses.replace(client, app=made)
        refused = client.post("/v1/projects", json={"name": "B"})
        day = clock.now().date() + timedelta(days=app.config["SETTINGS"].audit_days)
        assert f"There is no room before {day}." in refused.json["error"]["message"]
