"""A job that gets little of the processors: nothing is sent twice, and no outcome is lost."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.db.transactions import transaction
from app.jobs.valkey import connect_valkey, valkey
from app.policy.deliveries import LEASE
from app.values import clock
from app.webhooks.deliveries import dispatcher, jobs, webhook_queue
from app.webhooks.deliveries.dispatcher import Dispatcher
from app.webhooks.deliveries.due import DueScan
from app.webhooks.deliveries.fair_scheduler import FairScheduler
from tests.make import Client, make_project, second_app
from tests.make.webhooks import deliveries, make_webhook, set_deliveries, set_webhook
from tests.outbound.receivers import Answering, Exchange, Receiver, answering
from tests.waiting import PATIENCE, wait_for
from tests.webhooks.conftest import MakeReceiver
from tests.webhooks.deliveries.conftest import LingerFor
from tests.webhooks.deliveries.makers import MOMENT, claimed, pending, queue


@contextmanager
def running(app: Flask, is_stopping: Callable[[], bool] = lambda: False) -> Iterator[Dispatcher]:
    """A run of the job in a thread; the end of the block waits for its end."""
    made: list[Dispatcher] = []

    def work() -> None:
        with app.app_context(), closing(jobs.open_egress(app.config["SETTINGS"])) as egress:
            made.append(Dispatcher(egress, transaction, is_stopping))
            with suppress(ZeroDivisionError):
                made[0].run(linger=0.5)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield wait_for(lambda: made and made[0])
    finally:
        thread.join(PATIENCE)
    assert not thread.is_alive()


def known(customer: Client, url: str) -> dict[str, Any]:
    """A webhook that has received something."""
    webhook = make_webhook(customer, url=url, events=["invoice.paid"])
    set_webhook(customer, webhook["id"], last_success_at=clock.now())
    return webhook


def held(over: threading.Event) -> Answering:
    """A good answer, once something is over."""

    def answer(exchange: Exchange) -> bool:
        over.wait(PATIENCE)
        return answering(200)(exchange)

    return answer


def entries(customer: Client, webhook: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = customer.get(f"/v1/webhooks/{webhook['id']}/logs").json["data"]
    return found


def test_what_has_waited_for_long_is_not_begun() -> None:
    """Its lease might expire before the attempt has ended."""
    scheduler = FairScheduler()
    scheduler.refresh(pending("a"), MOMENT)
    long_ago = time.monotonic() - webhook_queue.QUEUED_SECONDS
    old = [claimed("a", claimed_at=long_ago) for _ in range(2)]
    new = [claimed("a") for _ in range(3)]
    scheduler.enqueue([*old, *new])
    assert [each for _, each in scheduler.begin_next()] == []
    assert scheduler.remove_unsent(claimed_before=long_ago) == old
    assert [each for _, each in scheduler.begin_next()] == new


@pytest.mark.slow
def test_what_has_waited_for_long_is_released_while_nothing_else_happens(
    delivering: Flask, customer: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    receiver.answer = held(over)
    webhook = make_webhook(customer, url=receiver.url(), events=["invoice.paid"])
    queue(customer, 2, webhook)

    def claims() -> list[str | None]:
        return [row["claim"] for row in deliveries(customer, webhook["id"])]

    with running(delivering, over.is_set):
        wait_for(lambda: receiver.requests)
        assert None not in claims()
        monkeypatch.setattr(dispatcher, "QUEUED_SECONDS", 0.5)
        wait_for(lambda: None in claims())
        over.set()


@pytest.mark.both
@pytest.mark.usefixtures("_no_errors")
@pytest.mark.parametrize(
    ("in_flight", "batch_seconds"),
    [(True, 0.0), (False, math.inf)],
    ids=["in flight", "not recorded yet"],
)
@pytest.mark.slow
def test_what_a_run_has_sent_is_not_sent_again_when_its_lease_expires(
    delivering: Flask,
    customer: Client,
    make_receiver: MakeReceiver,
    monkeypatch: pytest.MonkeyPatch,
    in_flight: bool,
    batch_seconds: float,
) -> None:
    receiver, slow, over = make_receiver(), make_receiver(), threading.Event()
    receiver.answer = held(over) if in_flight else answering(200)
    slow.answer = held(over)  # meanwhile nothing is recorded
    webhook, other = (known(customer, each.url()) for each in (receiver, slow))
    queue(customer, 1, webhook, other)
    monkeypatch.setattr(dispatcher, "BATCH_SECONDS", batch_seconds)
    with running(delivering) as job:
        wait_for(lambda: receiver.requests and slow.requests)
        wait_for(lambda: in_flight or job._outcomes)
        set_deliveries(customer, webhook["id"], "pending", due_at=clock.now())
        job.notify()
        anew = clock.now() + LEASE / 2  # its lease is a new one
        wait_for(lambda: deliveries(customer, webhook["id"])[0]["due_at"] > anew)
        over.set()
    assert len(receiver.requests) == len(entries(customer, webhook)) == 1
    (row,) = deliveries(customer, webhook["id"])
    assert (row["state"], row["attempts"], row["due_at"]) == ("succeeded", 1, None)


@pytest.mark.slow
def test_a_lease_begins_with_the_claim(
    delivering: Flask, customer: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it took to find what is due."""
    over, began, now, real = threading.Event(), clock.now(), clock.now, DueScan.find
    receiver.answer = held(over)
    webhook = known(customer, receiver.url())
    queue(customer, 1, webhook)

    def find(self: DueScan, *arguments: Any) -> Any:
        found = real(self, *arguments)
        monkeypatch.setattr(clock, "now", lambda: now() + timedelta(minutes=1))
        return found

    monkeypatch.setattr(DueScan, "find", find)
    with running(delivering):
        wait_for(lambda: receiver.requests)
        (row,) = deliveries(customer, webhook["id"])
        over.set()
    assert row["due_at"] >= began + timedelta(minutes=1) + LEASE


