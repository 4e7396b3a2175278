"""The people of the instance."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Table, func, select

from app.auth.people import IS_REGISTERED
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import id_values, is_among_ids, page_of
from app.models import Account, Membership, Session, User
from app.pages.operator.listing import (
    Listed,
    ListFilters,
    contains_in_any_case,
    contains_search,
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


def list_people(filters: ListFilters) -> Listed:
    """Return one page of people: ``id``, ``email``, ``name``, ``created_at``, ``_FLAGS``,
    ``last_used_at``, and ``accounts``, with their ``id``, ``name``, ``role`` and ``joined_at``."""
    return read_list_page(filters, _people_count_query, _people_page_query, _people_records)


def _people_records(rows: list[Any]) -> list[dict[str, Any]]:
    ids = [row.id for row in rows]
    accounts, used_at = _accounts_of_people(ids), last_uses(ids, (_last_session, _last_activity))
    return [
        row._asdict()
        | {name: bool(getattr(row, name)) for name in _FLAGS}
        | {"accounts": accounts[row.id], "last_used_at": used_at.get(row.id)}
        for row in rows
    ]


def _accounts_of_people(ids: list[str]) -> defaultdict[str, list[Any]]:
    """Return the accounts of people, sorted by name, by the id of the person."""
    dialect, accounts = reading_engine().dialect.name, defaultdict[str, list[Any]](list)
    for row in _person_accounts_query(dialect).all(ids=id_values(ids, dialect)):
        accounts[row.user_id].append(row)
    return accounts


@cache
def _people_count_query(dialect: str, is_search: bool) -> CompiledQuery:
    return CompiledQuery(_search_people(select(func.count()).select_from(User), dialect, is_search))


@cache
def _people_page_query(dialect: str, is_search: bool, sort: str) -> CompiledQuery:
    rows = _search_people(select(*_COLUMNS), dialect, is_search)
    return CompiledQuery(page_of(rows.order_by(*_ORDERS[sort])))


@cache
def _person_accounts_query(dialect: str) -> CompiledQuery:
    columns = (Membership.user_id, Membership.role, Membership.joined_at, Account.id, Account.name)
    rows = select(*map(api_column, columns)).join(Account, Account.id == Membership.account_id)
    own = is_among_ids(Membership.user_id.expression, dialect)
    return CompiledQuery(rows.where(own).order_by(Account.name, Account.id))


@cache
def _last_session(dialect: str) -> CompiledQuery:
    return _latest_use_query(Session.__table__, "last_used_at", dialect)  # type: ignore[arg-type]


@cache
def _last_activity(dialect: str) -> CompiledQuery:
    return _latest_use_query(Membership.__table__, "last_active_at", dialect)  # type: ignore[arg-type]


def _latest_use_query(table: Table, column: str, dialect: str) -> CompiledQuery:
    rows = select(table.c.user_id, func.max(table.c[column]).label("used_at"))
    own = is_among_ids(table.c.user_id, dialect)
    return CompiledQuery(rows.where(own).group_by(table.c.user_id))


def _search_people(statement: Select[Any], dialect: str, is_search: bool) -> Select[Any]:
    if not is_search:
        return statement
    name, email = User.name.expression, User.email_key.expression
    return statement.where(
        contains_in_any_case(name, dialect) | contains_search(email, "folded", dialect)
    )
