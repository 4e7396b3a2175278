"""Few exports at a time: each holds a thread of the web server until its client has read it all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from app.http.errors import ServiceUnavailable
from app.policy.files import EXPORT_RETRY_SECONDS, EXPORTS_AT_ONCE

_lock: Final = threading.Lock()
_running: Final[set[str]] = set()  # accounts; each has one export at most, to leave room for others


@contextmanager
def export_slot(account_id: str, threads: int) -> Iterator[None]:
    """Run an export of an account.

    Args:
        threads: those of the process, one of which is kept free.

    Raises:
        ServiceUnavailable: the process runs another export of the account, or too many others.
    """
    with _lock:
        most = min(EXPORTS_AT_ONCE, max(1, threads - 1))
        if account_id in _running or len(_running) >= most:
            message = "Another export is running. Try again when it is done."
            raise ServiceUnavailable(message, retry_after=EXPORT_RETRY_SECONDS)
        _running.add(account_id)
    try:
        yield
    finally:
        with _lock:
            _running.discard(account_id)
