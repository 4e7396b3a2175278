"""The live workers of each queue, by the heartbeats of RQ's workers: every 5 seconds, and every 10
while a job runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from redis import Redis

from app.jobs.queue import QUEUES
from app.processes.rq_worker import HEARTBEAT_FIELD, parse_heartbeat, seen_key, workers_key
from app.values import clock

MISSING_AFTER: Final = 25.0  # seconds without a heartbeat

# Returns the heartbeats by queue. A killed worker stays in its set for a while.
_HEARTBEATS: Final = """
local heartbeats = {}
for number, key in ipairs(KEYS) do
    heartbeats[number] = {}
    for _, worker in ipairs(redis.call('SMEMBERS', key)) do
        local time = redis.call('HGET', worker, ARGV[1])
        if time then
            table.insert(heartbeats[number], time)
        end
    end
end
return heartbeats
"""


def count_workers(client: Redis) -> dict[str, int]:
    """Return the number of live workers by queue, in one round trip. Raises RedisError or
    OSError."""
    keys = [workers_key(queue) for queue in QUEUES]
    heartbeats: Any = client.eval(_HEARTBEATS, len(keys), *keys, HEARTBEAT_FIELD)
    oldest = clock.now() - timedelta(seconds=MISSING_AFTER)
    return {
        queue: sum(parse_heartbeat(time) > oldest for time in times)
        for queue, times in zip(QUEUES, heartbeats, strict=True)
    }


def is_any_missing(client: Redis) -> bool:
    """True if a queue has had no worker for ``SEEN_FOR`` seconds. Raises RedisError or OSError."""
    return client.exists(*(seen_key(queue) for queue in QUEUES)) < len(QUEUES)
