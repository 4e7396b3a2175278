"""Which queues have a worker that lives, as the store knows: RQ's workers leave a heartbeat there
every 15 seconds, and every 10 while a job runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from redis import Redis
from rq.utils import utcparse
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from app.jobs.queue import QUEUES
from app.values import clock

GONE_AFTER: Final = 40.0  # seconds without a heartbeat

# The heartbeats of the workers of each queue. A worker that was killed is in the set for a while.
_HEARTBEATS: Final = """
local found = {}
for number, key in ipairs(KEYS) do
    found[number] = {}
    for _, worker in ipairs(redis.call('SMEMBERS', key)) do
        local moment = redis.call('HGET', worker, 'last_heartbeat')
        if moment then
            table.insert(found[number], moment)
        end
    end
end
return found
"""


def count_workers(client: Redis) -> dict[str, int]:
    """How many workers each queue has. One round trip. Raises RedisError or OSError."""
    keys = [WORKERS_BY_QUEUE_KEY % queue for queue in QUEUES]
    found: Any = client.eval(_HEARTBEATS, len(keys), *keys)
    since = clock.now() - timedelta(seconds=GONE_AFTER)
    return {
        queue: sum(utcparse(moment.decode()) > since for moment in moments)
        for queue, moments in zip(QUEUES, found, strict=True)
    }
