"""The first retry, in real time."""

from __future__ import annotations

from app.policy.deliveries import RETRY_AFTER
from tests.make import make_project
from tests.outbound.receivers import answering, in_turn
from tests.waiting import wait_for
from trials.faults.delivering import Service
from trials.faults.trial_report import TrialReport

LATE = 1.0  # seconds


def minute(service: Service) -> TrialReport:
    """A receiver fails once; the retry comes when the schedule says."""
    customer = service.customer()
    customer.inbox.answer = in_turn(answering(500), answering(200))
    make_project(customer.client)
    arrivals = customer.inbox.arrivals
    planned = RETRY_AFTER[0].total_seconds()
    wait_for(lambda: len(arrivals) == 2, planned + 30)
    waited = arrivals[1].at - arrivals[0].at
    report = TrialReport([f"  retried       after {waited:.2f} s ({planned:g} planned)"])
    report.check(waited >= planned, f"the retry came after {waited:.2f} s, too early")
    report.check_time("the retry", waited - planned, LATE)
    return report
