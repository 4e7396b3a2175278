"""How the processor time of something grows, and whether it is far from what it may take: a narrow
bound says more of the machine, and of who else uses it, than of the code."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_FEWEST: Final = 3  # times that each is tried; the shortest counts, which nobody disturbed
_MOST: Final = 20
_SLOWEST: Final = 5  # times as long as on an idle processor of 2026, when others use it as well


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
    """Whether what took ``taken`` seconds may have taken less than ``seconds`` on an idle machine.
    Only what has lost its bound, and so takes minutes, is to be found by it."""
    return taken < _SLOWEST * seconds


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
