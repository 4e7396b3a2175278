"""A long backlog for a receiver that hangs: the worker's memory, other receivers, the log."""

from __future__ import annotations

import json
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.db.extensions import db
from app.models import Delivery, DeliveryLog, Event
from app.values import clock
from app.values.ids import first_id, new_id
from tests.make import events, make_project
from tests.outbound.receivers import answering
from tests.waiting import wait_for
from trials.faults.delivering import Service
from trials.faults.hostile import check_healthy
from trials.faults.reconciliation import Customer, percentile, reconcile, wait_until_settled
from trials.faults.trial_report import TrialReport
from trials.faults.valkey_outages import request

GROWTH_MB = 10  # of the worker's memory, while nothing of the backlog comes through
LOGS = 0.05  # seconds that a page of the log may take, after the one for which all is counted
RATE = 20  # writes a second for the healthy receiver
_AT_ONCE = 5_000
_AGE = timedelta(seconds=5)  # from one log entry to the next


def backlog(
    service: Service, number: int = 100_000, seconds: float = 40, before: float = 15
) -> TrialReport:
    """Deliver to a healthy receiver alone, and then beside one that hangs, for which so much is
    pending, with a log as long."""
    healthy, dead = service.customer(), service.customer()
    dead.inbox.answer = answering(delay=60)
    (writer,) = service.write([healthy], RATE)
    try:
        wait_for(lambda: healthy.inbox.arrivals, 30)
        began_at = time.time()
        time.sleep(before)
        joined_at, alone = time.time(), _memory(service)
        _fill(service, dead, number)
        filled_at = time.time()
        wait_for(lambda: dead.inbox.arrivals, 30)
        watch = Watch(service, dead)
        time.sleep(seconds)
        watch.end()
    finally:
        writer.end()
    wait_until_settled(service.app, [healthy], 60)
    found = reconcile(service.app, [healthy], [writer])
    memory, (first_page, *pages) = watch.memory, watch.pages
    report = TrialReport(wrong=found.wrong)
    report.lines = [
        f"  {number:,} deliveries pending and {number:,} log entries; "
        f"{len(dead.inbox.arrivals)} attempts in {seconds:.0f} s",
        f"  memory        {alone:.1f} MB before; with the backlog {memory[0]:.1f} MB at first, "
        f"{memory[-1]:.1f} MB at the end, {max(memory):.1f} MB at most",
        f"  GET …/logs    first page {first_page * 1000:.1f} ms; the next {len(pages)}: p50 "
        f"{percentile(pages, 50) * 1000:.1f} ms, p99 {percentile(pages, 99) * 1000:.1f} ms "
        f"({LOGS * 1000:.0f} allowed)",
    ]
    report.check(max(memory) - alone <= GROWTH_MB, f"memory grew from {alone} MB to {max(memory)}")
    report.check_time("a page of the log (p99)", percentile(pages, 99), LOGS)
    check_healthy(report, found, (began_at, joined_at), filled_at)
    return report


class Watch:
    """Samples the worker's memory and the log of a webhook twice a second."""

    def __init__(self, service: Service, customer: Customer) -> None:
        self.memory: list[float] = []  # MB
        self.pages: list[float] = []  # seconds
        self._service, self._customer = service, customer
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        path = f"/v1/webhooks/{self._customer.webhook['id']}/logs"
        while not self._over.wait(0.5):
            self.memory.append(_memory(self._service))
            began = time.perf_counter()
            status, _ = request(self._service.port, path, self._customer.client.authorization)
            assert status == 200
            self.pages.append(time.perf_counter() - began)


def _memory(service: Service) -> float:
    """MB that the process of the delivery job has for itself."""
    status = Path(f"/proc/{service.worker.job_pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) / 1024


def _fill(service: Service, customer: Customer, number: int) -> None:
    """Events of the account like its first, a delivery of each that is due, and a log entry of
    each."""
    make_project(customer.client)
    (envelope,) = events(customer.client)
    for done in range(0, number, _AT_ONCE):
        rows = [
            _rows(customer, envelope, clock.now(), _AGE * (number - place))
            for place in range(done, min(done + _AT_ONCE, number))
        ]
        with service.app.app_context():
            for place, model in enumerate((Event, Delivery, DeliveryLog)):
                db.session.execute(model.__table__.insert(), [each[place] for each in rows])
            db.session.commit()


def _rows(
    customer: Customer, envelope: dict[str, Any], moment: datetime, age: timedelta
) -> tuple[dict[str, Any], ...]:
    """``age``: of the log entry."""
    event_id, delivery_id = new_id("event"), new_id("delivery")
    own = {"account_id": customer.client.account_id}
    of_webhook = {**own, "webhook_id": customer.webhook["id"], "event_id": event_id}
    event = {
        **own,
        "id": event_id,
        "type": "project.created",
        "subject_id": "none",
        "body": json.dumps(envelope | {"id": event_id}),
        "created_at": moment,
    }
    delivery = {
        **of_webhook,
        "id": delivery_id,
        "cause": "event",
        "state": "pending",
        "attempts": 0,
        "due_at": moment,
        "created_at": moment,
    }
    entry = {
        **of_webhook,
        "id": first_id("log", moment - age),
        "delivery_id": delivery_id,
        "event_type": "project.created",
        "cause": "event",
        "attempt": 1,
        "status": "failed",
        "response_time_ms": 5000,
        "error": "timed out waiting for the response",
        "sent_at": moment - age,
        "delivered_at": moment - age,
    }
    return event, delivery, entry
