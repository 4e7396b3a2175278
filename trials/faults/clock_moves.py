"""The machine's clock is moved while clients write and read, and events are delivered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import RequestCount
from app.policy.deliveries import RETRY_AFTER
from app.usage.jobs import JOBS
from tests.make import make_account
from tests.outbound.receivers import answering, in_turn
from tests.waiting import wait_for
from trials.faults.credentials import fetch, holders
from trials.faults.delivering import Instance
from trials.faults.moved_clock import MovedClock
from trials.faults.reconciliation import Customer
from trials.faults.serving import Served, served
from trials.faults.traffic import Traffic, wait_for_responses
from trials.faults.trial_report import TrialReport

HOUR, DAY = 3_600, 86_400  # seconds
OFFSETS = (HOUR, 0, DAY, 0)  # of the clock, one after the other
WINDOW = 60  # seconds
OTHER = "127.0.0.3"  # an address whose requests without a credential are limited
SOON = 5.0  # seconds in which a new event is delivered
SHORTENED = 60.0  # seconds, until a wait that is too long is shortened
LATE = 5.0  # seconds by which a retry or a periodic job may be late
PLANS = """
[few]
requests_per_minute = 3
[wide]
requests_per_minute = 1000000
requests_per_day = 100000000
"""


class MovingClock:
    """An instance for whose processes, and its Valkey's, the clock is moved."""

    def __init__(self, instance: Served, clock: MovedClock) -> None:
        self.instance, self.offset = instance, 0  # seconds
        self._clock = clock

    def move(self, offset: int) -> None:
        self._clock.move(offset)
        self.offset = offset


@contextmanager
def moving_clock(_: str, folder: Path) -> Iterator[MovingClock]:
    """An instance with a clock of its own. Raises CannotCause."""
    plans, clock = folder / "plans.toml", MovedClock(folder)
    plans.write_text(PLANS)
    settings = {"PLANS_FILE": str(plans)}
    with served(
        folder / "instance", folder, settings=settings, variables=clock.environ
    ) as instance:
        yield MovingClock(instance, clock)


def clock_moves(moved: MovingClock, *, is_patient: bool = True) -> TrialReport:
    """Move the clock forwards and back, by an hour and by a day.

    Args:
        is_patient: whether to wait until limits end, and retries come.
    """
    instance, report = moved.instance, TrialReport()
    people = holders(instance.app)
    traffic = Traffic(instance, plan="wide")
    try:
        wait_for_responses(traffic.callers, lambda made: made.status < 300)
        for person in people:
            report.wrong += person.wrong(instance.port, is_ahead=False)
        for offset in OFFSETS:
            _move(moved, offset, report, is_patient=is_patient)
            for person in people:
                report.wrong += person.wrong(instance.port, is_ahead=offset > 0)
    finally:
        traffic.end()
    # A repeat that comes just after the clock went a day ahead finds that the stored response has
    # expired, and the name taken.
    found = traffic.reconcile(writes={201, 409}, reads={200}, is_timed=False)
    expired = sum(made.status == 409 for made in traffic.written)
    found.check(expired <= len(traffic.writers), f"{expired} writes were answered 409")
    found.lines += report.lines
    found.wrong += report.wrong
    found.late += report.late
    report.check(instance.is_running, "the instance ended")
    return found


def _move(moved: MovingClock, offset: int, report: TrialReport, *, is_patient: bool) -> None:
    """Move the clock when limits are used up and a retry is planned."""
    instance = moved.instance
    limited = [make_account(instance.app, plan="few").authorization, {}]
    for headers in limited:
        _use_up(instance.port, headers)
    customer = instance.customer()
    customer.inbox.answer = in_turn(answering(500), answering(200))
    _write(instance, customer)
    wait_for(lambda: customer.inbox.arrivals, SOON + LATE)
    time.sleep(0.5)  # until the attempt is recorded
    before, moved_at = moved.offset, time.time()
    moved.move(offset)
    waits = [_limit(moved, report, headers) for headers in limited]
    delivered = _delivery(instance)
    counted = seconds_until_counted(instance)
    shown = f"{max(waits)} s" if max(waits) else "none"
    report.lines.append(
        f"  {_described(before)} -> {_described(offset)}: wait at a limit {shown}, new event "
        f"{delivered:.2f} s, periodic job {counted:.1f} s"
    )
    report.check_time("a new event", delivered, SOON)
    report.check_time("a periodic job", counted, (JOBS[0].every_seconds or 0) + LATE)
    if is_patient:
        _retry(report, customer, moved_at)
        for headers in limited:
            status, _ = fetch(instance.port, "/v1/me", headers, source=OTHER)
            report.check(status != 429, f"{_described(offset)}: limited after a minute")


def _retry(report: TrialReport, customer: Customer, moved_at: float) -> None:
    """Wait for a retry that was planned before the clock was moved."""
    planned = RETRY_AFTER[0].total_seconds()
    arrivals, deadline = customer.inbox.arrivals, moved_at + planned + SHORTENED + LATE
    while len(arrivals) < 2 and time.time() < deadline:
        time.sleep(0.1)
    report.lines[-1] += f", retry {time.time() - moved_at:.1f} s"
    report.check(len(arrivals) > 1, "the retry did not come")


def _use_up(port: int, headers: dict[str, str]) -> None:
    """Send requests until there is no one left."""
    for _ in range(WINDOW * 2):
        if fetch(port, "/v1/me", headers, source=OTHER)[0] == 429:
            return
    raise AssertionError("there is no limit")


def _limit(moved: MovingClock, report: TrialReport, headers: dict[str, str]) -> int:
    """How long a client has to wait, in seconds; 0 when it has not."""
    status, found = fetch(moved.instance.port, "/v1/me", headers, source=OTHER)
    left = int(found["x-ratelimit-reset"]) - (time.time() + moved.offset)
    report.check(-1 <= left <= WINDOW + 1, f"X-RateLimit-Reset is {left:.0f} s ahead")
    wait = int(found["retry-after"]) if status == 429 else 0
    report.check(wait <= WINDOW, f"at {_described(moved.offset)}, Retry-After is {wait}")
    return wait


def _delivery(instance: Served) -> float:
    """Seconds until a new event is delivered."""
    customer, began = instance.customer(), time.time()
    _write(instance, customer)
    wait_for(lambda: customer.inbox.arrivals, WINDOW)
    return customer.inbox.arrivals[0].at - began


def _write(instance: Served, customer: Customer) -> None:
    """Cause an event of a customer."""
    body = {"name": "Forest"}
    status, _ = fetch(instance.port, "/v1/projects", customer.client.authorization, body)
    assert status == 201


def seconds_until_counted(instance: Instance) -> float:
    """Seconds until a request is counted in the database, which a periodic job does."""
    client, began = make_account(instance.app), time.time()
    fetch(instance.port, "/v1/me", client.authorization)
    counts = rows_of(client.account_id, RequestCount)

    def is_counted() -> bool:
        with instance.app.app_context():
            try:
                return db.session.scalars(counts).first() is not None
            finally:
                db.session.rollback()

    while not is_counted() and time.time() < began + WINDOW:
        time.sleep(0.1)
    return time.time() - began


def _described(offset: int) -> str:
    return {0: "right", HOUR: "an hour ahead", DAY: "a day ahead"}[offset]
