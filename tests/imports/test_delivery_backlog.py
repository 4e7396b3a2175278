"""Imports of an account of which many deliveries have not been tried."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from app.db.extensions import db
from app.db.transactions import transaction
from app.imports import delivery_backlog
from app.models import Delivery, Event, Import
from app.policy.imports import UNTRIED_DELIVERIES
from app.values import clock
from app.values.ids import new_id
from tests.cli.conftest import runner
from tests.imports.making import act, projects, read, ready, work
from tests.make import Client, make_account, make_project, make_webhook, second_app, square
from tests.make.features import collection, feature
from tests.pages.support import browser_of


def queue(client: Client, number: int, **values: Any) -> None:
    """Queue so many deliveries of one event, which are due now."""
    webhook = make_webhook(client, events=["*"])
    make_project(client)
    with client.app.app_context(), transaction():
        own = select(Event.id).where(Event.account_id == client.account_id)
        common = {
            "account_id": client.account_id,
            "webhook_id": webhook["id"],
            "event_id": db.session.scalars(own.order_by(Event.id.desc())).first(),
            "cause": "event",
            "state": "pending",
            "attempts": 0,
            "due_at": clock.now(),
            "created_at": clock.now(),
        }
        rows = [common | values | {"id": new_id("delivery")} for _ in range(number)]
        db.session.execute(insert(Delivery), rows)


def set_attempts(client: Client, attempts: int) -> None:
    """Let all deliveries of the account have been tried so often."""
    with client.app.app_context(), transaction():
        own = update(Delivery).where(Delivery.account_id == client.account_id)
        later = clock.now() + timedelta(seconds=20 * attempts)
        db.session.execute(own.values(attempts=attempts, due_at=later))


def go_on(client: Client, record: dict[str, Any]) -> dict[str, Any]:
    """The import after a worker has come by, later."""
    with client.app.app_context(), transaction():
        own = update(Import).where(Import.account_id == client.account_id)
        db.session.execute(own.values(leased_until=clock.now() - timedelta(seconds=1)))
    work(client)
    return read(client, record["id"])


@pytest.mark.both
def test_one_waits_until_they_are_tried(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_backlog, "EVERY_SECONDS", 3600.0)  # longer than the test
    record = ready(client, feature(square(1, 1), name="A"))
    queue(client, UNTRIED_DELIVERIES)  # and the one of the project
    other = make_account(client.app)
    others = ready(other, feature(square(1, 1), name="A"))
    record = act(client, record, "apply")
    with client.app.app_context():  # it is left for a moment
        leased_until = db.session.get_one(Import, record["id"]).leased_until
        assert leased_until is not None
        assert leased_until > clock.now() + timedelta(minutes=30)
    for _ in range(4):  # longer than a step may be tried whose worker dies
        record = go_on(client, record)
        assert (record["status"], record["progress"]["done"]) == ("applying", 0)
        assert record["message"].startswith("Waiting: more than 10,000 deliveries")
    assert "A" not in projects(client)
    page = browser_of(client).get(f"/imports/{record['id']}")
    assert "Waiting: more than 10,000 deliveries" in page.text
    assert act(other, others, "apply")["status"] == "applied"
    set_attempts(client, 1)
    record = go_on(client, record)
    assert (record["status"], record["message"]) == ("applied", None)
    assert "A" in projects(client)
    set_attempts(client, 0)
    record = act(client, record, "undo")
    assert (record["status"], "A" in projects(client)) == ("undoing", True)
    set_attempts(client, 1)
    assert go_on(client, record)["status"] == "undone"


def test_retries_and_as_many_as_may_be_do_not_delay_one(client: Client) -> None:
    queue(client, 100, attempts=1)
    queue(client, UNTRIED_DELIVERIES - 3)  # each of the two projects had a delivery, too
    record = act(client, ready(client, feature(square(1, 1), name="A")), "apply")
    assert record["status"] == "applied"


def test_a_command_waits_in_place(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    queue(client, UNTRIED_DELIVERIES)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        assert "A" not in projects(client)
        set_attempts(client, 1)

    # Not ``time.sleep``: threads of other applications, which look for Valkey, call that.
    monkeypatch.setattr(delivery_backlog, "time", SimpleNamespace(sleep=sleep))
    path = tmp_path / "a.geojson"
    path.write_bytes(collection(feature(square(1, 1), name="A")))
    slug = client.get("/v1/account").json["data"]["slug"]
    result = runner(client.app)("import", str(path), "--account", slug)
    assert result.exit_code == 0, result.output
    assert len(slept) == 1
    assert "A" in projects(client)


def test_held_deliveries_do_not_delay_one(client: Client) -> None:
    queue(client, UNTRIED_DELIVERIES)
    with second_app(client.app, outbound="off") as off:
        caller = replace(client, app=off)
        record = act(caller, ready(caller, feature(square(1, 1), name="A")), "apply")
    assert record["status"] == "applied"
