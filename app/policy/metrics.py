"""The metrics of /metrics. Names follow Prometheus: base units, ``_total`` for counters."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

# Upper bounds of the buckets of histograms, in seconds.
REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
DELIVERY_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
JOB_SECONDS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0)
IMPORT_SECONDS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)

JOB_OUTCOMES: Final = ("succeeded", "failed")
MAIL_OUTCOMES: Final = ("sent", "retried", "failed", "dropped")


class MetricKind(NamedTuple):
    """A metric. ``of`` says if each host reports its own part, or all report the whole instance."""

    type: Literal["counter", "gauge", "histogram"]
    of: Literal["host", "instance"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_PROCESS: Final = ("part", "pid")

METRICS: Final[dict[str, MetricKind]] = {
    "canopy_build_info": MetricKind(
        "gauge", "host", "1, with what runs", ("version", "commit", "python")
    ),
    "canopy_http_requests_total": MetricKind(
        "counter", "host", "requests", ("method", "route", "status")
    ),
    "canopy_http_request_duration_seconds": MetricKind(
        "histogram",
        "host",
        "time to the response; `status` is its class, such as `2xx`",
        ("method", "route", "status"),
        REQUEST_SECONDS,
    ),
    "canopy_rate_limited_total": MetricKind(
        "counter",
        "host",
        "requests rejected by a rate limit: that of a `plan`, or that of a `client` address",
        ("limit",),
    ),
    "canopy_database_up": MetricKind("gauge", "host", "0 while the database is unavailable"),
    "canopy_valkey_up": MetricKind("gauge", "host", "0 while Valkey is unavailable"),
    "canopy_valkey_outages_total": MetricKind(
        "counter", "host", "outages of Valkey, counted in each web process"
    ),
    "canopy_disk_size_bytes": MetricKind("gauge", "host", "size of the disk of `INSTANCE_PATH`"),
    "canopy_disk_free_bytes": MetricKind("gauge", "host", "what is free of it"),
    "process_cpu_seconds_total": MetricKind(
        "counter", "host", "processor time of a web process or worker, without its jobs", _PROCESS
    ),
    "process_resident_memory_bytes": MetricKind(
        "gauge", "host", "its memory, which includes what processes share", _PROCESS
    ),
    "process_virtual_memory_bytes": MetricKind("gauge", "host", "its address space", _PROCESS),
    "process_start_time_seconds": MetricKind("gauge", "host", "when it started", _PROCESS),
    "process_open_fds": MetricKind("gauge", "host", "its open files and connections", _PROCESS),
    "process_max_fds": MetricKind("gauge", "host", "how many it may open", _PROCESS),
    "canopy_processes": MetricKind(
        "gauge", "instance", "running processes, `web server` or `worker`", ("part",)
    ),
    "canopy_workers": MetricKind("gauge", "instance", "workers of a queue of jobs", ("queue",)),
    "canopy_jobs_waiting": MetricKind("gauge", "instance", "jobs in a queue", ("queue",)),
    "canopy_jobs_oldest_waiting_seconds": MetricKind(
        "gauge", "instance", "time since the first of them was queued; 0 without jobs", ("queue",)
    ),
    "canopy_jobs_total": MetricKind(
        "counter",
        "instance",
        "jobs that ended: `succeeded` or `failed`, which includes killed",
        ("kind", "outcome"),
    ),
    "canopy_job_duration_seconds": MetricKind(
        "histogram", "instance", "time that a job ran", ("kind",), JOB_SECONDS
    ),
    "canopy_mails_pending": MetricKind(
        "gauge", "instance", "emails to be sent, including those waiting for a retry"
    ),
    "canopy_mails_oldest_due_seconds": MetricKind(
        "gauge", "instance", "time since the first of them became due; 0 if none is due"
    ),
    "canopy_mail_attempts_total": MetricKind(
        "counter",
        "instance",
        "attempts to send an email: `sent`, `retried` later, `failed` for good, or `dropped` "
        "because its recipient is gone",
        ("outcome",),
    ),
    "canopy_imports_pending": MetricKind(
        "gauge",
        "instance",
        "imports that are `reading`, `applying` or `undoing`, or wait for that",
        ("status",),
    ),
    "canopy_imports_running": MetricKind("gauge", "instance", "those that a worker works on"),
    "canopy_import_step_duration_seconds": MetricKind(
        "histogram",
        "instance",
        "time from asking for a step to its end, by the status of the import then",
        ("step", "outcome"),
        IMPORT_SECONDS,
    ),
    "canopy_deliveries_pending": MetricKind(
        "gauge", "instance", "deliveries that are not done, including those waiting for a retry"
    ),
    "canopy_deliveries_due": MetricKind(
        "gauge", "instance", "pending deliveries that are due and not claimed by a worker"
    ),
    "canopy_deliveries_claimed": MetricKind(
        "gauge", "instance", "pending deliveries that a worker has claimed"
    ),
    "canopy_deliveries_oldest_due_seconds": MetricKind(
        "gauge",
        "instance",
        "time since the oldest unclaimed delivery became due; 0 if none is due",
    ),
    "canopy_delivery_attempts_total": MetricKind(
        "counter",
        "instance",
        "attempts: `delivered`, `answered_5xx` and the like, or why there was no response, such as "
        "`slow_response`",
        ("outcome",),
    ),
    "canopy_delivery_latency_seconds": MetricKind(
        "histogram",
        "instance",
        "time from an event to its delivery, for deliveries that succeed at the first attempt",
        (),
        DELIVERY_SECONDS,
    ),
    "canopy_database_size_bytes": MetricKind("gauge", "instance", "size of the database"),
    "canopy_last_backup_timestamp_seconds": MetricKind(
        "gauge", "instance", "when a backup was last written, in Unix time; 0: never"
    ),
}


def describe_metric(name: str) -> tuple[str, str, tuple[str, ...]]:
    """The name, meaning and labels of a metric, as prometheus_client takes them."""
    return name, METRICS[name].meaning, METRICS[name].labels
