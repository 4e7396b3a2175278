"""Only jobs of the service are run."""

from __future__ import annotations

import pytest
from redis import Redis

from app.jobs.queue import job_queue
from app.jobs.registry import RegisteredJob


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


def test_a_job_has_no_callbacks(valkey_url: str) -> None:
    job = _job(valkey_url, "app.usage.jobs.write_counts")
    job._failure_callback_name = "os.system"
    assert job.failure_callback is None
