"""The people of the instance."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from sqlalchemy import func, select

from app.auth.people import IS_REGISTERED
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.models import Account, Membership, Session, User
from app.pages.operator.listing import (
    RecordList,
    contains_in_any_case,
    contains_search,
    last_use,
    last_uses,
)

_FLAGS: Final = ("is_registered", "is_verified", "has_second_factor", "is_operator")
_COLUMNS: Final = (
    *map(api_column, (User.id, User.email, User.name, User.created_at)),
    IS_REGISTERED.label("is_registered"),
    User.email_verified_at.is_not(None).label("is_verified"),
    User.second_factor_since.is_not(None).label("has_second_factor"),
    User.operator_since.is_not(None).label("is_operator"),
)
_ACCOUNTS: Final = CompiledQuery(
    select(
        *map(api_column, (Membership.user_id, Membership.role, Membership.joined_at)),
        *map(api_column, (Account.id, Account.name)),
    )
    .join(Account, Account.id == Membership.account_id)
    .where(is_among_ids(Membership.user_id.expression))
    .order_by(Account.name, Account.id)
)
_LAST_USES: Final = (
    last_use(Session.user_id, Session.last_used_at),
    last_use(Membership.user_id, Membership.last_active_at),
)


def _people_records(rows: list[Any]) -> list[dict[str, Any]]:
    """Return ``id``, ``email``, ``name``, ``created_at``, ``_FLAGS``, ``last_used_at`` of people,
    and ``accounts``, with their ``id``, ``name``, ``role`` and ``joined_at``."""
    ids = [row.id for row in rows]
    accounts, used_at = _accounts_of_people(ids), last_uses(ids, _LAST_USES)
    return [
        row._asdict()
        | {name: bool(getattr(row, name)) for name in _FLAGS}
        | {"accounts": accounts[row.id], "last_used_at": used_at.get(row.id)}
        for row in rows
    ]


def _accounts_of_people(ids: list[str]) -> defaultdict[str, list[Any]]:
    """Return the accounts of people, sorted by name, by the id of the person."""
    accounts = defaultdict[str, list[Any]](list)
    for row in _ACCOUNTS.all(ids=ids):
        accounts[row.user_id].append(row)
    return accounts


PEOPLE: Final = RecordList(
    "/operator/people",
    User,
    select(*_COLUMNS),
    {
        "newest": ("Newest first", (User.created_at.desc(), User.id.desc())),
        "email": ("Email address", (User.email_key.expression,)),
        "name": ("Name", (func.lower(User.name), User.id.expression)),
    },
    lambda dialect: (
        contains_in_any_case(User.name.expression, dialect)
        | contains_search(User.email_key.expression, "folded", dialect)
    ),
    _people_records,
)
