"""Requests at the same moment, each in a thread with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def together(*calls: Callable[[], T]) -> list[T]:
    """The results of all calls, which wait for each other before they begin."""
    ready = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        ready.wait(timeout=20)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
