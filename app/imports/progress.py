"""Progress of a step of an import."""

from __future__ import annotations


class ImportProgress:
    """An observer of a step. This one ignores everything."""

    waits_in_place = False  # True: the step sleeps when it has to wait, instead of ending its turn

    def start(self, total: int) -> None:
        """Called once with the number of features of the step."""

    def advance(self, features: int) -> None:
        """Called with the number of features done since the last call."""


NO_PROGRESS = ImportProgress()
