"""Checks of Valkey, its queues and their workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final, cast

from redis import Redis
from redis.exceptions import RedisError

from app.doctor.checks.database import compare_clock
from app.doctor.findings import Finding, ok, problem, warning
from app.jobs.queue import DELIVERIES, GENERAL, IMPORTS, MAILS, job_queue
from app.jobs.valkey import TIMEOUT_SECONDS
from app.jobs.valkey_client import sentinels_of
from app.limits.request_counts import CHANGED
from app.processes import embedded_valkey
from app.processes.part_registry import RunningPart, running_parts
from app.processes.worker_registry import count_workers
from app.security.sealing import key_check
from app.settings.valkey import SentinelAddress, sentinel_address
from app.values import clock
from config import Settings

WAITS_SECONDS: Final = 2.0  # longer than the service does, to tell a slow server from none
_MANY_JOBS: Final = 1000
_WAITING: Final = {
    GENERAL: "request counts are not saved, and old rows are not deleted",
    IMPORTS: "imported files are not read, and imports are not applied",
    DELIVERIES: "events are not delivered",
    MAILS: "emails are not sent",
}
_START: Final = (
    "Start the service, or its worker (python worker.py). Its log is logs/worker.log in the "
    "instance folder where bin/serve runs it, and the journal under systemd."
)


def url_of(settings: Settings) -> str | None:
    """Return the URL of Valkey, or None if the embedded one does not run: a check does not start
    it."""
    if settings.redis_url is not None:
        return settings.redis_url
    if embedded_valkey.is_running(settings.instance_path):
        return embedded_valkey.redis_url(settings)
    return None


def check_valkey_server(client: Redis, settings: Settings) -> Iterator[Finding]:
    """Report the server and its speed, and check its Sentinels, if there are any."""
    address = sentinel_address(settings.redis_url or "")
    if address is not None:
        yield from _check_sentinels(address)
    began = time.monotonic()
    server: Any = client.info("server")
    seconds = time.monotonic() - began
    name = server.get("server_name", "redis").capitalize()
    version = server.get("valkey_version") or server.get("redis_version")
    yield ok(f"{name} {version}{', embedded' if settings.redis_url is None else ''}")
    if seconds > TIMEOUT_SECONDS:
        yield warning(
            f"Valkey took {seconds:.1f} s to respond; the service waits for {TIMEOUT_SECONDS} s, "
            "and then continues without limits",
            "Run it nearer to the service, or on a machine that is less busy.",
        )


def _check_sentinels(address: SentinelAddress) -> Iterator[Finding]:
    """Check that all Sentinels name the same primary."""
    primaries = set()
    for (host, port), client in zip(address.sentinels, sentinels_of(address), strict=True):
        try:
            state: Any = client.sentinel_master(address.service)
            primaries.add(f"{state['ip']}:{state['port']}")
        except (RedisError, OSError) as error:
            yield warning(
                f"The Sentinel {host}:{port} does not name the primary of {address.service} "
                f"({error})",
                "Start it, or correct REDIS_URL. If it has a password of its own, add "
                "?sentinel_password=… at the end.",
            )
        finally:
            client.close()
    if len(primaries) > 1:
        yield warning(
            f"The Sentinels name different primaries: {', '.join(sorted(primaries))}",
            "After a failover they agree within seconds. If they do not, list only Sentinels of "
            "one group in REDIS_URL.",
        )
    elif primaries:
        yield ok(f"the Sentinels name {primaries.pop()} as the primary of {address.service}")


def not_running() -> Finding:
    return warning(
        "The embedded Valkey is not running: no jobs run, and requests are not limited",
        "Start the service, which starts it.",
    )


def valkey_unreachable(settings: Settings, error: Exception) -> Finding:
    which = "Valkey at REDIS_URL" if settings.redis_url else "The embedded Valkey"
    return problem(
        f"{which} does not respond ({error}): no jobs run, requests are not limited, and "
        "request counts wait",
        "Start it, or set REDIS_URL to one that runs. If the embedded one hangs, restart the "
        "service.",
    )


def check_workers(client: Redis) -> Iterator[Finding]:
    """Check that each queue has a worker, and few jobs wait."""
    for queue, alive in count_workers(client).items():
        waiting = job_queue(client, queue).count
        if not alive:
            missing = f"The queue {queue} has no worker: {_WAITING[queue]}"
            yield warning(f"{missing}; {waiting:,} jobs are waiting", _START)
        elif waiting > _MANY_JOBS:
            yield warning(
                f"{waiting:,} jobs are waiting in the queue {queue}",
                f"Start more workers: python worker.py --queue {queue}",
            )
        else:
            yield ok(f"{alive} for the queue {queue}, {waiting:,} jobs waiting")


def secret_keys(client: Redis, settings: Settings) -> Iterator[Finding]:
    """Check that all running parts have the SECRET_KEY of these settings."""
    parts = running_parts(client)
    others = parts_with_another_key(parts, settings)
    if others:
        names = "; ".join(map(describe_part, others))
        yield problem(
            f"Some processes run with a different SECRET_KEY than this command: {names}. They "
            "cannot read what the others encrypt",
            "Restart them with the current key. If this command has the wrong key, set SECRET_KEY "
            "for it.",
        )
    elif parts:
        have = (
            "1 running process has" if len(parts) == 1 else f"{len(parts)} running processes have"
        )
        yield ok(f"{have} the current SECRET_KEY")
    else:
        yield ok("no part runs with another SECRET_KEY")


def parts_with_another_key(parts: Iterable[RunningPart], settings: Settings) -> list[RunningPart]:
    """Return the running parts that have another SECRET_KEY than these settings."""
    check = key_check(settings.secret_key)
    return [part for part in parts if part.key_check != check]


def describe_part(part: RunningPart) -> str:
    """Return a part in words: ``web server, process 4242 on forest-1``."""
    return f"{part.name}, process {part.pid} on {part.host}"


def request_counts(client: Redis) -> Iterator[Finding]:
    """Check that request counts are copied to the database."""
    names = [cast("bytes", name).decode() for name in client.sscan_iter(CHANGED)]
    yesterday = clock.day_of(clock.now() - timedelta(days=1))
    late = [name for name in names if name.rpartition(" ")[2] < yesterday]
    if late:
        yield warning(
            f"{len(late):,} request counts from before yesterday have not reached the database",
            "Look for errors from write_counts in the worker's log. The job runs every 15 seconds.",
        )
    else:
        yield ok(f"{len(names):,} request counts are waiting to be saved")


def server_clock(client: Redis) -> Iterator[Finding]:
    """Compare the clocks of Valkey and this machine."""
    seconds, microseconds = client.time()
    yield compare_clock("Valkey", seconds + microseconds / 1_000_000)
