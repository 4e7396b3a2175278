"""Hundreds of webhooks of many accounts, each with an event: nothing is left or sent twice."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest
from flask import Flask
from sqlalchemy import Table, distinct, func, select

from app.db.extensions import db
from app.db.transactions import insert_row, transaction
from app.events.outbox import NEW_DELIVERIES, EventActor, emit_event
from app.jobs.queue import DELIVERIES, job_queue
from app.jobs.valkey import valkey
from app.models import Account, AccountUsage, Delivery, DeliveryLog, Webhook
from app.outbound import Egress
from app.policy.deliveries import (
    WEBHOOKS_PER_ACCOUNT,
)
from app.security.sealing import seal
from app.values import clock
from app.values.ids import new_id
from app.webhooks.deliveries import jobs
from tests.make import Client, make_project
from tests.outbound.receivers import Receiver
from tests.webhooks.deliveries.conftest import LingerFor

_WEBHOOKS = 600  # more than may be claimed at once
_ATTEMPT_SECONDS = 15.0  # not 5: a busy machine makes none fail; with what it may wait, in a lease


def fill(customer: Client, url: str) -> None:
    """As many webhooks as accounts may have, each with one event. They are written directly, and
    the events as by a change in each account: through the API it would take minutes."""
    record = make_project(customer)
    with customer.app.app_context():
        sealed_secret = seal("a secret of 16 characters or more")
        for number in range(_WEBHOOKS // WEBHOOKS_PER_ACCOUNT):
            with transaction():
                _fill_account(number, url, sealed_secret, record)


def _fill_account(number: int, url: str, sealed_secret: str, record: dict[str, Any]) -> None:
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
            **times,
        }
        for _ in range(WEBHOOKS_PER_ACCOUNT)
    ]
    db.session.connection().execute(cast("Table", Webhook.__table__).insert(), webhooks)
    actor = EventActor(account_id, names["name"], "user_1", "ana@forest.example.org")
    emit_event("project.created", record, actor)


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
    fill(customer, receiver.url())
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
