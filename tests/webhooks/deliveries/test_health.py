"""A webhook that fails for long is disabled, after a warning; one that is gone at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Mail
from app.policy.deliveries import DISABLED_AFTER, RETRY_AFTER, WARNED_AFTER
from app.webhooks.deliveries.health import update_health
from app.webhooks.deliveries.jobs import deliver as deliver_job
from app.webhooks.deliveries.types import Outcome
from tests.make import Client, make_member, make_project, second_app
from tests.make.webhooks import deliveries, make_webhook, webhook_row
from tests.outbound.receivers import Exchange, Receiver, answering, in_turn
from tests.webhooks.conftest import Deliver, Later
from tests.webhooks.deliveries.makers import claimed, outcome


def mails(app: Flask, kind: str, webhook_id: str) -> list[str]:
    """The recipients of the mails of a kind about a webhook."""
    with app.app_context():
        about = select(Mail.recipient).where(
            Mail.kind == kind, Mail.cause.contains(webhook_id, autoescape=True)
        )
        return sorted(db.session.scalars(about))


def status(customer: Client, webhook: dict[str, str]) -> tuple[object, object]:
    record = customer.get(f"/v1/webhooks/{webhook['id']}").json["data"]
    return record["status"], record["disabled_reason"]


@pytest.mark.both
def test_a_410_disables_at_once(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(3):
        make_project(customer)
    receiver.answer = answering(410)
    deliver()
    assert status(customer, webhook) == ("disabled", "gone")
    assert "pending" not in {row["state"] for row in deliveries(customer, webhook["id"])}
    assert len(mails(delivering, "webhook_disabled", webhook["id"])) == 1
    seen = len(receiver.requests)
    make_project(customer)
    deliver()
    assert len(receiver.requests) == seen


def test_a_410_cancels_pending_retries(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = in_turn(answering(500), answering(410))
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(2):
        make_project(customer)
        deliver()
        later(timedelta(seconds=1))
    assert status(customer, webhook) == ("disabled", "gone")
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": True})
    later(RETRY_AFTER[0])
    deliver()
    assert [row["state"] for row in deliveries(customer, webhook["id"])] == ["canceled", "failed"]
    assert len(receiver.requests) == 2


@pytest.mark.both
def test_a_webhook_that_fails_for_long_is_disabled_a_day_after_a_warning(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    admin = make_member(customer, "admin")
    make_member(customer, "editor")
    receiver.answer = answering(500)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])

    def fail_once() -> None:
        make_project(customer)
        deliver()

    fail_once()
    later(WARNED_AFTER - timedelta(seconds=1))
    fail_once()
    assert mails(delivering, "webhook_failing", webhook["id"]) == []
    later(timedelta(seconds=1))
    fail_once()
    fail_once()
    recipients = mails(delivering, "webhook_failing", webhook["id"])
    assert len(recipients) == 2, "the owner and the admin, once"
    assert admin.email in recipients
    assert status(customer, webhook) == ("failing", None)
    later(DISABLED_AFTER - WARNED_AFTER - timedelta(seconds=1))
    fail_once()
    assert status(customer, webhook) == ("failing", None)
    later(timedelta(seconds=1))
    fail_once()
    assert status(customer, webhook) == ("disabled", "failing")
    assert mails(delivering, "webhook_disabled", webhook["id"]) == recipients


def test_a_webhook_with_rare_attempts_is_warned_before_it_is_disabled(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = answering(500)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    deliver()
    later(timedelta(days=20))
    make_project(customer)
    deliver()
    assert status(customer, webhook) == ("failing", None)
    assert len(mails(delivering, "webhook_failing", webhook["id"])) == 1
    later(timedelta(days=1))
    make_project(customer)
    deliver()
    assert status(customer, webhook) == ("disabled", "failing")


@pytest.mark.both
def test_a_success_clears_the_warning(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    receiver.answer = answering(500)
    make_project(customer)
    deliver()
    later(WARNED_AFTER)
    deliver()
    make_project(customer)
    deliver()
    assert webhook_row(customer, webhook["id"])["warned_at"] is not None
    receiver.answer = answering(200)
    make_project(customer)
    deliver()
    row = webhook_row(customer, webhook["id"])
    assert (row["warned_at"], row["failing_since"], row["consecutive_failures"]) == (None, None, 0)


@pytest.mark.both
def test_later_outcomes_do_not_undo_a_410(customer: Client) -> None:
    """Neither in the same batch, with failures of others, nor in a later one."""
    webhook, failing = make_webhook(customer), make_webhook(customer)

    def attempt(of: dict[str, str], code: int) -> Outcome:
        error = None if code < 300 else "answered"
        sent = outcome(claimed(of["id"], account_id=customer.account_id), error=error)
        return sent._replace(url=of["url"], status=code)

    with customer.app.app_context():
        for codes in ([410, 200, 200], [200]):
            with transaction():
                update_health([*(attempt(webhook, code) for code in codes), attempt(failing, 500)])
            assert status(customer, webhook) == ("disabled", "gone")
            assert webhook_row(customer, webhook["id"])["failing_since"] is not None
    assert status(customer, failing) == ("failing", None)


def test_failures_of_a_former_url_do_not_count(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    webhook = make_webhook(customer, url=receiver.url("/old"), events=["project.created"])

    def change(exchange: Exchange) -> bool:
        customer.put(f"/v1/webhooks/{webhook['id']}", {"url": receiver.url("/new")})
        receiver.answer = answering(200)
        return answering(410)(exchange)

    receiver.answer = change
    make_project(customer)
    deliver()
    assert status(customer, webhook) == ("healthy", None)
    assert webhook_row(customer, webhook["id"])["enabled"]


@pytest.mark.both
def test_time_in_which_nothing_is_sent_does_not_disable(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = answering(500)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for wait in (WARNED_AFTER, timedelta(days=10)):
        make_project(customer)
        deliver()
        later(wait)
    with second_app(delivering, outbound="off") as off, off.app_context():
        assert deliver_job() == 0
    make_project(customer)
    deliver()
    assert status(customer, webhook) == ("failing", None)
