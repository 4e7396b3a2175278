"""Hundreds of webhooks of many accounts, each with an event: nothing is left or sent twice, and
what the job holds and asks is bounded."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast

import pytest
from flask import Flask
from sqlalchemy import Engine, Table, distinct, event, func, select

from app.db.extensions import db
from app.db.transactions import insert_row, transaction
from app.events.outbox import NEW_DELIVERIES, EventActor, emit_event
from app.jobs.queue import DELIVERIES, job_queue
from app.jobs.valkey import valkey
from app.models import Account, AccountUsage, Delivery, DeliveryLog, Webhook
from app.outbound import Egress
from app.policy.deliveries import (
    FOR_UNKNOWN,
    QUEUED,
    QUEUED_OF_OTHERS,
    SENDERS,
    WEBHOOKS_PER_ACCOUNT,
)
from app.security.sealing import seal
from app.values import clock
from app.values.ids import new_id
from app.webhooks.deliveries import jobs, webhook_queue
from app.webhooks.deliveries.due import DueScan
from app.webhooks.deliveries.fair_scheduler import FairScheduler
from app.webhooks.deliveries.outcomes import save_outcomes
from tests.make import Client, make_project
from tests.outbound.receivers import Receiver
from tests.webhooks.conftest import Later
from tests.webhooks.deliveries.conftest import LingerFor
from tests.webhooks.deliveries.makers import URL, outcome

_WEBHOOKS = 600  # more than may be claimed at once
_ATTEMPT_SECONDS = 15.0  # not 5: a busy machine makes none fail; with what it may wait, in a lease
_ROUND_TRIP = timedelta(milliseconds=10)


def fill(customer: Client, url: str, *, has_succeeded: bool) -> None:
    """As many webhooks as accounts may have, each with one event. They are written directly, and
    the events as by a change in each account: through the API it would take minutes."""
    record = make_project(customer)
    with customer.app.app_context():
        sealed_secret = seal("a secret of 16 characters or more")
        for number in range(_WEBHOOKS // WEBHOOKS_PER_ACCOUNT):
            with transaction():
                _fill_account(number, url, sealed_secret, record, has_succeeded)


def _fill_account(
    number: int, url: str, sealed_secret: str, record: dict[str, Any], has_succeeded: bool
) -> None:
    account_id, now = new_id("account"), clock.now()
    times = {"created_at": now, "updated_at": now}
    names = {"name": f"Account {number}", "slug": account_id.replace("_", "-")}
    insert_row(Account, {"id": account_id, "type": "organization", "plan": "pro"} | names | times)
    insert_row(AccountUsage, {"account_id": account_id})
    webhooks = [
        {
            "id": (webhook_id := new_id("webhook")),
            "account_id": account_id,
            "url": f"{url}/{webhook_id}",
            "events": ["project.created"],
            "enabled": True,
            "sealed_secret": sealed_secret,
            "last_success_at": now if has_succeeded else None,
            **times,
        }
        for _ in range(WEBHOOKS_PER_ACCOUNT)
    ]
    db.session.connection().execute(cast("Table", Webhook.__table__).insert(), webhooks)
    actor = EventActor(account_id, names["name"], "user_1", "ana@forest.example.org")
    emit_event("project.created", record, actor)


@contextmanager
def counted_statements() -> Iterator[Counter[str]]:
    """How many statements are sent in the block, by their first word."""
    found: Counter[str] = Counter()

    def count(_: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        found[statement.split(maxsplit=1)[0]] += 1

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", count)


class Steps:
    """The steps of a run, one by one, without threads and without waiting."""

    def __init__(self) -> None:
        self.scheduler = FairScheduler()
        self.scan = DueScan("a run", self.scheduler)
        self.sent: Counter[str] = Counter()  # by delivery

    @property
    def must_scan(self) -> bool:
        due = self.scan.next_due
        return self.scan.is_unfinished or (due is not None and due <= clock.now())

    @property
    def are_done(self) -> bool:
        scan = self.scan
        return not (self.scheduler.queued or scan.is_unfinished or scan.next_due)

    def claim(self) -> None:
        """Scan once."""
        numbers = self.scan.find(clock.now())
        if numbers:
            with transaction():
                claimed = self.scan.claim(numbers, clock.now())
            self.scheduler.enqueue(claimed)

    def send(self) -> None:
        """What may be in flight at once arrives."""
        begun = [outcome(delivery) for _, delivery in self.scheduler.begin_next()]
        for each in begun:
            self.scheduler.on_outcome(each)
        if not begun:
            return
        self.sent.update(each.delivery.id for each in begun)
        with transaction():
            save_outcomes("a run", begun)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("has_succeeded", "budget", "senders"),
    [(True, QUEUED, SENDERS), (False, QUEUED_OF_OTHERS, FOR_UNKNOWN)],
    ids=["healthy", "unknown"],
)
def test_what_is_held_and_asked_is_bounded(
    delivering: Flask,
    customer: Client,
    later: Later,
    monkeypatch: pytest.MonkeyPatch,
    has_succeeded: bool,
    budget: int,
    senders: int,
) -> None:
    """The clock moves as the test says, so that all machines ask the same.

    Args:
        budget: how many deliveries may be claimed before any was sent.
        senders: how many requests may be in flight.
    """
    later(timedelta())
    monkeypatch.setattr(webhook_queue, "QUEUED_SECONDS", math.inf)
    fill(customer, URL, has_succeeded=has_succeeded)
    steps = Steps()
    with delivering.app_context():
        steps.claim()
        while steps.must_scan:
            steps.claim()
        assert steps.scheduler.queued == budget
        with counted_statements() as statements:
            while not steps.are_done:
                steps.send()
                later(_ROUND_TRIP)
                if steps.must_scan:
                    steps.claim()
                assert steps.scheduler.queued <= budget
    assert set(steps.sent.values()) == {1}
    assert len(steps.sent) == _WEBHOOKS
    # A scan, a claim and a record for what is in flight at once, however many webhooks wait.
    assert statements.total() <= 12 * _WEBHOOKS / senders, statements


@pytest.mark.both
@pytest.mark.slow
def test_two_workers_send_each_delivery_once(
    delivering: Flask,
    customer: Client,
    receiver: Receiver,
    linger_for: LingerFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole job, twice at once."""
    linger_for(0.5)
    monkeypatch.setitem(Egress.post.__kwdefaults__, "seconds", _ATTEMPT_SECONDS)
    with delivering.app_context():
        valkey().attempt(NEW_DELIVERIES.begin)  # a signal of a test before, which starts no job
        job_queue(valkey().client, DELIVERIES).empty()
    fill(customer, receiver.url(), has_succeeded=False)
    delivered: list[int] = []

    def work() -> None:
        with delivering.app_context():
            delivered.append(jobs.deliver())

    with delivering.app_context():
        assert job_queue(valkey().client, DELIVERIES).count == 1, "a job for all events"
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(delivered) == _WEBHOOKS
    paths = {request.path for request in receiver.requests}
    assert len(receiver.requests) == len(paths) == _WEBHOOKS
    with delivering.app_context():
        states = select(Delivery.state, Delivery.attempts, Delivery.claim, func.count())
        grouped = states.group_by(Delivery.state, Delivery.attempts, Delivery.claim)
        assert db.session.execute(grouped).all() == [("succeeded", 1, None, _WEBHOOKS)]
        logged = select(func.count(distinct(DeliveryLog.delivery_id))).join(
            Delivery, Delivery.id == DeliveryLog.delivery_id
        )
        assert db.session.scalar(logged) == _WEBHOOKS
