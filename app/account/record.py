"""The record of an account, with what it uses."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.models import Account
from app.usage.counters import counters, summary
from app.values.clock import format_optional_time

_COLUMNS = (
    Account.id, Account.name, Account.slug, Account.type, Account.plan, Account.created_at,
)  # fmt: skip
_ONE = CompiledQuery(
    select(*map(api_column, _COLUMNS)).where(Account.id == bindparam("account_id"))
)


def read_account(account_id: str) -> dict[str, Any]:
    """The record of an account, with its current usage."""
    return account_record(_ONE.first(account_id=account_id), counters(account_id))


def account_record(row: Any, usage: Any) -> dict[str, Any]:
    """The fields of an account, from rows or objects."""
    return {
        "id": row.id,
        "name": row.name,
        "slug": row.slug,
        "type": row.type,
        "plan": row.plan,
        "usage": summary(usage),
        "created_at": format_optional_time(row.created_at),
    }
