"""Only jobs of the service are run."""

from __future__ import annotations

import pytest
from redis import Redis
from rq.executions import Execution
from rq.job import JobStatus

from app.core import JOBS
from app.jobs.queue import job_queue
from app.jobs.registry import Job, RegisteredJob, register_jobs


def _job(valkey_url: str, function: str) -> RegisteredJob:
    connection = Redis.from_url(valkey_url)
    queue = job_queue(connection)
    return RegisteredJob.create(
        function, args=("true",), connection=connection, serializer=queue.serializer
    )


def test_a_function_that_is_no_job_is_not_run(valkey_url: str) -> None:
    for function in ("os.system", "app.mail.jobs.send_mails", ""):
        with pytest.raises(PermissionError, match="is no job of this service"):
            _job(valkey_url, function).perform()


RUN = {
    "back-up-daily",
    "delete-accounts",
    "delete-imports",
    "delete-projects",
    "delete-tokens",
    "deliver",
    "derive-countries",
    "mail-expiring-keys",
    "prune",
    "prune-audit-log",
    "prune-events",
    "queue-replays",
    "run-doctor",
    "run-imports",
    "seal-audit-log",
    "send-mails",
    "shorten-delivery-waits",
    "shorten-mail-waits",
    "simplify-boundaries",
    "wipe-successors",
    "write-counts",
}


def test_these_jobs_are_run_and_no_others() -> None:
    assert {job.name for job in JOBS} == RUN


def test_two_jobs_cannot_have_one_name() -> None:
    def deliver() -> None:
        pass

    register_jobs(JOBS)
    with pytest.raises(AssertionError, match="two jobs are called deliver"):
        register_jobs([Job(deliver)])


def test_a_job_has_no_callbacks(valkey_url: str) -> None:
    job = _job(valkey_url, "write-counts")
    job._failure_callback_name = "os.system"
    assert job.failure_callback is None


def test_a_job_ends_well_while_a_killed_worker_is_still_listed(valkey_url: str) -> None:
    """RQ forgets an execution a minute before it takes it off the list."""
    job = _job(valkey_url, "write-counts")
    job.set_status(JobStatus.STARTED)
    with job.connection.pipeline() as pipeline:
        killed = Execution("of-the-killed", job.id, job.connection)
        job.execution_registry.add(killed, 60, pipeline)
        pipeline.execute()
    job.cleanup(0)
    assert not job.connection.keys(f"*{job.id}*")
