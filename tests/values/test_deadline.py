"""One deadline over several steps."""

from __future__ import annotations

import math
import time

import pytest

from app.values.deadline import Deadline


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)


def test_left_counts_down_and_then_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    deadline = Deadline(5)
    assert (deadline.left(), deadline.is_over) == (5.0, False)
    monkeypatch.setattr(time, "monotonic", lambda: 104.0)
    assert (deadline.left(), deadline.is_over) == (1.0, False)
    monkeypatch.setattr(time, "monotonic", lambda: 105.0)
    assert deadline.is_over
    with pytest.raises(TimeoutError):
        deadline.left()


def test_within_is_never_later() -> None:
    deadline = Deadline(5)
    assert deadline.within(2).left() == 2.0
    assert deadline.within(9) is deadline
    assert Deadline(math.inf).within(3).left() == 3.0
