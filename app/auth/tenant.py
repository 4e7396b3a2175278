"""The one tenant filter, which selects the rows that an account may see.

Every statement on a table that belongs to accounts begins here. Tests read the code for statements
that bypass it, and check each statement that is sent.

The filter also excludes projects that are being deleted, with their assets and boundaries. There is
hardly ever one, so each statement first asks if there is any, and only then tests rows, by ids,
which every index has.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

from sqlalchemy import (
    ColumnElement,
    Label,
    Select,
    Subquery,
    Table,
    and_,
    bindparam,
    select,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.base import ExecutableOption
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from app.db.column_types import Base, api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import Asset, Project

Model = TypeVar("Model", bound=Base)
ALL_ACCOUNTS: Final = "/* of all accounts */"

_DELETED: Final = cast("Table", Project.__table__).alias("deleted")
_IS_KEPT: Final = Project.deleted_at.is_(None)
_OF_DELETED: Final = cast("Table", Asset.__table__).alias("of_deleted")
# The column of each table that rows are tested by.
_TESTED: Final = {"projects": "id", "assets": "id", "boundaries": "project_id"}


def rows_of(account_id: str, model: type[Model]) -> Select[Model]:
    """The account's rows of a model, as objects that can be changed."""
    rows = stored_rows_of(account_id, model)
    if model is Project:  # by the row alone, which is read again after waiting for its lock
        return rows.where(_IS_KEPT)
    return rows.where(*_not_deleted(cast("Table", model.__table__), account_id))


def stored_rows_of(account_id: str, model: type[Model]) -> Select[Model]:
    """Like ``rows_of``, with the rows of projects that are being deleted."""
    return select(model).where(_account_column(model) == account_id)


def columns_of(model: type[Base], *columns: InstrumentedAttribute[Any] | Label[Any]) -> Select[Any]:
    """An account's rows of a model, as plain columns for reading, with times as text.

    The statement requires the parameter ``account_id``, so it can be built once per module.
    """
    table = cast("Table", model.__table__)
    account: ColumnElement[str] = bindparam("account_id")
    rows = select(*(api_column(column) for column in columns))
    return rows.where(table.c.account_id == account, *_not_deleted(table, account))


def columns_among(rows: Subquery, *names: str, is_kept: bool = False) -> Select[Any]:
    """The account's rows of a subquery, which must have the columns ``account_id`` and ``id``.

    Args:
        is_kept: the subquery is already filtered by this module.
    """
    columns = (rows.c[name] for name in names)
    account: ColumnElement[str] = bindparam("account_id")
    own = select(*columns).where(rows.c.account_id == account)
    if is_kept:
        return own
    (origin,) = rows.c.account_id.base_columns
    return own.where(*_not_deleted(cast("Table", origin.table), account, rows))


def own_columns_of(model: type[Base], *columns: InstrumentedAttribute[Any]) -> Select[Any]:
    """A person's rows of a model in all their accounts, as plain columns for reading, with times as
    text.

    Only for the person. The statement requires the parameter ``own_user_id``.
    """
    table = model.__table__
    return select(*(api_column(column) for column in columns)).where(
        table.c.user_id == bindparam("own_user_id")
    )


def select_of_all_accounts(*columns: Any) -> Select[Any]:
    """Return a SELECT of the rows of all accounts, for periodic jobs and commands of the operator.

    The tests fail if a request sends it, which they recognize by the comment.
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
    """The id of the account of a row, or None if there is no such row.

    Only for the operator, and the database webhook with the operator's secret: responses to others
    must not depend on it.
    """
    table = model.__table__
    statement = select(table.c.account_id).where(table.c.id == bindparam("resource_id"))
    if model is Project:
        statement = statement.where(Project.deleted_at.is_(None))
    row = CompiledQuery(statement).first(resource_id=resource_id)
    return None if row is None else row.account_id


def _account_column(model: type[Base]) -> InstrumentedAttribute[str]:
    column: InstrumentedAttribute[str] = model.account_id  # type: ignore[attr-defined]
    return column


def _not_deleted(
    table: Table, account_id: str | ColumnElement[str], rows: Table | Subquery | None = None
) -> list[ColumnElement[bool]]:
    """The condition that excludes projects that are being deleted, if the table could have any.

    Args:
        rows: the subquery with the table's columns; by default the table itself.
    """
    if table.name not in _TESTED:
        return []
    deleted = select(_DELETED.c.id).where(
        _DELETED.c.account_id == account_id, _DELETED.c.deleted_at.is_not(None)
    )
    excluded = deleted
    if table is Asset.__table__:
        excluded = select(_OF_DELETED.c.id).where(
            _OF_DELETED.c.account_id == account_id, _OF_DELETED.c.project_id.in_(deleted)
        )
    tested = (table if rows is None else rows).c[_TESTED[table.name]]
    return [_Not(and_(deleted.exists(), tested.in_(excluded)))]


class _Not(FunctionElement[bool]):
    """The negation of a rare condition: PostgreSQL's planner would estimate half of the rows for
    NOT and OR."""

    inherit_cache = True
    type = NullType()  # type: ignore[assignment]  # SQLite would compare a Boolean with 1


@compiles(_Not)
def _compile_negation(element: _Not, compiler: SQLCompiler, **options: Any) -> str:
    return f"NOT ({compiler.process(element.clauses, **options)})"


@compiles(_Not, "postgresql")
def _compile_inequality(element: _Not, compiler: SQLCompiler, **options: Any) -> str:
    return f"CASE WHEN {compiler.process(element.clauses, **options)} THEN 1 ELSE 0 END <> 1"
