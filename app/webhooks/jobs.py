"""The job that queues the deliveries of replays."""

from __future__ import annotations

from typing import Final

from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.policy.deliveries import REPLAYED_AT_ONCE
from app.webhooks.replays.queueing import due_replays, queue_next
from app.webhooks.replays.service import NEW_REPLAYS


def queue_replays() -> int:
    """Queue the next events of all replays. Returns how many."""
    valkey().attempt(NEW_REPLAYS.begin)
    queued = 0
    for replay_id in due_replays():
        with transaction():
            queued += queue_next(replay_id)
    return queued


JOBS: Final = (Job(queue_replays, every_seconds=REPLAYED_AT_ONCE, signal=NEW_REPLAYS),)
