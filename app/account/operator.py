"""What the operator of the instance sees: every account."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from app.account.service import read_account
from app.core.errors import Detail, NotFound
from app.core.ids import is_id
from app.core.reading import Prepared
from app.core.text import unstorable
from app.models import Account

_COLUMNS = (Account.id, Account.slug, Account.name, Account.plan)
_BY_ID = Prepared(select(*_COLUMNS).where(Account.id == bindparam("reference")))
_BY_SLUG = Prepared(select(*_COLUMNS).where(Account.slug == bindparam("reference")))
_FIRST = Prepared(select(*_COLUMNS).order_by(Account.created_at, Account.id).limit(1))
_IDS = Prepared(select(Account.id).order_by(Account.created_at, Account.id))


def find_account(reference: str) -> Any:
    """The ``id``, ``slug``, ``name`` and ``plan`` of the account with this id or slug.

    Raises:
        NotFound: there is none.
    """
    statement = _BY_ID if is_id("account", reference) else _BY_SLUG
    row = None if unstorable(reference) else statement.first(reference=reference)
    if row is None:
        message = (
            f"There is no account with the id or slug {reference!r}; "
            "bin/canopy account list shows them all."
        )
        raise NotFound(message, details=[Detail("account", message)])
    return row


def first_account() -> Any:
    """The oldest account, as ``find_account`` gives it, or None."""
    return _FIRST.first()


def list_accounts() -> list[dict[str, Any]]:
    """The records of all accounts, the oldest first."""
    return [read_account(row.id) for row in _IDS.all()]
