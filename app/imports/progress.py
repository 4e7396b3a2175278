"""How a step of an import commits, and tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

Transaction = Callable[[], AbstractContextManager[None]]  # commits at its end


class Progress:
    """Watches a step; this one does nothing."""

    def start(self, total: int) -> None:
        """The step will do so many features."""

    def advance(self, features: int) -> None:
        """So many more are done."""


NO_PROGRESS = Progress()
