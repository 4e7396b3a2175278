"""What follows from an attempt."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import update

from app.db.extensions import db
from app.models import Delivery
from app.webhooks.deliveries.outcomes import unsaved_outcomes
from app.webhooks.deliveries.sender_pool import status_error
from tests.make import Client, deliveries, make_project, make_webhook
from tests.webhooks.deliveries.makers import claimed, outcome


def test_the_error_for_a_status() -> None:
    for status, error in [
        (101, "answered 101"),
        (200, None),
        (299, None),
        (302, "answered 302; redirects are not followed"),
        (400, "answered 400"),
        (410, "answered 410; the webhook is disabled"),
        (500, "answered 500"),
    ]:
        assert status_error(status) == error


@pytest.mark.both
def test_a_result_whose_commit_is_pending_is_recorded_once(client: Client) -> None:
    """As when a commit waits for a standby: nobody else sees it, and it may still come."""
    if client.app.config["SETTINGS"].uses_sqlite:
        pytest.skip("SQLite has no commit that waits")
    webhook = make_webhook(client)
    make_project(client)
    (row,) = deliveries(client, webhook["id"])
    sent = outcome(claimed(webhook["id"], id=row["id"], attempt=1))
    with client.app.app_context(), db.engine.connect() as pending:
        own = update(Delivery).where(Delivery.id == row["id"])
        pending.execute(own.values(attempts=1, state="succeeded", due_at=None))
        timer = threading.Timer(0.3, pending.commit)
        timer.start()
        assert unsaved_outcomes([sent]) == []
        db.session.rollback()
        timer.join()
