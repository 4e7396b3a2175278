"""The number of assets of an account, by type and status."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import func

from app.assets.listing import table_of
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.lists.query import ListQuery
from app.lists.statements import ListStatement, list_statement
from app.models import Asset

MOST_KINDS: Final = 100  # types and statuses are open vocabularies


def summarize_assets(principal: Principal) -> dict[str, Any]:
    """The number of all assets, and by type and status, the most frequent kinds first; those after
    the first hundred are summed up as ``others``."""
    account_id, query = principal.account_id, ListQuery(within=principal.project_ids)
    statement = list_statement(table_of(None), query)
    rows = _by_kind(statement).all(**statement.values(account_id, account_id, query))
    kinds = [
        {"type": row.type, "status": row.status, "assets": row.assets} for row in rows[:MOST_KINDS]
    ]
    return {
        "assets": sum(row.assets for row in rows),
        "kinds": kinds,
        "others": sum(row.assets for row in rows[MOST_KINDS:]),
    }


@cache
def _by_kind(statement: ListStatement) -> CompiledQuery:
    rows = columns_of(Asset, Asset.type, Asset.status).add_columns(func.count().label("assets"))
    by_kind = statement.filtered(rows).group_by(Asset.type, Asset.status)
    return CompiledQuery(by_kind.order_by(func.count().desc(), Asset.type, Asset.status))
