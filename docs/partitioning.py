"""Which keys stand in the way of partitions by month and of tables distributed by account.

Both are checked against the models, so that ``docs/measured/partitioning.md`` follows every change:

* PostgreSQL requires each primary key and unique constraint of a partitioned table to include the
  column it is partitioned by (https://www.postgresql.org/docs/current/ddl-partitioning.html). So
  does a foreign key that refers to one.
* Citus requires the same of the column that a table is distributed by, and lets foreign keys
  between distributed tables only include it on both sides. A table without the column can be a
  reference table, a copy of which is on every node; it cannot refer to a distributed table
  (https://docs.citusdata.com/en/stable/develop/reference_ddl.html).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import ForeignKeyConstraint, PrimaryKeyConstraint, Table, UniqueConstraint

import app.models
from app.db.column_types import Base

assert app.models
# What grows without end, and the column by which it would be partitioned. Identifiers sort by time
# of creation (app/values/ids.py), so that a month is a range of them.
BY_MONTH: Final = {
    "events": "id",
    "deliveries": "id",
    "delivery_logs": "id",
    "request_counts": "day",
}
ACCOUNT: Final = "account_id"
_ACCOUNTS: Final = "accounts"  # whose own id is the account


def month_obstacles(name: str) -> Iterator[str]:
    """What must change before a table can be partitioned by its time."""
    table, column = Base.metadata.tables[name], BY_MONTH[name]
    yield from _keys_without(table, column)
    for other in Base.metadata.sorted_tables:
        for key in _references(other, table):
            if column not in {part.column.name for part in key.elements}:
                yield f"{_named(other, key)} refers to it without `{column}`"


def account_obstacles(name: str) -> Iterator[str]:
    """What must change before a table can be distributed by account."""
    table = Base.metadata.tables[name]
    column = account_column(table)
    if column is None:
        for other in map(_target, _foreign_keys(table)):
            if account_column(other) is not None:
                yield f"it refers to `{other.name}` and has no `{ACCOUNT}`"
        return
    yield from _keys_without(table, column)
    for key in _foreign_keys(table):
        target = _target(key)
        wanted = account_column(target)
        pairs = {(part.parent.name, part.column.name) for part in key.elements}
        if wanted is not None and (column, wanted) not in pairs:
            yield f"{_named(table, key)} refers to `{target.name}` without `{column}`"


def account_column(table: Table) -> str | None:
    """The column by which a table can be distributed, if there is one."""
    if table.name == _ACCOUNTS:
        return "id"
    return ACCOUNT if ACCOUNT in table.c else None


def _keys_without(table: Table, column: str) -> Iterator[str]:
    """The primary key and unique constraints and indexes that do not include the column."""
    keys = [
        [part.name for part in key.columns]
        for key in table.constraints
        if isinstance(key, PrimaryKeyConstraint | UniqueConstraint)
    ]
    keys += [[part.name for part in index.columns] for index in table.indexes if index.unique]
    for names in sorted(keys):
        if column not in names:
            yield f"the unique key {_listed(names)} lacks `{column}`"


def _references(table: Table, target: Table) -> list[ForeignKeyConstraint]:
    return [key for key in _foreign_keys(table) if _target(key) is target]


def _foreign_keys(table: Table) -> list[ForeignKeyConstraint]:
    return sorted(table.foreign_key_constraints, key=lambda key: key.column_keys)


def _target(key: ForeignKeyConstraint) -> Table:
    return key.referred_table


def _named(table: Table, key: ForeignKeyConstraint) -> str:
    return f"`{table.name}` {_listed(key.column_keys)}"


def _listed(names: list[str]) -> str:
    return "(" + ", ".join(f"`{name}`" for name in names) + ")"
