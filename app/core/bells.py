"""Bells: they wake a job that drains what the database says is due.

No ring is lost: whoever rings has committed before, and finds either a job that has yet to begin,
and will see the change, or none, and puts one on the queue. No jobs pile up: one waits at most
behind those that run; two in the seldom case that one begins in the middle of two rings.

A job with a bell calls ``begin``, drains what is due, and may ``wait`` for more before it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from redis import Redis

from app.core.queue import DELIVERIES, job_queue
from app.core.store import TIMEOUT_SECONDS
from app.policy.deliveries import RUN_SECONDS

_RUNG_FOR: Final = 60  # seconds that a ring waits for a job to hear it
_QUEUED_FOR: Final = 30  # seconds until another job is put behind one that was killed too early
_RESULT_TTL: Final = 0  # seconds
_FAILURE_TTL: Final = 5

# Rings, and tells whether a job has to be put on the queue. The list holds one ring, however many
# there were. When the key has expired, a job may wait all the same, behind one that runs for long.
_RING: Final = """
redis.call('LPUSH', KEYS[1], '1')
redis.call('LTRIM', KEYS[1], 0, 0)
redis.call('EXPIRE', KEYS[1], ARGV[1])
if not redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then
    return 0
end
for _, id in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
    if string.sub(id, 1, #ARGV[3]) == ARGV[3] then
        return 0
    end
end
return 1
"""


@dataclass(frozen=True, slots=True)
class Bell:
    """``name`` is made of letters, digits, ``-`` and ``_``; ``job`` is the dotted path of a
    function without arguments, which may run for ``job_timeout`` seconds."""

    name: str
    job: str
    queue: str
    job_timeout: int

    def ring(self, client: Redis) -> bool:
        """Wake the job. Returns whether one was put on the queue.

        It is one round trip, and some more when a job is put there. Raises RedisError or OSError.
        """
        queue = job_queue(client, self.queue)
        keys = (self._rung, self._queued, queue.key)
        values = (_RUNG_FOR, _QUEUED_FOR, self._prefix)
        if not client.eval(_RING, len(keys), *keys, *values):
            return False
        queue.enqueue(
            self.job,
            # Every job has an id of its own: one that was killed keeps none from coming.
            job_id=f"{self._prefix}{uuid4().hex}",
            job_timeout=self.job_timeout,
            result_ttl=_RESULT_TTL,
            failure_ttl=_FAILURE_TTL,
        )
        return True

    def begin(self, client: Redis) -> None:
        """What the job does first, before it looks for what is due: the next ring puts another job
        behind this one. The rings so far are heard. Raises RedisError or OSError."""
        client.delete(self._queued, self._rung)

    def wait(self, client: Redis, seconds: float) -> bool:
        """Wait for a ring. Returns whether there was one since the last that was heard.

        Of several jobs that wait, one hears it. A job that is to end soon after it was asked
        (``app.core.stopping``) waits for a second at a time, say.

        Args:
            client: whatever its timeouts.
            seconds: more than 0.

        Raises:
            RedisError, OSError: the store is gone, or does not answer in time.
        """
        pool = client.connection_pool
        connection: Any = pool.get_connection()
        try:
            connection.send_command("BLPOP", self._rung, seconds)
            return connection.read_response(timeout=seconds + TIMEOUT_SECONDS) is not None
        except BaseException:  # an answer that comes later is for nobody
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    @property
    def _rung(self) -> str:
        return f"canopy:bell:{self.name}:rung"

    @property
    def _queued(self) -> str:
        return f"canopy:bell:{self.name}:queued"

    @property
    def _prefix(self) -> str:
        return f"bell-{self.name}-"


DELIVERIES_BELL: Final = Bell(
    "deliveries",
    "app.webhooks.jobs.deliver",
    DELIVERIES,
    job_timeout=int(RUN_SECONDS) + 30,  # the job ends by itself before, with what it still holds
)

BELLS: Final = {bell.name: bell for bell in (DELIVERIES_BELL,)}
