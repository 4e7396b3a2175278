"""A change of a webhook applies to what a worker has already claimed, too."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from flask import Flask

from app.deliveries import jobs
from tests.deliveries.conftest import LingerFor
from tests.deliveries.makers import queue
from tests.egress.receivers import Receiver, answering
from tests.make import Client
from tests.make.webhooks import deliveries, make_webhook
from tests.webhooks.conftest import MakeReceiver


@pytest.fixture(autouse=True)
def _short_linger(linger_for: LingerFor) -> None:
    linger_for(0.5)


NUMBER = 30  # deliveries that are due, of 0.1 s each


@contextmanager
def delivering_now(app: Flask) -> Iterator[None]:
    """The whole job, which is notified of changes."""

    def work() -> None:
        with app.app_context():
            jobs.deliver()

    job = threading.Thread(target=work)
    job.start()
    try:
        yield
    finally:
        job.join(30)


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def slowly(customer: Client, receiver: Receiver, number: int) -> dict[str, str]:
    """A webhook with this number of deliveries due, each of which takes a while."""
    receiver.answer = answering(200, delay=0.1)
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, number, webhook)
    return webhook


def test_a_deleted_one_gets_nothing_more(
    delivering: Flask, customer: Client, receiver: Receiver
) -> None:
    webhook = slowly(customer, receiver, NUMBER)
    with delivering_now(delivering):
        wait_for(lambda: receiver.requests)
        customer.delete(f"/v1/webhooks/{webhook['id']}")
        time.sleep(0.3)
        seen = len(receiver.requests)
        time.sleep(0.5)
        assert len(receiver.requests) == seen < NUMBER
    assert {row["state"] for row in deliveries(customer)} == {"succeeded", "canceled"}


def test_another_url_is_called(
    delivering: Flask, customer: Client, make_receiver: MakeReceiver
) -> None:
    old, new = make_receiver(), make_receiver()
    webhook = slowly(customer, old, NUMBER)
    with delivering_now(delivering):
        wait_for(lambda: old.requests)
        customer.put(f"/v1/webhooks/{webhook['id']}", {"url": new.url()})
        time.sleep(0.3)
        seen = len(old.requests)
        wait_for(lambda: len(old.requests) + len(new.requests) == NUMBER)
        assert len(old.requests) == seen


def test_another_secret_signs(delivering: Flask, customer: Client, receiver: Receiver) -> None:
    webhook = slowly(customer, receiver, NUMBER)
    with delivering_now(delivering):
        wait_for(lambda: receiver.requests)
        answer = customer.post(
            f"/v1/webhooks/{webhook['id']}/rotate-secret", {"overlap_hours": 0}
        ).json["data"]
        time.sleep(0.3)
        seen = len(receiver.requests)
        wait_for(lambda: len(receiver.requests) == NUMBER)
    for request in receiver.requests[seen:]:
        digest = hmac.new(answer["secret"].encode(), request.body, hashlib.sha256).hexdigest()
        assert request.headers["x-service-signature"] == f"sha256={digest}"
