"""Errors on our side are retried, and do not count against the receiver."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from tests.make import Client, make_project
from tests.make.webhooks import make_webhook, set_webhook, webhook_row
from tests.outbound.receivers import Receiver
from tests.webhooks.conftest import Deliver, Later
from tests.webhooks.deliveries.test_deliveries import logs, record


def test_a_secret_that_cannot_be_read_sends_nothing_and_does_not_count_against_the_receiver(
    customer: Client,
    receiver: Receiver,
    deliver: Deliver,
    later: Later,
    caplog: pytest.LogCaptureFixture,
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    sealed = webhook_row(customer, webhook["id"])["sealed_secret"]
    set_webhook(customer, webhook["id"], sealed_secret=sealed[:-8] + "AAAAAAA=")
    for _ in range(3):
        make_project(customer)
    with caplog.at_level(logging.ERROR):
        deliver()
    assert len(caplog.records) == 1, "one line, however many deliveries there are"
    assert receiver.requests == []
    for entry in logs(customer, webhook):
        assert entry["error"] == "an internal error of the service"
        assert "next_retry_at" in entry
    shown = record(customer, webhook)
    assert (shown["status"], shown["consecutive_failures"]) == ("healthy", 0)
    set_webhook(customer, webhook["id"], sealed_secret=sealed)
    later(timedelta(seconds=60))
    assert deliver() == 3
