"""A change of a webhook applies to what a worker has already claimed, too."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask

from app.values import clock
from app.webhooks.deliveries import jobs
from app.webhooks.deliveries.due import DueScan
from app.webhooks.deliveries.sender_pool import SenderPool
from tests.make import Client
from tests.make.webhooks import deliveries, make_webhook, set_webhook
from tests.outbound.receivers import Exchange, Receiver, answering
from tests.waiting import PATIENCE, wait_for
from tests.webhooks.conftest import MakeReceiver
from tests.webhooks.deliveries.conftest import LingerFor, wait_for_other_jobs
from tests.webhooks.deliveries.makers import queue


@pytest.fixture(autouse=True)
def _short_linger(linger_for: LingerFor) -> None:
    linger_for(0.5)


NUMBER = 60  # deliveries that are due: more than are sent at once


class Job:
    """The whole job, which is notified of changes, in a thread. No receiver answers ``until`` then,
    so that what is claimed waits."""

    def __init__(self, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[tuple[str, str]] = []  # each delivery, and where it is sent
        self.until = threading.Event()
        self._app = app
        self._scans: list[float] = []  # when each that has ended began
        self._spy(monkeypatch)

    def wait_until_noticed(self) -> int:
        """Wait until it knows what was changed before. How many deliveries had begun by then."""
        changed = time.monotonic()
        wait_for(lambda: self._scans and self._scans[-1] > changed)
        return len(self.begun)

    @contextmanager
    def running(self) -> Iterator[None]:
        wait_for_other_jobs()
        job = threading.Thread(target=self._work)
        job.start()
        try:
            yield
        finally:
            self.until.set()
            job.join(PATIENCE)
        assert not job.is_alive()

    def answer(self, exchange: Exchange) -> bool:
        self.until.wait(PATIENCE)
        return answering(200)(exchange)

    def _work(self) -> None:
        with self._app.app_context():
            jobs.deliver()

    def _spy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        send, find = SenderPool.send, DueScan.find

        def noted(pool: SenderPool, delivery: Any, destination: Any, *, in_flight: int) -> None:
            self.begun.append((delivery.id, destination.url))
            send(pool, delivery, destination, in_flight=in_flight)

        def timed(scan: DueScan, *arguments: Any) -> Any:
            began = time.monotonic()
            found = find(scan, *arguments)
            self._scans.append(began)
            return found

        monkeypatch.setattr(SenderPool, "send", noted)
        monkeypatch.setattr(DueScan, "find", timed)


@pytest.fixture
def job(delivering: Flask, monkeypatch: pytest.MonkeyPatch) -> Job:
    return Job(delivering, monkeypatch)


def many(customer: Client, receiver: Receiver, job: Job) -> dict[str, str]:
    """A webhook that is known to work, with many deliveries due."""
    receiver.answer = job.answer
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    set_webhook(customer, webhook["id"], last_success_at=clock.now())
    queue(customer, NUMBER, webhook)
    return webhook


def claimed(customer: Client) -> int:
    return sum(row["claim"] is not None for row in deliveries(customer))


def test_a_deleted_one_gets_nothing_more(customer: Client, receiver: Receiver, job: Job) -> None:
    webhook = many(customer, receiver, job)
    with job.running():
        wait_for(lambda: claimed(customer) > len(receiver.requests) > 0)
        customer.delete(f"/v1/webhooks/{webhook['id']}")
        begun = job.wait_until_noticed()
    assert len(receiver.requests) == len(job.begun) == begun < NUMBER
    assert {row["state"] for row in deliveries(customer)} == {"succeeded", "canceled"}


def test_another_url_and_secret_are_used(
    customer: Client, make_receiver: MakeReceiver, job: Job
) -> None:
    old, new = make_receiver(), make_receiver()
    new.answer = job.answer
    webhook = many(customer, old, job)
    with job.running():
        wait_for(lambda: claimed(customer) > len(old.requests) > 0)
        body = {"url": new.url(), "secret": "another-horse-battery"}
        assert customer.put(f"/v1/webhooks/{webhook['id']}", body).status_code == 200
        begun = job.wait_until_noticed()
        job.until.set()
        wait_for(lambda: len(old.requests) + len(new.requests) == NUMBER)
    assert {url for _, url in job.begun[begun:]} == {new.url()}
    for request in new.requests:
        digest = hmac.new(b"another-horse-battery", request.body, hashlib.sha256).hexdigest()
        assert request.headers["x-service-signature"] == f"sha256={digest}"
