"""Items in lists of so many bytes or seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain

import pytest

from app.values.batching import batched_by_bytes, batched_by_time


def test_a_batch_has_at_most_ten_bytes_and_three_items() -> None:
    for sizes, batches in (
        ([], []),
        ([3], [[3]]),
        ([4, 6], [[4, 6]]),
        ([4, 7], [[4], [7]]),
        ([11, 1], [[11], [1]]),
        ([1, 11, 1], [[1], [11], [1]]),
        ([0, 0, 0, 0, 0], [[0, 0, 0], [0, 0]]),
        ([5, 5, 5, 0, 0, 5], [[5, 5], [5, 0, 0], [5]]),
    ):
        assert list(batched_by_bytes(iter(sizes), int, 10, 3)) == batches, sizes


def test_a_batch_ends_when_its_items_took_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def made(*seconds: float) -> Iterator[float]:
        nonlocal now
        for each in seconds:
            now += each
            yield each

    assert list(batched_by_time(made(), 1.0)) == []
    batches = [[0.5, 0.4, 0.2], [3.0], [0.1, 0.1]]
    assert list(batched_by_time(made(*chain(*batches)), 1.0)) == batches
