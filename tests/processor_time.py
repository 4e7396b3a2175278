"""Bounds on processor time that hold on a machine that is slow for a while, too."""

from __future__ import annotations

import time

import numpy as np

_IDLE = 0.12  # seconds that ``_seconds_of_work`` returns on an idle processor of 2026
_SLOWEST = 4.0  # a bound is stretched this much at most


def is_within(taken: float, seconds: float) -> bool:
    """Whether what took ``taken`` seconds would have taken less than ``seconds`` on an idle
    machine. Whoever else uses the processor takes some of its caches and its speed."""
    return taken < seconds or taken < seconds * min(_SLOWEST, _seconds_of_work() / _IDLE)


def _seconds_of_work() -> float:
    began = time.thread_time()
    numbers = np.sort(np.random.default_rng(1).random(2_000_000)).tolist()
    assert sum(numbers) > 0
    return time.thread_time() - began
