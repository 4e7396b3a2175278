"""Rows of assets that were changed with SQL."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from app.assets.derived import index_text, place
from app.assets.record import asset_record
from app.core.geometry import read_point
from app.core.schemas import FreeForm, Text, Word
from app.core.strict_json import loads
from app.models import Asset
from app.policy.bounds import NAME_LENGTH
from app.row_changes.change import Columns, texts, times
from app.row_changes.judge import Judge
from app.row_changes.rows import Boundaries, Rows

_NAME: Final = Text(shortest=1, longest=NAME_LENGTH)
_WORD: Final = Word()
_METADATA: Final = FreeForm()


class AssetRows(Rows):
    name: ClassVar = "asset"
    model: ClassVar = Asset

    def mend(self, row: Asset, looked_at: Boundaries) -> tuple[bool, bool]:
        before = _derived(row)
        judge = Judge()
        judge.value("name", _NAME, row.name)
        judge.value("type", _WORD, row.type)
        judge.value("status", _WORD, row.status)
        judge.document("metadata", row.metadata_json, _METADATA.deserialize)
        location = judge.document("location", row.location, read_point)
        judge.finish()
        index_text(row)
        place(row, location)
        return _derived(row) != before, False

    def record(self, row: Asset) -> dict[str, Any]:
        return asset_record(row)

    def shown(self, columns: Columns) -> dict[str, Any]:
        shown = texts(columns, "project_id", "name", "type", "status")
        documents = texts(columns, "location", "metadata", nullable=True)
        for name, read in (("location", _point), ("metadata", _METADATA.deserialize)):
            text = documents.get(name)
            value = Judge().document(name, text, read)
            if name in documents and (text is None or value is not None):
                shown[name] = None if value is None else loads(value.encode())
        return shown | times(columns, "created_at", "updated_at")


def _point(value: Any) -> str:
    return read_point(value).text


def _derived(row: Asset) -> tuple[Any, ...]:
    return row.search_text, row.location, row.longitude, row.latitude
