"""The turn of expensive work, taken by somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.api.expensive import TURNS


@contextmanager
def turn_taken(account: str = "another") -> Iterator[None]:
    """An account has the turn in the block."""
    assert TURNS.take(account, 0)
    try:
        yield
    finally:
        TURNS.end()
