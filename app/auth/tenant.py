"""The one tenant filter, which selects the rows that an account may see.

Every statement on a table that belongs to accounts begins here. A test reads the code for
statements that go around it, and a check in the tests reads each statement that is sent.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from sqlalchemy import Label, Select, Subquery, bindparam, select
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.base import ExecutableOption

from app.db.column_types import Base, api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery

Model = TypeVar("Model", bound=Base)
ALL_ACCOUNTS: Final = "/* of all accounts */"


def rows_of(account_id: str, model: type[Model]) -> Select[Model]:
    """The account's rows of a model, as objects that can be changed."""
    return select(model).where(_account(model) == account_id)


def columns_of(model: type[Base], *columns: InstrumentedAttribute[Any] | Label[Any]) -> Select[Any]:
    """An account's rows of a model, as plain columns for reading; moments as they are shown.

    The statement has a parameter ``account_id`` and cannot be executed without it, so it can be
    built once, when the module is loaded.
    """
    table = model.__table__
    return select(*(api_column(column) for column in columns)).where(
        table.c.account_id == bindparam("account_id")
    )


def columns_among(found: Subquery, *names: str) -> Select[Any]:
    """The account's rows among those of a subquery, of whose columns ``account_id`` must be one."""
    columns = (found.c[name] for name in names)
    return select(*columns).where(found.c.account_id == bindparam("account_id"))


def own_columns_of(model: type[Base], *columns: InstrumentedAttribute[Any]) -> Select[Any]:
    """A person's own rows of a model, in all accounts that they belong to, as plain columns for
    reading; moments as they are shown.

    Only for the person themselves: they see no more of an account than their own rows say. The
    statement has a parameter ``own_user_id``.
    """
    table = model.__table__
    return select(*(api_column(column) for column in columns)).where(
        table.c.user_id == bindparam("own_user_id")
    )


def select_of_all_accounts(*columns: Any) -> Select[Any]:
    """Return a SELECT of the rows of all accounts, for periodic jobs and commands of the operator.

    The tests fail if a request sends it; its comment is what they recognize it by.
    """
    return select(*columns).prefix_with(ALL_ACCOUNTS)


def find_locked(
    account_id: str, model: type[Model], resource_id: str, *options: ExecutableOption
) -> Model | None:
    """The account's row with this id, locked until the end of the transaction, or None."""
    statement = rows_of(account_id, model).where(model.id == resource_id)  # type: ignore[attr-defined]
    locked = statement.options(*options).with_for_update()
    return db.session.scalars(locked).one_or_none()


def account_of(model: type[Base], resource_id: str) -> str | None:
    """The account that a row belongs to, whichever it is, or None when there is no such row.

    For the operator of the instance, and the database that signs with the operator's secret: a
    response to anybody else must not depend on it.
    """
    table = model.__table__
    statement = select(table.c.account_id).where(table.c.id == bindparam("resource_id"))
    row = CompiledQuery(statement).first(resource_id=resource_id)
    return None if row is None else row.account_id


def _account(model: type[Base]) -> InstrumentedAttribute[str]:
    column: InstrumentedAttribute[str] = model.account_id  # type: ignore[attr-defined]
    return column
