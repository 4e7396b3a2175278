"""Looking up accounts: one by id or slug, all of them, and their number on each plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, func, select

from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.http.errors import Detail, NotFound
from app.limits.plan_file import plan_of, plans
from app.models import Account
from app.usage.counters import read_counters, usage_summary
from app.values.clock import format_optional_time
from app.values.command_name import canopy_command
from app.values.ids import is_id
from app.values.text import storage_problem

_RECORD = (
    Account.id, Account.name, Account.slug, Account.type, Account.plan, Account.created_at,
)  # fmt: skip
_ONE = CompiledQuery(select(*map(api_column, _RECORD)).where(Account.id == bindparam("account_id")))
_COLUMNS = (Account.id, Account.slug, Account.name, Account.plan)
_BY_ID = CompiledQuery(select(*_COLUMNS).where(Account.id == bindparam("reference")))
_BY_SLUG = CompiledQuery(select(*_COLUMNS).where(Account.slug == bindparam("reference")))
_FIRST = CompiledQuery(select(*_COLUMNS).order_by(Account.created_at, Account.id).limit(1))
_ON_PLANS = CompiledQuery(select(Account.plan, func.count().label("number")).group_by(Account.plan))
_IDS = CompiledQuery(select(Account.id).order_by(Account.created_at, Account.id))


def read_account(account_id: str) -> dict[str, Any]:
    """Read the record of an account, with its current usage."""
    return account_record(_ONE.first(account_id=account_id), read_counters(account_id))


def account_record(row: Any, usage: Any) -> dict[str, Any]:
    """Build the record of an account from rows or objects."""
    return {
        "id": row.id,
        "name": row.name,
        "slug": row.slug,
        "type": row.type,
        "plan": row.plan,
        "usage": usage_summary(usage),
        "created_at": format_optional_time(row.created_at),
    }


def find_account(reference: str) -> Any:
    """Find an account by its id or slug: a row with ``id``, ``slug``, ``name`` and ``plan``.

    Raises:
        NotFound: there is none.
    """
    statement = _BY_ID if is_id("account", reference) else _BY_SLUG
    row = None if storage_problem(reference) else statement.first(reference=reference)
    if row is None:
        message = (
            f"There is no account with the id or slug {reference!r}. "
            f"List them with: {canopy_command()} account list"
        )
        raise NotFound(message, details=[Detail("account", message, "not_found")])
    return row


def first_account() -> Any:
    """The oldest account, as ``find_account`` returns it, or None."""
    return _FIRST.first()


def list_plans() -> list[dict[str, Any]]:
    """List all plans with the number of their accounts.

    Plans that no longer exist but still have accounts come last, with the limits of ``BASE_PLAN``
    and ``missing`` set.
    """
    numbers = {row.plan: int(row.number) for row in _ON_PLANS.all()}
    records = [
        {"plan": name, **asdict(plan), "accounts": numbers.pop(name, 0)}
        for name, plan in plans().items()
    ]
    for name, number in sorted(numbers.items()):
        record = {"plan": name, **asdict(plan_of(name)), "accounts": number, "missing": True}
        records.append(record)
    return records


def list_accounts() -> list[dict[str, Any]]:
    """List the records of all accounts, oldest first."""
    return [read_account(row.id) for row in _IDS.all()]
