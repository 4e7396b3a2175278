"""The people of the instance."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select

from app.auth.people import IS_REGISTERED
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids, page_of
from app.models import Account, Membership, Session, User
from app.pages.operator.listing import (
    Listed,
    ListFilters,
    contains_in_any_case,
    contains_search,
    last_use,
    last_uses,
    read_list_page,
)

# The orders of the list, by their names in the address.
SORTS: Final = {"newest": "Newest first", "email": "Email address", "name": "Name"}
_ORDERS: Final[dict[str, tuple[ColumnElement[Any], ...]]] = {
    "newest": (User.created_at.desc(), User.id.desc()),
    "email": (User.email_key.expression,),
    "name": (func.lower(User.name), User.id.expression),
}
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


def list_people(filters: ListFilters) -> Listed:
    """Return one page of people: ``id``, ``email``, ``name``, ``created_at``, ``_FLAGS``,
    ``last_used_at``, and ``accounts``, with their ``id``, ``name``, ``role`` and ``joined_at``."""
    return read_list_page(filters, _people_count_query, _people_page_query, _people_records)


def _people_records(rows: list[Any]) -> list[dict[str, Any]]:
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


@cache
def _people_count_query(dialect: str, is_search: bool) -> CompiledQuery:
    return CompiledQuery(_search_people(select(func.count()).select_from(User), dialect, is_search))


@cache
def _people_page_query(dialect: str, is_search: bool, sort: str) -> CompiledQuery:
    rows = _search_people(select(*_COLUMNS), dialect, is_search)
    return CompiledQuery(page_of(rows.order_by(*_ORDERS[sort])))


def _search_people(statement: Select[Any], dialect: str, is_search: bool) -> Select[Any]:
    if not is_search:
        return statement
    name, email = User.name.expression, User.email_key.expression
    return statement.where(
        contains_in_any_case(name, dialect) | contains_search(email, "folded", dialect)
    )
