"""Jobs that raise, exit, and eat memory, beside those of the service."""

from __future__ import annotations

import time
from collections import Counter

from app.jobs.queue import FAILURE_TTL, GENERAL, job_queue
from app.usage.jobs import JOBS
from trials.faults.bad_jobs_worker import BAD, PERIOD
from trials.faults.clock_moves import LATE, seconds_until_counted
from trials.faults.delivering import Service
from trials.faults.responses import during
from trials.faults.traffic import Traffic, wait_for_responses
from trials.faults.trial_report import TrialReport

WORKER = "trials.faults.bad_jobs_worker"
MEMORY_MB = 1024  # that a job may have
DELIVERED = 5.0  # seconds from an event to its delivery


def bad_jobs(service: Service, seconds: float = 30) -> TrialReport:
    """Let bad jobs come again and again while clients write and read."""
    traffic = Traffic(service)
    try:
        wait_for_responses(traffic.callers, lambda made: made.status < 300)
        worker = service.worker.pid
        began = time.time()
        counted = seconds_until_counted(service)
        time.sleep(max(0.0, began + seconds - time.time()))
        ended = time.time()
    finally:
        traffic.end()
    queue = job_queue(service.valkey.control, GENERAL)
    waiting, failed = queue.count, queue.failed_job_registry.count
    report = traffic.reconcile(writes={201}, reads={200})
    notes = [line.split() for line in (service.folder / "bad-jobs").read_text().splitlines()]
    runs = Counter(name for name, *_, at in notes if began <= float(at) < ended)
    report.lines += [
        f"  in {ended - began:.0f} s   "
        + ", ".join(f"{runs[job.function.__name__]} of {job.name}" for job in BAD),
        f"  the queue     {waiting} jobs waiting, {failed} set aside",
        f"  others        to delivery {traffic.reconciled.delays}; periodic job {counted:.1f} s",
    ]
    for job in BAD:
        enough = runs[job.function.__name__] >= (ended - began) / (PERIOD + FAILURE_TTL) / 2
        report.check(enough, f"{job.name} kept itself or others from running")
    report.check("ate" not in runs, f"a job took as much memory as it wanted, {runs['ate']} times")
    report.check(waiting <= len(BAD) + 10, f"{waiting} jobs are waiting")
    report.check(service.worker.pid == worker, "the worker ended")
    report.check(bool(during(traffic.all, began, ended)), "nothing was asked meanwhile")
    report.check_time("an event", traffic.reconciled.delays.longest, DELIVERED)
    report.check_time("a periodic job", counted, (JOBS[0].every_seconds or 0) + LATE)
    return report
