"""Trying at once what waits for its next try."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Delivery
from app.values import clock
from app.webhooks import service
from tests.make import Client, deliveries, make_project, make_webhook
from tests.make.webhooks import set_webhook
from tests.pages.support import browser_of

LATER = timedelta(hours=20)
NOTHING: dict[str, Any] = {}


def make_projects(client: Client, number: int) -> None:
    for _ in range(number):
        make_project(client)


@pytest.fixture
def webhook_id(client: Client) -> str:
    return str(make_webhook(client, events=["project.created"])["id"])


def _wait(client: Client, webhook_id: str, *changes: Mapping[str, Any]) -> datetime:
    """Have each delivery wait for another try, with ``changes`` to some. Returns when that is."""
    due_at = clock.now() + LATER
    with client.app.app_context(), transaction():
        own = rows_of(client.account_id, Delivery).where(Delivery.webhook_id == webhook_id)
        rows = db.session.scalars(own.order_by(Delivery.id)).all()
        for row, values in zip_longest(rows, changes, fillvalue=NOTHING):
            for name, value in {"attempts": 2, "due_at": due_at, **values}.items():
                setattr(row, name, value)
    return due_at


def _retry(client: Client, webhook_id: str) -> str:
    browser = browser_of(client)
    browser.get(f"/webhooks/{webhook_id}")
    return browser.submit(f"/webhooks/{webhook_id}/retry").text


def test_what_waits_is_due_now_and_no_try_is_added(client: Client, webhook_id: str) -> None:
    make_projects(client, 2)
    _wait(client, webhook_id, {"attempts": 5})
    page = browser_of(client).get(f"/webhooks/{webhook_id}")
    assert "2 deliveries wait for the next try." in page.text
    assert "2 deliveries are tried now." in _retry(client, webhook_id)
    found = deliveries(client, webhook_id)
    assert all(each["due_at"] <= clock.now() for each in found)
    assert [each["attempts"] for each in found] == [5, 2]
    assert "Nothing waited." in _retry(client, webhook_id)


@pytest.mark.both
def test_others_are_left_as_they_are(client: Client, webhook_id: str) -> None:
    other = make_webhook(client, events=["project.created"])["id"]
    make_projects(client, 4)
    due_at = _wait(
        client,
        webhook_id,
        {"claim": "run_1"},
        {"attempts": 0},
        {"state": "failed", "due_at": None},
    )
    others_due_at = _wait(client, other)
    assert "1 delivery is tried now." in _retry(client, webhook_id)
    first, second, third, fourth = (each["due_at"] for each in deliveries(client, webhook_id))
    assert (first, second, third) == (due_at, due_at, None)
    assert fourth <= clock.now()
    assert {each["due_at"] for each in deliveries(client, other)} == {others_due_at}


def test_no_more_than_so_many_at_once(
    client: Client, webhook_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "TRIED_AT_ONCE", 2)
    make_projects(client, 3)
    _wait(client, webhook_id)
    assert "2 deliveries are tried now." in _retry(client, webhook_id)
    assert "1 delivery is tried now." in _retry(client, webhook_id)


def test_nothing_is_tried_for_a_disabled_webhook(client: Client, webhook_id: str) -> None:
    make_project(client)
    _wait(client, webhook_id)
    set_webhook(client, webhook_id, enabled=False, disabled_reason="manual")
    assert "The webhook is disabled" in _retry(client, webhook_id)
