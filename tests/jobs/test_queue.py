"""Only jobs of the service are run."""

from __future__ import annotations

from importlib import import_module

import pytest
from redis import Redis
from rq.executions import Execution
from rq.job import JobStatus

from app.core import JOBS
from app.jobs.queue import job_queue
from app.jobs.registry import RegisteredJob, register


def _job(valkey_url: str, function: str) -> RegisteredJob:
    connection = Redis.from_url(valkey_url)
    queue = job_queue(connection)
    return RegisteredJob.create(
        function, args=("true",), connection=connection, serializer=queue.serializer
    )


@pytest.mark.parametrize(
    "function", ["os.system", "app.jobs", "app.usage.jobs.os.system", "app.jobs.queue.job_queue"]
)
def test_a_function_that_is_no_job_is_not_run(valkey_url: str, function: str) -> None:
    with pytest.raises(PermissionError, match="is no job of this service"):
        _job(valkey_url, function).perform()


RUN = {
    "app.audit.log.jobs.prune_audit_log",
    "app.audit.log.jobs.seal_audit_log",
    "app.account.credentials.jobs.mail_expiring_keys",
    "app.account.deletion.jobs.delete_accounts",
    "app.webhooks.deliveries.jobs.deliver",
    "app.webhooks.deliveries.jobs.shorten_delivery_waits",
    "app.projects.boundary_history.jobs.simplify_boundaries",
    "app.imports.jobs.run_imports",
    "app.mail.jobs.send_mails",
    "app.mail.jobs.shorten_mail_waits",
    "app.maintenance.jobs.prune",
    "app.maintenance.jobs.prune_events",
    "app.oauth.jobs.wipe_successors",
    "app.doctor.jobs.run_doctor",
    "app.usage.jobs.warn_of_sunsets",
    "app.usage.jobs.write_counts",
    "app.webhooks.jobs.queue_replays",
}


def test_these_functions_are_run_and_no_others_of_their_modules(valkey_url: str) -> None:
    """What a module with jobs imports or has besides is reached by a path of it too."""
    register(JOBS)
    assert {job.path for job in JOBS} == RUN
    modules = [import_module(path.rpartition(".")[0]) for path in RUN]
    others = {
        f"{module.__name__}.{name}"
        for module in modules
        for name, value in vars(module).items()
        if callable(value)
    } - RUN
    assert "app.mail.jobs.compose" in others
    for path in others:
        with pytest.raises(PermissionError):
            _job(valkey_url, path).perform()


def test_a_job_has_no_callbacks(valkey_url: str) -> None:
    job = _job(valkey_url, "app.usage.jobs.write_counts")
    job._failure_callback_name = "os.system"
    assert job.failure_callback is None


def test_a_job_ends_well_while_a_killed_worker_is_still_listed(valkey_url: str) -> None:
    """RQ forgets an execution a minute before it takes it off the list."""
    job = _job(valkey_url, "app.usage.jobs.write_counts")
    job.set_status(JobStatus.STARTED)
    with job.connection.pipeline() as pipeline:
        killed = Execution("of-the-killed", job.id, job.connection)
        job.execution_registry.add(killed, 60, pipeline)
        pipeline.execute()
    job.cleanup(0)
    assert not job.connection.keys(f"*{job.id}*")
