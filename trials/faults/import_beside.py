"""A large file is imported: the events of another account are delivered as quickly as before."""

from __future__ import annotations

import math
import time

from tests.make import make_account
from tests.make.features import collection, feature
from tests.waiting import wait_for
from trials.faults.importing import Importer
from trials.faults.reconciliation import reconcile, wait_until_settled
from trials.faults.serving import Served
from trials.faults.trial_report import TrialReport
from trials.faults.writer import Writer

RATE = 10  # writes a second
ALONE = 10  # seconds
RECEIVED = 0.5  # seconds from an event to its delivery; 99 of 100
_CORNERS = 3_000


def import_beside(instance: Served, megabytes: float = 48) -> TrialReport:
    """Write alone, and then while a file of this size is read and applied."""
    customer = instance.customer()
    importer = Importer(instance.port, make_account(instance.app, plan="enterprise"))
    content = _file(megabytes)
    writer = Writer(instance.port, customer.client, RATE)
    try:
        wait_for(lambda: customer.inbox.arrivals)
        began_at = time.time()
        time.sleep(ALONE)
        sent_at = time.time()
        made = importer.upload(content).data["id"]
        importer.wait(made, lambda record: record["status"] == "ready", 600)
        read_at = time.time()
        importer.begin(made, "applying")
        importer.wait(made, lambda record: record["status"] == "applied", 600)
        applied_at = time.time()
    finally:
        writer.end()
    wait_until_settled(instance.app, [customer])
    found = reconcile(instance.app, [customer], [writer])
    delays = found.during(sent_at, applied_at)
    report = TrialReport(wrong=found.wrong)
    report.lines = [
        f"  {len(content) / 1e6:.0f} MB were read in {read_at - sent_at:.1f} s and applied in "
        f"{applied_at - read_at:.1f} s",
        f"  alone         {found.during(began_at, sent_at)}",
        f"  while read    {found.during(sent_at, read_at)}",
        f"  while applied {found.during(read_at, applied_at)}",
        found.line(),
    ]
    report.check_time("99 of 100 events", delays.p99, RECEIVED)
    statuses = {status for status, count in writer.statuses.items() if count}
    report.check(statuses == {201}, f"writes were answered {dict(writer.statuses)}")
    return report


def _file(megabytes: float) -> bytes:
    """Round forests beside one another, with many corners."""
    one = len(collection(_forest(0)))
    return collection(*(_forest(number) for number in range(int(megabytes * 1e6 / one))))


def _forest(number: int) -> dict[str, object]:
    west, south = -120 + number % 100 * 0.1, 40 + number // 100 * 0.1
    angles = [2 * math.pi * corner / _CORNERS for corner in range(_CORNERS)]
    ring = [[west + 0.04 * math.cos(a), south + 0.04 * math.sin(a)] for a in angles]
    shape = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
    return feature(shape, name=f"Stand {number}")
