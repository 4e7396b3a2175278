"""Valkey is flushed or away while events are delivered."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

from tests.waiting import wait_for
from trials.faults.delivering import Service
from trials.faults.reconciliation import Reconciliation, reconcile, wait_until_settled
from trials.faults.trial_report import TrialReport
from trials.faults.writer import Writer

AGAIN = 15  # seconds after an outage until deliveries go on


def flushes(service: Service, seconds: float = 60, every: float = 2) -> TrialReport:
    """FLUSHALL again and again."""
    over, number = threading.Event(), 0

    def flush() -> None:
        nonlocal number
        while not over.wait(every):
            service.valkey.control.flushall()
            number += 1

    def cause() -> None:
        thread = threading.Thread(target=flush)
        thread.start()
        time.sleep(seconds)
        over.set()
        thread.join()

    found, writers = _deliver_through(service, cause)
    report = _report(found, writers, {201})
    report.lines.insert(0, f"  flushed {number} times in {seconds:g} s")
    report.check_time("an event", found.delays.longest, AGAIN)
    return report


def absent(service: Service, seconds: float = 60) -> TrialReport:
    """Valkey is killed, and started again empty after a while."""
    gone_at = back_at = 0.0

    def cause() -> None:
        nonlocal gone_at, back_at
        gone_at = time.time()
        service.valkey.kill()
        time.sleep(seconds)
        service.valkey.start()
        back_at = time.time()
        time.sleep(min(seconds / 2, AGAIN))

    found, writers = _deliver_through(service, cause)
    report = _report(found, writers, {201})
    away = [at for at in found.received.values() if gone_at < at < back_at]
    late = [
        at - max(found.written[event_id], back_at)
        for event_id, at in found.received.items()
        if at > back_at
    ]
    report.lines.insert(0, f"  down for {seconds:g} s; {len(away):,} events received meanwhile")
    report.lines.append(f"  recovery      all received after {max(late):.1f} s ({AGAIN} allowed)")
    report.check_time("an event after Valkey was back", max(late), AGAIN)
    return report


def _deliver_through(
    service: Service, cause: Callable[[], None]
) -> tuple[Reconciliation, list[Writer]]:
    """Write and deliver before, during and after something."""
    customers = [service.customer(), service.customer()]
    writers = service.write(customers)
    try:
        wait_for(lambda: all(customer.inbox.arrivals for customer in customers), 30)
        cause()
        time.sleep(0.5)
    finally:
        for writer in writers:
            writer.end()
    wait_until_settled(service.app, customers)
    return reconcile(service.app, customers, writers), writers


def _report(found: Reconciliation, writers: list[Writer], allowed: set[int]) -> TrialReport:
    statuses = sum((writer.statuses for writer in writers), Counter())
    shown = ", ".join(f"{number:,} with {status}" for status, number in sorted(statuses.items()))
    lines = [
        f"  responses     {shown}",
        found.line(),
        f"  to delivery   {found.delays}",
    ]
    report = TrialReport(lines, found.wrong)
    report.check(statuses.keys() <= allowed, f"responses {shown}")
    return report
