"""Metrics that are read on demand: of the database, Valkey, the disk and the processes of this
host.

Reading them does not depend on the number of projects: only pending rows are counted, by an index
of these.
"""

from __future__ import annotations

import platform
import shutil
import socket
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import Final

from prometheus_client import Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from redis import Redis
from sqlalchemy import and_, bindparam, case, func, select
from sqlalchemy.exc import SQLAlchemyError

from app.audit.log.listing import last_done_at
from app.db.column_types import Timestamp
from app.db.engines import is_outage
from app.db.queries import reading_connection
from app.jobs.queue import QUEUES, count_waiting_jobs
from app.jobs.registry import job_names
from app.jobs.shared_metrics import Counts, cumulative_histogram, read_counts
from app.jobs.valkey import valkey
from app.models import Import, Mail
from app.outbound.switch import is_outbound_off
from app.policy.audit import INSTANCE
from app.policy.imports import WORKING
from app.policy.metrics import JOB_OUTCOMES, MAIL_OUTCOMES, METRICS
from app.processes.part_registry import RunningPart, running_parts
from app.processes.worker_registry import count_workers
from app.settings.current import current_settings
from app.values import clock
from app.values.version import VERSION, read_commit
from app.webhooks.deliveries.metrics import read_backlog

Samples = dict[str, dict[tuple[str, ...], float]]  # by metric and label values

_PARTS: Final = ("web server", "worker")
_SHARED: Final = [
    "canopy_jobs_total",
    "canopy_job_duration_seconds",
    "canopy_mail_attempts_total",
    "canopy_import_step_duration_seconds",
    "canopy_delivery_attempts_total",
    "canopy_delivery_latency_seconds",
]
_SIZE: Final = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    "postgresql": "SELECT pg_catalog.pg_database_size(pg_catalog.current_database())",
}
_MAILS: Final = select(func.count().label("pending"), func.min(Mail.due_at).label("oldest")).where(
    Mail.due_at.is_not(None)
)
_IS_LEASED: Final = and_(
    Import.lease.is_not(None), Import.leased_until >= bindparam("now", type_=Timestamp())
)
_IMPORTS: Final = (
    select(
        Import.status,
        func.count().label("pending"),
        func.sum(case((_IS_LEASED, 1), else_=0)).label("running"),
    )
    .where(Import.status.in_(WORKING))
    .group_by(Import.status)
)


class Readings(Collector):
    """Reads the metrics. Needs an application context."""

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, without those of an unavailable database or Valkey."""
        try:
            database = _read_database()
        except SQLAlchemyError as error:
            if not is_outage(error):
                raise
            database = {}
        readings = valkey().attempt(_read_valkey)
        samples, parts, counts_by_name = readings or ({}, [], {})
        samples |= database | _read_host()
        samples["canopy_database_up"] = {(): bool(database)}
        samples["canopy_valkey_up"] = {(): readings is not None}
        for name, values in samples.items():
            yield _metric_family(name, values)
        for name, counts in counts_by_name.items():
            yield _shared_family(name, counts)
        yield from _process_metrics(parts)


@cache
def build_labels() -> tuple[str, str, str]:
    """Return the version, the commit and Python's version. To be called before the code on the disk
    changes."""
    return VERSION, read_commit() or "unknown", platform.python_version()


def _read_database() -> Samples:
    now = clock.now()
    backlog = read_backlog()
    with reading_connection() as connection:
        mails = connection.execute(_MAILS).one()
        imports = {row.status: row for row in connection.execute(_IMPORTS, {"now": now})}
        size = connection.exec_driver_sql(_SIZE[connection.dialect.name]).scalar_one()
    backed_up_at = last_done_at(INSTANCE, "instance.backed_up")
    is_due = mails.oldest and not is_outbound_off()
    oldest_mail = (now - mails.oldest).total_seconds() if is_due else 0.0
    return {
        **{f"canopy_deliveries_{name}": {(): value} for name, value in backlog._asdict().items()},
        "canopy_mails_pending": {(): mails.pending},
        "canopy_mails_oldest_due_seconds": {(): max(0.0, oldest_mail)},
        "canopy_imports_pending": {
            (status,): imports[status].pending if status in imports else 0 for status in WORKING
        },
        "canopy_imports_running": {(): sum(row.running for row in imports.values())},
        "canopy_database_size_bytes": {(): size},
        "canopy_last_backup_timestamp_seconds": {
            (): backed_up_at.timestamp() if backed_up_at else 0.0
        },
    }


def _read_valkey(client: Redis) -> tuple[Samples, list[RunningPart], dict[str, Counts]]:
    """Return samples, the running parts and the shared metrics. Raises RedisError or OSError."""
    parts, workers = running_parts(client), count_workers(client)
    numbers = Counter(part.name for part in parts)
    waiting = {queue: count_waiting_jobs(client, queue) for queue in QUEUES}
    samples: Samples = {
        "canopy_processes": {(name,): numbers[name] for name in _PARTS},
        "canopy_workers": {(queue,): number for queue, number in workers.items()},
        "canopy_jobs_waiting": {(queue,): number for queue, (number, _) in waiting.items()},
        "canopy_jobs_oldest_waiting_seconds": {
            (queue,): seconds for queue, (_, seconds) in waiting.items()
        },
    }
    return samples, parts, read_counts(client, _SHARED)


def _read_host() -> Samples:
    disk = shutil.disk_usage(current_settings().instance_path)
    return {
        "canopy_build_info": {build_labels(): 1},
        "canopy_disk_size_bytes": {(): disk.total},
        "canopy_disk_free_bytes": {(): disk.free},
    }


def _metric_family(name: str, values: dict[tuple[str, ...], float]) -> Metric:
    kind = CounterMetricFamily if METRICS[name].type == "counter" else GaugeMetricFamily
    family = kind(name, METRICS[name].meaning, labels=METRICS[name].labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _shared_family(name: str, counts: Counts) -> Metric:
    """Make a counter or histogram of the whole instance."""
    if METRICS[name].type == "counter":
        return _metric_family(name, _zero_series(name) | dict(counts))
    family = HistogramMetricFamily(name, METRICS[name].meaning, labels=METRICS[name].labels)
    series = {labels[:-1] for labels in counts} if METRICS[name].labels else {()}
    for labels in sorted(series):
        family.add_metric(labels, *cumulative_histogram(name, counts, *labels))
    return family


def _zero_series(name: str) -> dict[tuple[str, ...], float]:
    """Return zeros for the series that are known beforehand: Prometheus' ``increase`` misses the
    first event of a series that begins with it."""
    series = {
        "canopy_jobs_total": product(job_names(), JOB_OUTCOMES),
        "canopy_mail_attempts_total": product(MAIL_OUTCOMES),
    }
    return dict.fromkeys(series.get(name, ()), 0)


def _process_metrics(parts: list[RunningPart]) -> Iterator[Metric]:
    """Yield the standard metrics of each process on this host, if there is a /proc."""
    values: defaultdict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for part in parts:
        if part.host == socket.gethostname():
            collector = ProcessCollector(pid=partial(str, part.pid), registry=None)
            for metric in collector.collect():
                for sample in metric.samples:
                    values[sample.name][part.name, str(part.pid)] = sample.value
    for name in values.keys() & METRICS.keys():
        yield _metric_family(name, values[name])