def test_a_run_that_fails_records_what_is_in_flight(
    delivering: Flask, customer: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.answer = answering(200, delay=0.5)
    webhook = known(customer, receiver.url())
    queue(customer, 3, webhook)
    real = DueScan.find

    def find(self: DueScan, *arguments: Any) -> Any:
        if receiver.requests:
            raise ZeroDivisionError
        return real(self, *arguments)

    monkeypatch.setattr(DueScan, "find", find)
    with running(delivering) as job:
        wait_for(lambda: receiver.requests)
        job.notify()
    assert len(entries(customer, webhook)) == len(receiver.requests)
    rows = deliveries(customer, webhook["id"])
    assert [row["claim"] for row in rows] == [None] * 3


@pytest.mark.slow
def test_a_run_that_has_to_stop_records_each_attempt_as_it_ends(
    delivering: Flask,
    customer: Client,
    make_receiver: MakeReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick, hanging = make_receiver(), make_receiver()
    stopping, over = threading.Event(), threading.Event()
    quick.answer, hanging.answer = held(stopping), held(over)
    webhooks = [known(customer, each.url()) for each in (quick, hanging)]
    queue(customer, 1, *webhooks)
    monkeypatch.setattr(dispatcher, "END_SECONDS", 600.0)
    with running(delivering, lambda: bool(quick.requests and hanging.requests)):
        wait_for(lambda: quick.requests and hanging.requests)
        time.sleep(0.6)  # it looks every half second whether it has to stop
        stopping.set()
        wait_for(lambda: len(entries(customer, webhooks[0])) == 1)
        assert entries(customer, webhooks[1]) == []
        over.set()


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_job_delivers_while_valkey_does_not_answer(
    delivering: Flask, customer: Client, receiver: Receiver, linger_for: LingerFor
) -> None:
    linger_for(0.1)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    with (  # an application whose client has the service's own timeout
        second_app(delivering) as made,
        made.app_context(),
        connect_valkey(made.config["SETTINGS"].redis_url) as control,
    ):
        control.client_pause(3_600_000, all=False)  # commands that write
        try:
            assert jobs.deliver() == 1
        finally:
            control.client_unpause()
        wait_for(lambda: valkey().is_writable())
    assert len(entries(customer, webhook)) == 1


@pytest.fixture
def _no_errors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No thread ends with an error."""
    errors: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    yield
    assert not errors
