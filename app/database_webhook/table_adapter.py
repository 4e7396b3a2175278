"""What differs between projects and assets when one of their rows was changed with SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from app.database_webhook.change import Columns
from app.geometry import Boundary
from app.models import Asset, Project
from app.policy.fields import Field

Boundaries = Mapping[str, Boundary]  # by the texts that they were read from


class TableAdapter(ABC):
    """A table. ``name`` is that of its rows in ids and in the types of events; from the columns
    ``counted`` follow the account's counters."""

    name: ClassVar[str]
    model: ClassVar[type[Project] | type[Asset]]
    fields: ClassVar[tuple[Field, ...]]
    counted: ClassVar[tuple[str, ...]]

    @abstractmethod
    def recompute_derived(self, row: Any, boundaries: Boundaries) -> tuple[bool, bool]:
        """Compute every column of a row again that follows from the others.

        Returns whether any was wrong, and whether that shows that the boundary was changed past
        the service.

        Raises:
            ValidationFailed: a column holds what a request could not.
        """

    @abstractmethod
    def record(self, row: Any) -> dict[str, Any]:
        """The fields of a row as an event shows them."""

    @abstractmethod
    def keep_history(self, row: Any, reported: Columns, *, boundary_changed: bool) -> None:
        """Note down the boundary that a changed row had before, if it has another one now.

        Args:
            reported: the columns that the row had, as they were reported.
        """

    def read_boundary(self, account_id: str, row_id: str) -> Boundaries:
        """The boundary of a row, validated before the transaction, as that can take long."""
        return {}

    def boundary_differs(self, columns: Columns, row: Any) -> bool:
        """Whether reported columns hold another boundary than a row whose columns are right."""
        return False
