"""Where the bytes of requests are kept until all of a request is there."""

from __future__ import annotations

from typing import NamedTuple


class ByteBudget:
    """How many bytes the requests of a process may take up together."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def take(self, size: int) -> bool:
        """Whether there is room for so many more."""
        is_enough = size <= self._left
        self._left -= size if is_enough else 0
        return is_enough

    def give_back(self, size: int) -> None:
        self._left += size


class Storage(NamedTuple):
    """Where a process keeps its requests. Without a folder it is the system's for such files."""

    folder: str | None
    memory: ByteBudget  # of what is past ``SMALL`` bytes of a request
    files: ByteBudget
