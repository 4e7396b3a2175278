"""Busy loops take the processors: each attempt is in the log in time, and none is made twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import DeliveryLog
from app.policy.deliveries import ATTEMPT_SECONDS
from tests.make import make_account
from tests.make.webhooks import make_webhook
from tests.outbound.receivers import answering
from tests.waiting import wait_for
from trials.faults.delivering import OUTSIDE, Service
from trials.faults.reconciliation import Customer, Delays, reconcile, wait_until_settled
from trials.faults.trial_report import TrialReport
from trials.faults.writer import Writer

LOOPS = 2.5  # for each processor
WRITTEN = 8.0  # seconds from the beginning of an attempt to its entry in the log
LATE = ATTEMPT_SECONDS + 1.0  # seconds after which the receivers that hang would answer
RATE = 4  # writes a second for each healthy receiver


def starved(
    service: Service, seconds: float = 45, hanging: int = 16, loops: float = LOOPS
) -> TrialReport:
    """Deliver to healthy receivers beside ones that answer too late, while loops take the
    processors.

    Args:
        seconds: less than passes until the first retry, so that no delivery may come twice.
        hanging: webhooks that lead to receivers that answer too late.
        loops: how many for each processor.
    """
    healthy = [service.customer(), service.customer()]
    late = _late(service, hanging)
    writers = service.write(healthy, RATE)
    try:
        wait_for(lambda: all(customer.inbox.arrivals for customer in healthy), 30)
        with _busy(loops) as number:
            began_at = time.time()
            writers.append(Writer(service.port, late[0].client, 1 / LATE))
            time.sleep(seconds)
            load = os.getloadavg()[0]
            for writer in writers:
                writer.end()
            for customer in late:  # cancels the retries
                customer.client.put(
                    f"/v1/webhooks/{customer.webhook['id']}", json={"enabled": False}
                )
            is_settled = wait_until_settled(service.app, late[:1], 60)
    finally:
        for writer in writers:
            writer.end()
    wait_until_settled(service.app, healthy, 60)
    found = reconcile(service.app, healthy, writers[:2])
    report = TrialReport(wrong=found.wrong)
    report.lines = [f"  {number} busy loops on {os.cpu_count()} processors, load {load:.0f}"]
    report.check(is_settled, "something is still to be delivered")
    _check_late(report, service, late[0])
    report.lines += [f"  healthy       {found.during(began_at, float('inf'))}", found.line()]
    report.check(found.repeated <= found.failed, "deliveries came again that had succeeded")
    return report


def _late(service: Service, number: int) -> list[Customer]:
    """Webhooks of one account that lead to one receiver, which answers too late."""
    client, inbox = make_account(service.app), service.inbox()
    inbox.answer = answering(delay=LATE)
    urls = [inbox.receiver.url(f"/{each}", host=OUTSIDE) for each in range(number)]
    return [
        Customer(client, make_webhook(client, url=url, events=["project.created"]), inbox)
        for url in urls
    ]


@contextmanager
def _busy(loops: float) -> Iterator[int]:
    """Loops that take the processors. Yields how many they are."""
    number = round(loops * (os.cpu_count() or 1))
    loop = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(loop) for _ in range(number)]
    try:
        yield number
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _check_late(report: TrialReport, service: Service, customer: Customer) -> None:
    """Each delivery came once, and has one entry, which was written in time."""
    with service.app.app_context():
        entries = db.session.scalars(rows_of(customer.client.account_id, DeliveryLog)).all()
        began = {entry.delivery_id: entry.sent_at.timestamp() for entry in entries}
        lasted = Delays([entry.response_time_ms / 1000 for entry in entries], "attempts")
        db.session.rollback()
    written = service.worker.written()
    waits = Delays([written[delivery_id] - at for delivery_id, at in began.items()], "entries")
    requests = Counter(arrival.delivery_id for arrival in customer.inbox.arrivals)
    report.lines += [
        f"  attempts      {lasted}",
        f"  to the entry  {waits} ({WRITTEN:.0f} s allowed)",
    ]
    again = requests.total() - len(requests)
    report.check(again == 0, f"{again} requests came again")
    report.check(len(entries) == len(began), "deliveries have several entries")
    report.check(bool(requests), "nothing was sent")
    report.check(requests.keys() <= began.keys(), "requests have no entry")
    report.check_time("an entry", waits.longest, WRITTEN)
