"""One trial: clients write and read while something happens, and then all is compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import func, select

from app.db.extensions import db
from app.models import Project
from tests.waiting import wait_for
from trials.faults.reconciliation import SETTLED, Customer, reconcile, wait_until_settled
from trials.faults.responses import Response
from trials.faults.trial_report import TrialReport
from trials.machines.clients import DOCUMENTED, EndpointWriter, Reader, count, is_json
from trials.machines.service import EXACT, PLAN_LIMIT, Deployment

CALM = 3.0  # seconds
DELIVERED = 90  # seconds from an event to its delivery; a first retry comes after 60
PATHS = ("/v1/account", "/healthz", "/readyz")

D = TypeVar("D", bound=Deployment)


def run(
    at: D, cause: Callable[[D], None], *, calm: float = CALM, loses: bool = False
) -> TrialReport:
    """Write and read before, during and after something.

    Args:
        calm: seconds before and after.
        loses: acknowledged writes may be lost, in principle.
    """
    writers = at.write()
    customers = at.customers
    reader = Reader(at.endpoints, PATHS, customers[0].client)
    try:
        wait_for(lambda: all(customer.inbox.arrivals for customer in customers), 30)
        at.timeline.note("before", 0, 0)
        time.sleep(calm)
        cause(at)
        time.sleep(calm)
    finally:
        for writer in writers:
            writer.end()
        reader.end()
    return _report(at, customers, writers, reader, loses)


def _report(
    at: Deployment,
    customers: Sequence[Customer],
    writers: Sequence[EndpointWriter],
    reader: Reader,
    loses: bool,
) -> TrialReport:
    report = TrialReport()
    is_settled = wait_until_settled(at.app, customers)
    written = [response for writer in writers for response in writer.responses]
    read = [response for path in reader.responses.values() for response in path]
    at.timeline.write(written, read, report)
    _check_answers(report, writers, read)
    found = reconcile(at.app, customers, writers)
    report.lines += [found.line(), f"  to delivery   {found.delays}"]
    report.check_time("an event", found.delays.longest, DELIVERED)
    doubled = _doubled(at, customers)
    losses = found.wrong + [f"{doubled} writes were doubled"] * bool(doubled)
    if loses:
        report.lines += [f"  LOST, as it can be here: {line}" for line in losses]
    else:
        report.wrong += losses
        report.check(is_settled, f"something was still to be delivered after {SETTLED} s")
    _check_limits(at, report)
    return report


def _check_answers(
    report: TrialReport, writers: Sequence[EndpointWriter], read: Sequence[Response]
) -> None:
    """Only documented responses, in JSON; haproxy may close a connection instead."""
    strange = [each.status for each in read]
    closed = 0
    for writer in writers:
        statuses = [each.status for each in writer.responses]
        if writer.endpoint.may_close:
            closed += statuses.count(0)
            statuses = [status for status in statuses if status]
        strange += statuses
    strange = [status for status in strange if status not in DOCUMENTED]
    report.check(not strange, f"responses that are not documented: {count(strange)}")
    bodies = {each.body for each in read if each.status not in DOCUMENTED and each.body}
    report.lines += [f"  undocumented  {body.decode(errors='replace')}" for body in sorted(bodies)]
    if closed:
        report.lines.append(f"  closed        {closed} connections by haproxy, with no response")
    broken = [each.status for each in read if each.status and not is_json(each)]
    report.check(not broken, f"responses that are not JSON: {count(broken)}")


def _doubled(at: Deployment, customers: Sequence[Customer]) -> int:
    """How many writes were carried out more than once: each has a name of its own."""
    ids = [customer.client.account_id for customer in customers]
    own = select(func.count()).where(Project.account_id.in_(ids))
    with at.app.app_context():
        names = db.session.execute(own.group_by(Project.account_id, Project.name)).scalars().all()
        db.session.rollback()
    return sum(number > 1 for number in names)


def _check_limits(at: Deployment, report: TrialReport) -> None:
    found = at.limited()
    report.lines.append(f"  limits        {count(found.elements())}; {PLAN_LIMIT} allowed")
    report.check(found == EXACT, f"limits are not exact: {count(found.elements())}")
