"""The job of replays starts again for one that begins while it ends."""

from __future__ import annotations

import pytest
from flask import Flask

from app.jobs.queue import job_queue
from app.jobs.valkey import valkey
from app.webhooks.replays import jobs
from app.webhooks.replays.service import NEW_REPLAYS


def test_a_replay_that_begins_while_the_job_ends_starts_another(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.app_context():
        client = valkey().client
        NEW_REPLAYS.notify(client)
        job_queue(client).empty()  # a worker has taken the job
        started = list[bool]()

        def due() -> tuple[str, ...]:
            started.append(NEW_REPLAYS.notify(client))
            return ()

        monkeypatch.setattr(jobs, "due_replays", due)
        jobs.queue_replays()
        job_queue(client).empty()
        NEW_REPLAYS.begin(client)
    assert started == [True]
