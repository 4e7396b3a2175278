"""What a table's rows have of their own when one of them was changed with SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from app.geometry import Boundary
from app.models import Asset, Project
from app.row_changes.change import Columns

Boundaries = Mapping[str, Boundary]  # by the texts that they were read from


class TableAdapter(ABC):
    """A table. ``name`` is that of its rows in ids and in the types of events."""

    name: ClassVar[str]
    model: ClassVar[type[Project] | type[Asset]]

    @abstractmethod
    def recompute_derived(self, row: Any, looked_at: Boundaries) -> tuple[bool, bool]:
        """Compute all again that follows from the rest of a row.

        Returns whether anything was wrong, and whether that says that the boundary is another one
        than the service has seen.

        Raises:
            ValidationFailed: a column holds what a request could not.
        """

    @abstractmethod
    def record(self, row: Any) -> dict[str, Any]:
        """The fields of a row as an event shows them."""

    @abstractmethod
    def shown(self, columns: Columns) -> dict[str, Any]:
        """The fields that told columns make; those that lack, or have no right form, are left
        out."""

    def look_at(self, account_id: str, row_id: str) -> Boundaries:
        """The boundary of a row, checked before the transaction, as that can take long."""
        return {}

    def has_moved(self, columns: Columns, row: Any) -> bool:
        """Whether told columns hold another boundary than a row that was mended."""
        return False
