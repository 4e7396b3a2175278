"""Rows of assets that were changed with SQL."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from app.api.fields import JsonObject, Keyword
from app.assets.derived import set_location, set_search_text
from app.assets.record import asset_record
from app.geometry import read_point
from app.models import Asset
from app.policy.bounds import NAME_LENGTH
from app.row_changes.change import Columns, texts, times
from app.row_changes.row_validator import RowValidator
from app.row_changes.table_adapter import Boundaries, TableAdapter
from app.values.fields import Text
from app.values.strict_json import loads

_NAME: Final = Text(shortest=1, longest=NAME_LENGTH)
_WORD: Final = Keyword()
_METADATA: Final = JsonObject()


class AssetAdapter(TableAdapter):
    name: ClassVar = "asset"
    model: ClassVar = Asset

    def recompute_derived(self, row: Asset, looked_at: Boundaries) -> tuple[bool, bool]:
        before = _derived(row)
        judge = RowValidator()
        judge.value("name", _NAME, row.name)
        judge.value("type", _WORD, row.type)
        judge.value("status", _WORD, row.status)
        judge.document("metadata", row.metadata_json, _METADATA.deserialize)
        location = judge.document("location", row.location, read_point)
        judge.finish()
        set_search_text(row)
        set_location(row, location)
        return _derived(row) != before, False

    def record(self, row: Asset) -> dict[str, Any]:
        return asset_record(row)

    def shown(self, columns: Columns) -> dict[str, Any]:
        shown = texts(columns, "project_id", "name", "type", "status")
        documents = texts(columns, "location", "metadata", nullable=True)
        for name, read in (("location", _point), ("metadata", _METADATA.deserialize)):
            text = documents.get(name)
            value = RowValidator().document(name, text, read)
            if name in documents and (text is None or value is not None):
                shown[name] = None if value is None else loads(value.encode())
        return shown | times(columns, "created_at", "updated_at")


def _point(value: Any) -> str:
    return read_point(value).text


def _derived(row: Asset) -> tuple[Any, ...]:
    return row.search_text, row.location, row.longitude, row.latitude
