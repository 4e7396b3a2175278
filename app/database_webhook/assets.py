"""Rows of assets that were changed with SQL."""

from __future__ import annotations

from typing import Any, ClassVar

from app.assets.derived import location_columns, search_columns
from app.assets.record import asset_record
from app.database_webhook.change import Columns
from app.database_webhook.row_validator import RowValidator
from app.database_webhook.table_adapter import Boundaries, TableAdapter
from app.geometry import read_point
from app.models import Asset
from app.policy.fields import ASSET
from app.values.records import set_columns


class AssetAdapter(TableAdapter):
    name: ClassVar = "asset"
    model: ClassVar = Asset
    fields: ClassVar = ASSET
    counted: ClassVar = ("account_id", "metadata")

    def recompute_derived(self, row: Asset, boundaries: Boundaries) -> tuple[bool, bool]:
        before = _derived(row)
        validator = RowValidator()
        validator.check(ASSET, row)
        location = validator.document("location", row.location, read_point)
        validator.finish()
        set_columns(row, search_columns(row.name) | location_columns(location))
        return _derived(row) != before, False

    def keep_history(self, row: Asset, reported: Columns, *, boundary_changed: bool) -> None:
        """Assets have none."""

    def record(self, row: Asset) -> dict[str, Any]:
        return asset_record(row)


def _derived(row: Asset) -> tuple[Any, ...]:
    return row.search_text, row.location, row.longitude, row.latitude
