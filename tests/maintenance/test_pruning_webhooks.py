"""Pruning what was delivered: what is still to be sent stays, however old it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import AttemptCount, DeliveryLog, Webhook
from app.policy.deliveries import LOG_DAYS
from app.policy.request_limits import EVENT_DAYS
from app.values import clock
from app.values.ids import first_id, new_id
from tests.maintenance.conftest import prune
from tests.make import Client, events, make_attempts, make_project
from tests.make.webhooks import deliveries, make_log, make_webhook, set_deliveries

pytestmark = pytest.mark.both


After = Callable[[float], None]


@pytest.fixture
def after(client: Client, monkeypatch: pytest.MonkeyPatch) -> After:
    """Prunes at a moment so many days from now."""
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)

    def run(days: float) -> None:
        monkeypatch.setattr(clock, "now", lambda: moment + timedelta(days=days))
        with client.app.app_context():
            prune()

    return run


def ids(client: Client, model: type) -> list[str]:
    with client.app.app_context():
        return [row.id for row in db.session.scalars(rows_of(client.account_id, model))]


def test_an_event_stays_while_it_is_to_be_sent(client: Client, after: After) -> None:
    webhook = make_webhook(client, events=["project.created"])
    make_project(client)
    set_deliveries(client, webhook["id"], "pending", due_at=clock.now() + timedelta(days=99))
    after(EVENT_DAYS + 1)
    assert len(events(client)) == 1
    set_deliveries(client, webhook["id"], "succeeded")
    after(EVENT_DAYS + 1)
    assert (events(client), deliveries(client)) == ([], [])


def test_entries_of_the_log_are_kept_for_their_days(client: Client, after: After) -> None:
    webhook = make_webhook(client)
    log_id = make_log(client, webhook["id"], new_id("event"))
    after(LOG_DAYS - 0.01)
    assert ids(client, DeliveryLog) == [log_id]
    after(LOG_DAYS + 0.01)
    assert ids(client, DeliveryLog) == []


def test_counts_of_attempts_are_kept_for_as_long(client: Client, after: After) -> None:
    make_attempts(client, make_webhook(client)["id"], timedelta(), "failed", 7)
    after(LOG_DAYS - 0.01)
    assert numbers(client) == [7]
    after(LOG_DAYS + 0.1)
    assert numbers(client) == []


def numbers(client: Client) -> list[int]:
    """The counts of attempts of the account."""
    with client.app.app_context():
        return [row.number for row in db.session.scalars(rows_of(client.account_id, AttemptCount))]


def test_a_deleted_webhook_goes_when_its_log_is_gone(client: Client, after: After) -> None:
    kept, gone = make_webhook(client), make_webhook(client)
    make_log(client, gone["id"], new_id("event"))
    make_project(client)
    client.delete(f"/v1/webhooks/{gone['id']}")
    set_deliveries(client, gone["id"], "canceled")
    after(LOG_DAYS)
    assert set(ids(client, Webhook)) == {kept["id"], gone["id"]}
    after(LOG_DAYS + 1.01)
    assert ids(client, Webhook) == [kept["id"]]


def test_the_first_id_of_a_moment_sorts_before_those_made_then() -> None:
    before = datetime.now(UTC)
    made = new_id("log")
    assert first_id("log", before) <= made
    assert made < first_id("log", datetime.now(UTC) + timedelta(milliseconds=1))
