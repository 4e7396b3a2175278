"""Wake signals: they start the job that handles what is due in the database.

No signal is lost: its sender has committed before. Then either a job has yet to begin, which will
see the change, or one is put on the queue. Jobs do not pile up: at most one waits behind those that
run, or two if one begins between two signals.

A job with a signal calls ``begin``, does what is due, and may ``wait`` for more before it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from redis import Redis

from app.jobs.queue import FAILURE_TTL, RESULT_TTL, job_queue
from app.jobs.valkey import TIMEOUT_SECONDS

SENT_TTL: Final = 60  # seconds for which a signal waits to be received
# Seconds until a signal puts another job on the queue, if the last one was lost: Valkey answered
# too late, or the job was killed before it began.
QUEUED_TTL: Final = 5

# Sends the signal, and returns 1 if a job has to be put on the queue. The list holds one signal,
# however many are sent. When the second key has expired, a job may still wait behind a long one.
_NOTIFY: Final = """
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


@dataclass(slots=True)
class WakeSignal:
    """A signal that starts a job."""

    name: str  # letters, digits, ``-`` and ``_``
    queue: str
    job_timeout: int  # seconds
    job: str = ""  # name of the job, set when the job is registered

    def notify(self, client: Redis) -> bool:
        """Wake the job. Returns True if one was put on the queue, which takes more than one round
        trip. Raises RedisError or OSError."""
        assert self.job, f"no job is registered for the signal {self.name}"
        queue = job_queue(client, self.queue)
        keys = (self._sent, self._queued, queue.key)
        values = (SENT_TTL, QUEUED_TTL, self._prefix)
        if not client.eval(_NOTIFY, len(keys), *keys, *values):
            return False
        queue.enqueue(
            self.job,
            # A new id for each job, so that a killed one does not block the next.
            job_id=f"{self._prefix}{uuid4().hex}",
            job_timeout=self.job_timeout,
            result_ttl=RESULT_TTL,
            failure_ttl=FAILURE_TTL,
        )
        return True

    def begin(self, client: Redis) -> None:
        """Receive the signals so far; the next one queues another job. A job calls this before it
        looks for what is due. Raises RedisError or OSError."""
        client.delete(self._queued, self._sent)

    def wait(self, client: Redis, seconds: float) -> bool:
        """Wait for a signal. Returns True if one came since the last that was received. Of several
        jobs that wait, one receives it.

        Args:
            client: its timeouts do not matter.
            seconds: more than 0, and few in a job that has to notice ``app.jobs.shutdown``.

        Raises:
            RedisError, OSError: Valkey is unavailable.
        """
        pool = client.connection_pool
        connection: Any = pool.get_connection()
        try:
            connection.send_command("BLPOP", self._sent, seconds)
            return connection.read_response(timeout=seconds + TIMEOUT_SECONDS) is not None
        except BaseException:  # a later answer must not reach the next user of the connection
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    @property
    def _sent(self) -> str:
        return f"canopy:signal:{self.name}:sent"

    @property
    def _queued(self) -> str:
        return f"canopy:signal:{self.name}:queued"

    @property
    def _prefix(self) -> str:
        return f"signal-{self.name}-"
