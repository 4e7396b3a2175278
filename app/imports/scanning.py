"""All imports of an account and their features, for files that have all of them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.imports.record import COLUMNS, FEATURE_COLUMNS, feature_record, import_record
from app.lists.batches import Batches, KeyedRows, NestedBatches, Readable
from app.models import Import, ImportFeature

_KEY: Final = (Import.created_at, Import.id)
_BATCH_ROWS: Final = 20  # the names of layers and columns may have some 100 KB
_IMPORTS: Final = KeyedRows(
    columns_of(Import, *(getattr(Import, name) for name in COLUMNS)), *_KEY, batch_rows=_BATCH_ROWS
)
_ONE_BY_ONE: Final = KeyedRows(columns_of(Import, Import.id, Import.kind), *_KEY, batch_rows=1)
_FEATURES: Final = KeyedRows(
    columns_of(
        ImportFeature,
        ImportFeature.import_id,
        *(getattr(ImportFeature, name) for name in FEATURE_COLUMNS),
    ).where(ImportFeature.import_id == bindparam("import_id")),
    ImportFeature.number,
)


def scan_imports(account_id: str) -> Readable[dict[str, Any]]:
    """The records of all imports, the oldest first."""
    return Batches(_IMPORTS, import_record, account_id=account_id)


def scan_features(account_id: str) -> Readable[dict[str, Any]]:
    """The records of the features of all imports with ``import_id``, those of an import one after
    the other, without what they hold."""

    def begin(imports: list[Any]) -> Readable[dict[str, Any]]:
        (found,) = imports

        def record(row: Any) -> dict[str, Any]:
            return {"import_id": row.import_id, **feature_record(found.kind, row)}

        return Batches(_FEATURES, record, account_id=account_id, import_id=found.id)

    return NestedBatches(Batches(_ONE_BY_ONE, lambda row: row, account_id=account_id), begin)
