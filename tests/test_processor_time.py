"""A wrong order of growth is found."""

from __future__ import annotations

from collections.abc import Callable

from tests.processor_time import takes_at_most


def linear(size: int) -> Callable[[], object]:
    return lambda: sum(range(size))


def quadratic(size: int) -> Callable[[], object]:
    return lambda: [sum(range(size)) for _ in range(size)]


def test_eight_times_as_much() -> None:
    assert takes_at_most(24, linear(80_000), linear(10_000))
    assert not takes_at_most(24, quadratic(800), quadratic(100))
