"""An event is written with its change, or neither is (docs/adr/0002-one-transaction.md)."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.db.extensions import db
from app.events.outbox import EventActor, emit_event
from app.policy.events import EVENTS, PROJECT_FIELDS, includes_event
from tests.make import Client, event_types, events, make_account, make_asset, make_project

PROMISED = [
    *("project.created", "project.updated", "project.deleted"),
    *("project.archived", "project.restored"),
    *("asset.created", "asset.updated", "asset.deleted", "asset.status_changed"),
    *("member.invited", "member.joined", "member.updated", "member.removed"),
    *("subscription.created", "subscription.updated", "subscription.canceled"),
    *("invoice.paid", "invoice.failed"),
    *("usage.threshold_reached", "usage.limit_exceeded"),
]
BY_NAME = ["audit.entry", "audit.checkpoint"]  # not to webhooks for "*"


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client)


def test_the_catalogue_is_what_receivers_were_promised() -> None:
    assert list(EVENTS) == PROMISED + BY_NAME
    assert [name for name in EVENTS if includes_event(["*"], name)] == PROMISED


@pytest.mark.both
@pytest.mark.provokes(503)
def test_a_change_whose_commit_fails_leaves_no_event(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    project = f"/v1/projects/{make_project(client)['id']}"
    asset = f"{project}/assets/{make_asset(client, project.rpartition('/')[2])['id']}"
    paths = ("/v1/projects", f"{project}/assets", "/v1/account")
    before = [client.get(path).json["data"] for path in paths]
    known = event_types(client)
    for method, path, body in (
        ("POST", "/v1/projects", {"name": "New"}),
        ("PUT", project, {"name": "New"}),
        ("POST", f"{project}/archive", None),
        ("POST", f"{project}/assets", {"name": "A", "type": "equipment"}),
        ("PUT", asset, {"status": "retired"}),
        ("DELETE", asset, None),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(db.session, "commit", fail)  # the database goes away at that moment
            response = client.send(method, path, json=body)
        assert response.status_code == 503
        assert int(response.headers["Retry-After"]) >= 1
        assert event_types(client) == known
        assert [client.get(path).json["data"] for path in paths] == before


def test_an_event_keeps_what_was_then(client: Client, project: dict[str, Any]) -> None:
    before = events(client)
    client.put(f"/v1/projects/{project['id']}", json={"name": "Later"})
    client.put("/v1/account", json={"name": "Later too"})
    assert events(client)[: len(before)] == before
    assert events(client)[-1]["account"]["name"] != "Later too"


def test_an_event_that_the_catalogue_does_not_have_or_of_nobody_is_a_mistake(app: Flask) -> None:
    for kind, subject, extra, error in [
        ("project.painted", {}, {}, KeyError),
        ("project.updated", PROJECT_FIELDS, {}, ValueError),
        ("project.created", PROJECT_FIELDS, {"changes": {}}, ValueError),
        ("project.created", PROJECT_FIELDS[1:], {}, KeyError),
    ]:
        client = make_account(app)
        origin = EventActor(client.account_id, "Account", client.owner_id, "owner@example.org")
        with app.app_context(), pytest.raises(error):
            emit_event(kind, dict.fromkeys(subject, "x"), origin, **extra)
        assert events(client) == []
    nobody = EventActor(client.account_id, "A")
    with app.app_context(), pytest.raises(ValueError, match="actor"):
        emit_event("project.created", dict.fromkeys(PROJECT_FIELDS), nobody)
