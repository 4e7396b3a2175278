"""A clock that was set back: what is planned waits for no longer than it may."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import update

from app.db.extensions import db
from app.db.transactions import transaction
from app.mail.jobs import shorten_mail_waits
from app.mail.service import queue_mail
from app.models import Delivery, Mail
from app.policy.deliveries import RETRY_AFTER
from app.policy.mails import LEASE
from app.policy.mails import RETRY_AFTER as MAIL_RETRY_AFTER
from app.values import clock
from app.webhooks.deliveries.jobs import shorten_delivery_waits
from tests.make import Client
from tests.make.webhooks import make_webhook
from tests.webhooks.deliveries.makers import queue

pytestmark = pytest.mark.both


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)


def plan(app: Flask, model: type[Delivery | Mail], attempts: int, wait: timedelta) -> None:
    """Plan all rows of a model so far ahead."""
    with app.app_context(), transaction():
        db.session.execute(update(model).values(attempts=attempts, due_at=clock.now() + wait))


def shorten(app: Flask, model: type[Delivery | Mail]) -> timedelta:
    """Run the job. Returns how long the rows wait then."""
    with app.app_context():
        (shorten_delivery_waits if model is Delivery else shorten_mail_waits)()
        (due_at,) = set(db.session.scalars(db.select(model.due_at)))
        return due_at - clock.now()


def test_a_delivery_waits_no_longer_than_its_schedule_says(client: Client) -> None:
    queue(client, 3, make_webhook(client, events=["invoice.paid"]))
    for attempts, planned in enumerate(RETRY_AFTER, 1):
        for back in (timedelta(hours=1), timedelta(days=1)):
            plan(client.app, Delivery, attempts, planned + back)
            assert shorten(client.app, Delivery) == planned


def test_what_a_killed_worker_has_claimed_is_soon_due_again(client: Client) -> None:
    queue(client, 1, make_webhook(client, events=["invoice.paid"]))
    plan(client.app, Delivery, 0, timedelta(days=1, seconds=30))
    assert shorten(client.app, Delivery) <= timedelta(minutes=1)


def test_a_mail_waits_no_longer_than_its_schedule_says(app: Flask) -> None:
    with app.app_context(), transaction():
        queue_mail("test", "jo@example.org", cause="test:waiting", values={})
    plan(app, Mail, 3, MAIL_RETRY_AFTER[2] + timedelta(days=1))
    assert shorten(app, Mail) <= MAIL_RETRY_AFTER[2]
    plan(app, Mail, 6, LEASE + timedelta(days=1))
    assert shorten(app, Mail) <= LEASE


def test_what_is_planned_in_time_stays(client: Client) -> None:
    queue(client, 1, make_webhook(client, events=["invoice.paid"]))
    with client.app.app_context(), transaction():
        queue_mail("test", "jo@example.org", cause="test:in time", values={})
    for model in (Delivery, Mail):
        plan(client.app, model, 4, RETRY_AFTER[3])
        assert shorten(client.app, model) == RETRY_AFTER[3]
