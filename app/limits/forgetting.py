"""Removing what Valkey has of an account or a person who is deleted, which would expire by itself
within days."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Final

from redis import Redis

from app.jobs.after_commit import call_after_commit
from app.limits.request_counts import CHANGED, KEPT_SECONDS, day_key
from app.limits.storage import window_key
from app.values import clock

_DAYS: Final = KEPT_SECONDS // (24 * 60 * 60) + 1
_AT_ONCE: Final = 1_000  # names that Valkey looks at before it does something else


def forget_after_commit(id_: str) -> None:
    """Delete the counters of requests, and the windows of limits, whose names have this id, as soon
    as the open transaction is committed."""
    call_after_commit(f"forget {id_}", partial(_forget, id_=id_))


def _forget(client: Redis, id_: str) -> None:
    pattern = f"*{id_}*"
    for days in range(_DAYS + 1):
        key = day_key(clock.day_of(clock.now() - timedelta(days=days)))
        for name, _ in client.hscan_iter(key, pattern, _AT_ONCE):
            client.hdel(key, name)
    for member in client.sscan_iter(CHANGED, pattern, _AT_ONCE):
        client.srem(CHANGED, member)
    for key in client.scan_iter(window_key(pattern), _AT_ONCE):
        client.delete(key)
