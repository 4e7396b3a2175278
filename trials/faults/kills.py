"""The worker is killed at points of a delivery, or asked to end: nothing is lost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Delivery, DeliveryLog
from tests.outbound.receivers import answering
from tests.waiting import wait_for
from trials.faults.delivering import Service
from trials.faults.reconciliation import Customer, reconcile, wait_until_settled
from trials.faults.trial_report import TrialReport
from trials.faults.worker import POINTS, VICTIMS

LONGEST = 120  # seconds from an event to its delivery
ENDED = 10  # seconds from SIGTERM to the end
_BETWEEN = 15  # seconds that a kill may take to come


def kills(
    service: Service, number: int = 60, seconds: float = 3.0, victims: Sequence[str] = VICTIMS
) -> TrialReport:
    """Kill the worker so many times, a job after so many seconds at most.

    Args:
        victims: of which one is chosen each time.
    """
    report, worker = TrialReport(), service.worker
    customers = [service.customer(), service.customer()]
    writers = service.write(customers)
    began = time.monotonic()
    worker.arm(seconds, victims)
    try:
        wait_for(lambda: len(worker.kills()) >= number, _BETWEEN * number)
        worker.disarm()
        lasted = time.monotonic() - began
        time.sleep(1)  # what is written now wakes a job that lives
    finally:
        for writer in writers:
            writer.end()
    is_settled = wait_until_settled(service.app, customers, LONGEST)
    found = reconcile(service.app, customers, writers)
    done = worker.kills()
    points = Counter(line.split(", ")[0] for line in done)
    dead = Counter(line.split(", ")[1] for line in done)
    report.lines = [
        f"  {len(done)} kills in {lasted:.0f} s: "
        + ",\n    ".join(
            ", ".join(f"{points[point]} {point}" for point in some)
            for some in (POINTS[:2], POINTS[2:])
        ),
        f"  {dead['job']} killed the job's process, {dead['queue']} also that of the queue, "
        f"{dead['worker']} the whole worker",
        found.line(),
        f"  to delivery   {found.delays} ({LONGEST} s allowed)",
    ]
    report.wrong = found.wrong
    report.check(is_settled, f"something was still to be delivered after {LONGEST} s")
    report.check_time("an event", found.delays.longest, LONGEST)
    report.check(found.failed == 0, f"{found.failed} attempts failed")
    report.check(min(points[point] for point in POINTS) > 0, "not all points had their turn")
    return report


def ending(service: Service, delay: float = 3.0) -> TrialReport:
    """Ask the worker to end while receivers have requests that they answer late or never."""
    report, worker = TrialReport(), service.worker
    customers = [service.customer() for _ in range(4)]
    writers = service.write(customers)
    try:
        wait_for(lambda: all(len(customer.inbox.arrivals) > 5 for customer in customers), 30)
        for customer, seconds in zip(customers, (0, delay, delay, 60), strict=True):
            customer.inbox.answer = answering(delay=seconds)
        time.sleep(2)
        asked_at = time.time()
        code = worker.end()
        took = time.time() - asked_at
    finally:
        for writer in writers:
            writer.end()
    ended = Counter[str]()
    for customer in customers:
        ended += _ends(service, customer, asked_at)
        customer.inbox.answer = answering()
    worker.begin()
    is_settled = wait_until_settled(service.app, customers, LONGEST)
    found = reconcile(service.app, customers, writers)
    report.lines = [
        f"  stopped {took:.1f} s after SIGTERM ({ENDED} allowed), exit code {code}",
        f"  {ended['success'] + ended['failed']} requests were in flight: {ended['success']} "
        f"delivered, {ended['failed']} failed in time, {ended['unknown']} without a log entry",
        f"  {ended['pending']} deliveries not started; {ended['claimed']} left claimed",
        found.line(),
    ]
    report.wrong = found.wrong
    report.check(code == 0, f"exit code {code}")
    report.check(not ended["claimed"], f"{ended['claimed']} deliveries were left claimed")
    report.check(not ended["unknown"], f"{ended['unknown']} requests have no log entry")
    report.check(is_settled, "something was never delivered")
    report.check_time("the end", took, ENDED)
    return report


def _ends(service: Service, customer: Customer, asked_at: float) -> Counter[str]:
    """How the attempts ended that were in flight at a moment, how many requests no log entry
    tells of, and what is left to do: "pending" ones, of which some are "claimed"."""
    own = customer.client.account_id
    with service.app.app_context():
        entries = list(db.session.scalars(rows_of(own, DeliveryLog)))
        ends = Counter(
            row.status
            for row in entries
            if row.sent_at.timestamp() <= asked_at <= row.delivered_at.timestamp()
        )
        known = Counter(row.delivery_id for row in entries)
        left = list(db.session.scalars(rows_of(own, Delivery).where(Delivery.due_at.is_not(None))))
        ends["pending"] = len(left)
        ends["claimed"] = sum(row.claim is not None for row in left)
        db.session.rollback()
    came = Counter(arrival.delivery_id for arrival in customer.inbox.arrivals)
    ends["unknown"] = (came - known).total()
    return ends
