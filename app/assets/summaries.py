"""The number of assets of an account, by type and status."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import func

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import Asset

MOST_KINDS: Final = 100  # types and statuses are open vocabularies

_BY_KIND = CompiledQuery(
    columns_of(Asset, Asset.type, Asset.status)
    .add_columns(func.count().label("assets"))
    .group_by(Asset.type, Asset.status)
    .order_by(func.count().desc(), Asset.type, Asset.status)
)


def summarize_assets(account_id: str) -> dict[str, Any]:
    """How many assets all projects have together, and of each type and status, the most frequent
    first; kinds after the first hundred are counted together as ``others``."""
    rows = _BY_KIND.all(account_id=account_id)
    kinds = [
        {"type": row.type, "status": row.status, "assets": row.assets} for row in rows[:MOST_KINDS]
    ]
    return {
        "assets": sum(row.assets for row in rows),
        "kinds": kinds,
        "others": sum(row.assets for row in rows[MOST_KINDS:]),
    }
