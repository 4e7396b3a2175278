"""Progress of a step of an import, for whoever watches it."""

from __future__ import annotations


class Progress:
    """Watches a step; this one does nothing."""

    def start(self, total: int) -> None:
        """The step will do so many features."""

    def advance(self, features: int) -> None:
        """So many more are done."""


NO_PROGRESS = Progress()
