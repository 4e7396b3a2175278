"""How the processor time of something grows, and, for trials alone, whether it is within a bound:
that says more of the machine, and of who else uses it, than of the code."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

_FEWEST: Final = 3  # times that each is tried; the shortest counts, which nobody disturbed
_MOST: Final = 20
_IDLE: Final = 0.12  # seconds that ``_seconds_of_work`` returns on an idle processor of 2026
_SLOWEST: Final = 4.0  # a bound is stretched this much at most


def takes_at_most(times: float, large: Callable[[], object], small: Callable[[], object]) -> bool:
    """Whether ``large`` takes at most so many times as long as ``small``, in this thread. Give it
    much room: only a wrong order of growth is to exceed it."""
    shortest = [float("inf"), float("inf")]
    for number in range(1, _MOST + 1):
        for at, run in enumerate((small, large)):
            shortest[at] = min(shortest[at], seconds_taken(run))
        if number >= _FEWEST and shortest[1] <= times * shortest[0]:
            return True
    return False


def is_within(taken: float, seconds: float) -> bool:
    """Whether what took ``taken`` seconds would have taken less than ``seconds`` on an idle
    machine. Whoever else uses the processor takes some of its caches and its speed."""
    return taken < seconds or taken < seconds * min(_SLOWEST, _seconds_of_work() / _IDLE)


def seconds_taken(run: Callable[[], object]) -> float:
    """The processor time that ``run`` takes in this thread."""
    with without_garbage_collection():
        began = time.thread_time()
        run()
        return time.thread_time() - began


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collecting that of a whole test run takes longer than most of what is measured."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _seconds_of_work() -> float:
    return seconds_taken(lambda: np.sort(np.random.default_rng(1).random(2_000_000)).tolist())
