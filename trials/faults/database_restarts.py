"""PostgreSQL is restarted while clients write and read, and events are delivered."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

import psycopg

from trials.faults.delivering import Service
from trials.faults.responses import during, refused
from trials.faults.traffic import Traffic, wait_for_responses
from trials.faults.trial_report import TrialReport
from trials.faults.web_kills import children

AGAIN = 2.0  # seconds from when it accepts connections until all requests succeed
DELIVERED = 15.0  # seconds from an event to its delivery


class Outage(NamedTuple):
    """When it was stopped, was gone, was started, and accepted connections again; seconds since the
    epoch."""

    stopped_at: float
    gone_at: float
    started_at: float
    back_at: float


def restarts(
    service: Service, number: int = 5, away: float = 2.0, pause: float = 6.0
) -> TrialReport:
    """End it without a chance to end in order, and start it again after a while.

    Args:
        away: seconds for which it is gone.
        pause: seconds until the next time.
    """
    processes = children(service.web_pid)
    outages: list[Outage] = []
    traffic = Traffic(service)
    try:
        wait_for_responses(traffic.callers, lambda made: made.status < 300)
        for _ in range(number):
            outages.append(restart(service, away))
            time.sleep(pause)
    finally:
        traffic.end()
    report = traffic.reconcile(writes={201, 503}, reads={200, 503})
    found = traffic.reconciled.delays
    report.lines += [f"  to delivery   {found}"]
    report.check_time("an event", found.longest, DELIVERED)
    _judge(report, traffic, outages)
    report.check(children(service.web_pid) == processes, "web processes were restarted")
    return report


def restart(service: Service, away: float) -> Outage:
    """Kill it, and start it again after so many seconds."""
    assert service.postgres is not None
    url = service.postgres.url
    stopped_at = time.time()
    service.postgres.kill()
    gone_at = time.time()
    time.sleep(away)
    started_at = time.time()
    start = threading.Thread(target=service.postgres.start)
    start.start()
    while not _accepts(url):
        time.sleep(0.005)
    back_at = time.time()
    start.join()
    return Outage(stopped_at, gone_at, started_at, back_at)


def _accepts(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def _judge(report: TrialReport, traffic: Traffic, outages: list[Outage]) -> None:
    gone, recoveries = [], []
    ends = [each.stopped_at for each in outages[1:]] + [float("inf")]
    for outage, end in zip(outages, ends, strict=True):
        gone += during(traffic.all, outage.gone_at, outage.started_at)
        refusals = [made for made in refused(traffic.all) if outage.gone_at < made.ended < end]
        recoveries.append(max(0.0, *(made.ended - outage.back_at for made in refusals)))
    strange = {made.status for made in gone} - {503}
    report.check(not strange, f"without a database, requests were answered {strange}")
    away = max(each.back_at - each.gone_at for each in outages)
    report.lines.insert(
        0,
        f"  restarted {len(outages)} times, gone for {away:.1f} s at most; {len(gone):,} requests "
        f"meanwhile, the slowest {max(made.seconds for made in gone):.2f} s",
    )
    report.lines.append(
        f"  recovery      all succeed after {max(recoveries):.2f} s ({AGAIN:g} allowed)"
    )
    report.check_time("recovery", max(recoveries), AGAIN)
