"""Grouping items of a stream into batches that fit into memory.

Between two batches, the request may be ended (``processor_clock``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from app.values import processor_clock

T = TypeVar("T")


def batched_by_bytes(
    items: Iterable[T], size: Callable[[T], int], most_bytes: int, most: int | None = None
) -> Iterator[list[T]]:
    """Yield consecutive items in lists of at most ``most_bytes`` bytes; a larger item comes alone.

    Args:
        size: returns the bytes of an item.
        most: items of a list; None: any number.
    """
    batch, total = list[T](), 0
    for item in items:
        item_bytes = size(item)
        total += item_bytes
        if total > most_bytes or len(batch) == most:
            if batch:
                yield batch
                processor_clock.check()
            batch, total = [], item_bytes
        batch.append(item)
    if batch:
        yield batch


def batched_by_time(items: Iterable[T], seconds: float) -> Iterator[list[T]]:
    """Yield consecutive items in lists that each took ``seconds`` to make, of at least one item."""
    batch, end = list[T](), time.monotonic() + seconds
    for item in items:
        batch.append(item)
        if time.monotonic() > end:
            yield batch
            batch, end = [], time.monotonic() + seconds
    if batch:
        yield batch
