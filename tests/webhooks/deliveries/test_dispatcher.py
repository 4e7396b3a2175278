"""The running job: it stops when asked, loses nothing, and continues after an outage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.db.transactions import transaction
from app.jobs import shutdown
from app.policy.deliveries import ATTEMPT_SECONDS
from app.processes.job_worker import FINISH_WITHIN
from app.webhooks.deliveries import dispatcher, jobs, outcomes
from tests.make import Client, make_project
from tests.make.webhooks import deliveries, make_webhook
from tests.outbound.receivers import Receiver, answering
from tests.waiting import PATIENCE, wait_for
from tests.webhooks.conftest import Deliver, MakeReceiver
from tests.webhooks.deliveries.conftest import LingerFor, wait_for_other_jobs
from tests.webhooks.deliveries.makers import queue


def states(customer: Client) -> list[str]:
    return [row["state"] for row in deliveries(customer)]


def test_connections_are_kept(customer: Client, receiver: Receiver, deliver: Deliver) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, 100, webhook)
    assert deliver() == len(receiver.requests) == 100
    assert receiver.connections <= 16


@pytest.mark.both
def test_when_asked_to_stop_it_releases_what_has_not_begun(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    receiver.answer = answering(200, delay=0.2)
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, 40, webhook)
    delivered = deliver(is_stopping=lambda: bool(receiver.requests))
    assert delivered < 40
    rows = deliveries(customer)
    assert [row["state"] for row in rows].count("succeeded") == delivered == len(receiver.requests)
    left = [row for row in rows if row["state"] == "pending"]
    assert len(left) == 40 - delivered
    assert {(row["claim"], row["attempts"]) for row in left} == {(None, 0)}
    assert all(row["due_at"] <= row["created_at"] for row in left), "due as they were"


@pytest.mark.usefixtures("impatient")
def test_requests_in_flight_may_end_before_the_worker_ends_the_job() -> None:
    assert ATTEMPT_SECONDS < dispatcher.END_SECONDS < FINISH_WITHIN


@pytest.mark.slow
def test_a_signal_is_noticed_while_it_lingers(
    delivering: Flask, customer: Client, receiver: Receiver, linger_for: LingerFor
) -> None:
    """The whole job, with the signal in Valkey."""
    wait_for_other_jobs()
    linger_for(600)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])

    def work() -> None:
        with delivering.app_context():
            jobs.deliver()

    job = threading.Thread(target=work)
    job.start()
    try:
        for number in range(1, 4):
            make_project(customer)
            wait_for(lambda number=number: len(receiver.requests) == number)
    finally:
        shutdown.requested.set()
        job.join(PATIENCE)
        shutdown.requested.clear()
    assert not job.is_alive()
    assert len(deliveries(customer, webhook["id"])) == 3


def test_it_ends_when_nothing_is_due_anymore(delivering: Flask, linger_for: LingerFor) -> None:
    linger_for(0.1)
    with delivering.app_context():
        assert jobs.deliver() == 0


@pytest.mark.slow
def test_an_outage_of_the_database_loses_nothing(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, 20, webhook)
    failures = iter([True, True, False])
    real = dispatcher.save_outcomes

    def record(*arguments: Any) -> bool:
        if next(failures, False):
            raise OperationalError("INSERT", {}, Exception("gone"))
        return real(*arguments)

    monkeypatch.setattr(dispatcher, "save_outcomes", record)
    assert deliver() == 20
    assert len(receiver.requests) == 20, "none is sent twice"
    assert states(customer) == ["succeeded"] * 20


@pytest.mark.both
def test_an_attempt_that_cannot_be_recorded_does_not_affect_other_webhooks(
    customer: Client,
    make_receiver: MakeReceiver,
    deliver: Deliver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad, good = make_receiver(), make_receiver()
    webhooks = [
        make_webhook(customer, url=each.url(), events=["invoice.paid"]) for each in (bad, good)
    ]
    queue(customer, 3, *webhooks)
    real = outcomes.write_logs

    def write(rows: Any) -> None:
        if any(row["webhook_id"] == webhooks[0]["id"] for row in rows):
            raise ZeroDivisionError
        real(rows)

    monkeypatch.setattr(outcomes, "write_logs", write)
    deliver()
    assert "cannot record attempts for webhook" in caplog.text
    assert [row["state"] for row in deliveries(customer, webhooks[1]["id"])] == ["succeeded"] * 3
    assert [row["state"] for row in deliveries(customer, webhooks[0]["id"])] == ["pending"] * 3


@pytest.mark.both
@pytest.mark.slow
def test_a_commit_whose_response_was_lost_is_not_recorded_again(
    delivering: Flask, customer: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database goes down just after it has committed."""
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, 20, webhook)
    real, written, lost = dispatcher.save_outcomes, [], []

    def record(run: str, outcomes: Any) -> bool:
        written.extend(outcomes)
        return real(run, outcomes)

    @contextmanager
    def lossy() -> Iterator[None]:
        with transaction():
            yield
        if written and not lost:
            lost.extend(written)
            raise OperationalError("COMMIT", {}, Exception("gone"))

    monkeypatch.setattr(dispatcher, "save_outcomes", record)
    with (
        delivering.app_context(),
        closing(jobs.open_egress(delivering.config["SETTINGS"])) as egress,
    ):
        assert dispatcher.Dispatcher(egress, lossy, lambda: False).run(linger=0) == 20
    assert lost
    entries = customer.get(f"/v1/webhooks/{webhook['id']}/logs?per_page=100").json["data"]
    assert len(entries) == len(receiver.requests) == 20
    assert {row["attempts"] for row in deliveries(customer, webhook["id"])} == {1}
