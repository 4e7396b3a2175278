"""When something is due next."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.db.transactions import transaction
from app.values import clock
from app.webhooks.deliveries import due, leases
from app.webhooks.deliveries.due import DueScan
from app.webhooks.deliveries.fair_scheduler import FairScheduler
from tests.make import Client
from tests.make.webhooks import make_webhook
from tests.outbound.receivers import Receiver
from tests.webhooks.conftest import Deliver, Later
from tests.webhooks.deliveries.makers import MOMENT, claimed, outcome, queue

MINUTE = timedelta(minutes=1)


def test_what_is_due_later_is_looked_for_soon_after_a_claim(
    delivering: Flask, customer: Client, receiver: Receiver, later: Later
) -> None:
    """Of a webhook, a scan finds only the first moment at which something is due."""
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, 1, webhook)
    later(timedelta(seconds=5))
    queue(customer, 1, webhook)
    later(timedelta(seconds=-4))
    scan = DueScan("a run", FairScheduler())
    with delivering.app_context():
        with transaction():
            assert len(scan.claim(scan.find(clock.now()), clock.now())) == 1
        assert scan.next_due is not None
        assert scan.next_due - clock.now() <= timedelta(seconds=1)
        later(scan.next_due - clock.now())
        scan.find(clock.now())
        assert scan.next_due is not None
        assert scan.next_due - clock.now() == timedelta(seconds=3.5)


def test_a_retry_is_due_when_its_attempt_is_recorded() -> None:
    scan = DueScan("a run", FairScheduler())
    failed, succeeded = claimed("a webhook"), claimed("a webhook")
    scan.expect_retries([outcome(succeeded)])
    assert scan.next_due is None
    scan.expect_retries([outcome(succeeded), outcome(failed, error="timeout", seconds=5)])
    assert scan.next_due == MOMENT + timedelta(seconds=5) + MINUTE
    scan.expect_retries([outcome(failed, error="timeout", seconds=7)])
    assert scan.next_due == MOMENT + timedelta(seconds=5) + MINUTE


@pytest.mark.both
def test_new_webhooks_that_one_scan_leaves_are_found_by_the_next(
    delivering: Flask,
    customer: Client,
    receiver: Receiver,
    deliver: Deliver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also when the scan was not the last one of its round."""
    monkeypatch.setattr(leases, "WEBHOOKS_AT_ONCE", 3)
    monkeypatch.setattr(due, "PROBED_AT_ONCE", 2)
    webhooks = [make_webhook(customer, url=receiver.url(), events=["invoice.paid"]) for _ in "abcd"]
    queue(customer, 1, *webhooks)
    assert deliver() == 4
