"""Queries over all accounts, for the commands of whoever operates the instance."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, func, select

from app.account.record import read_account
from app.account.validation import check_name
from app.audit.entries import record
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Detail, NotFound
from app.limits.plan_file import plan_of, plans
from app.models import Account
from app.values import clock
from app.values.ids import is_id
from app.values.text import unstorable

_COLUMNS = (Account.id, Account.slug, Account.name, Account.plan)
_BY_ID = CompiledQuery(select(*_COLUMNS).where(Account.id == bindparam("reference")))
_BY_SLUG = CompiledQuery(select(*_COLUMNS).where(Account.slug == bindparam("reference")))
_FIRST = CompiledQuery(select(*_COLUMNS).order_by(Account.created_at, Account.id).limit(1))
_ON_PLANS = CompiledQuery(select(Account.plan, func.count().label("number")).group_by(Account.plan))
_IDS = CompiledQuery(select(Account.id).order_by(Account.created_at, Account.id))


def find_account(reference: str) -> Any:
    """The ``id``, ``slug``, ``name`` and ``plan`` of the account with this id or slug.

    Raises:
        NotFound: there is none.
    """
    statement = _BY_ID if is_id("account", reference) else _BY_SLUG
    row = None if unstorable(reference) else statement.first(reference=reference)
    if row is None:
        message = (
            f"There is no account with the id or slug {reference!r}. "
            "List them with: bin/canopy account list"
        )
        raise NotFound(message, details=[Detail("account", message)])
    return row


def rename(account_id: str, name: str) -> None:
    """Change an account's name. Raises ValidationFailed for one that it cannot have."""
    check_name(name)
    account = db.session.get_one(Account, account_id, with_for_update={"key_share": True})
    if account.name != name:
        changes = {"name": {"from": account.name, "to": name}}
        record("account.updated", account, changes=changes)
        account.name = name
        account.updated_at = clock.now()


def first_account() -> Any:
    """The oldest account, as ``find_account`` gives it, or None."""
    return _FIRST.first()


def list_plans() -> list[dict[str, Any]]:
    """All plans with the number of their accounts.

    Plans that no longer exist, but that accounts are still on, come last, with the limits of
    ``BASE_PLAN`` and ``missing`` set.
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
    """The records of all accounts, oldest first."""
    return [read_account(row.id) for row in _IDS.all()]
