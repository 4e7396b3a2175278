"""The mapping that an account used for the same columns before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import Import

_LATEST: Final = CompiledQuery(
    columns_of(Import, Import.layers, Import.layer, Import.mapping)
    .where(
        Import.kind == bindparam("kind"),
        Import.status == "applied",
    )
    .order_by(Import.created_at.desc(), Import.id.desc())
    .limit(20)
)


def remembered_mapping(account_id: str, kind: str, columns: Sequence[str]) -> dict[str, Any] | None:
    """The mapping of the last applied import of a layer with these columns, or None."""
    for row in _LATEST.all(account_id=account_id, kind=kind):
        for layer in row.layers:
            if layer["name"] == row.layer and set(layer["columns"]) == set(columns):
                mapping: dict[str, Any] = row.mapping
                return mapping
    return None
