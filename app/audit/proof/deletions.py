"""What a log says of entries that were deleted by age: checkpoints without entries, and the entries
that record the deletion."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from app.audit.proof.checkpoint import Checkpoint


class Deletions:
    """Collects them.

    Attributes:
        to: the highest number that was deleted.
        recorded_to: the highest number whose deletion a sealed entry records.
        newest: when the newest batch that was deleted had been sealed; empty if there is none.
    """

    def __init__(self) -> None:
        self.to = self.recorded_to = 0
        self.newest = ""
        self._sealed_at = dict[int, str]()  # of each batch, by its last number

    def add(self, batch: Checkpoint) -> bool:
        """Add a batch that was deleted. False if entries before it are still there."""
        follows = batch.first == self.to + 1
        self.to = max(self.to, batch.last)
        self._sealed_at[batch.last] = self.newest = batch.sealed_at
        return follows

    def record(self, entry: dict[str, Any]) -> int | None:
        """Add what a sealed entry records. Returns the last number of its batch if that was not old
        enough."""
        last = _deleted_to(entry)
        self.recorded_to = max(self.recorded_to, last)
        sealed_at = self._sealed_at.get(last)
        return last if sealed_at and _is_early(sealed_at, entry) else None


def _deleted_to(entry: dict[str, Any]) -> int:
    try:
        return int(entry["changes"]["first_number"]["to"]) - 1
    except (LookupError, TypeError, ValueError, OverflowError):
        return 0


def _is_early(sealed_at: str, entry: dict[str, Any]) -> bool:
    """Entries of earlier versions have no number of days."""
    try:
        days = timedelta(entry["changes"]["audit_days"]["to"])
        return datetime.fromisoformat(sealed_at) + days > datetime.fromisoformat(entry["at"])
    except (LookupError, TypeError, ValueError, OverflowError):
        return False
