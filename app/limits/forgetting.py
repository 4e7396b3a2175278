"""Deleting the counters of an account or a person from Valkey before they expire within days."""

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
_SCANNED: Final = 1_000  # names that Valkey scans before it serves others


def forget_after_commit(id_: str) -> None:
    """After the commit of the open transaction, delete the request counts and rate limit windows
    with this id in their names."""
    call_after_commit(f"forget {id_}", partial(_forget_account, id_=id_))


def _forget_account(client: Redis, id_: str) -> None:
    pattern = f"*{id_}*"
    for days in range(_DAYS + 1):
        key = day_key(clock.day_of(clock.now() - timedelta(days=days)))
        for name, _ in client.hscan_iter(key, pattern, _SCANNED):
            client.hdel(key, name)
    for member in client.sscan_iter(CHANGED, pattern, _SCANNED):
        client.srem(CHANGED, member)
    for key in client.scan_iter(window_key(pattern), _SCANNED):
        client.delete(key)
