"""All rows that the filters of a list leave, oldest first, for files that have all of them.

Each batch is a query of its own, which begins after the last row of the one before. So nothing is
held between two of them: no transaction, no connection, and on SQLite no moment that its log would
have to be kept for. A row that is there all the time is read once, whatever else is written
meanwhile; one that is new may be missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import and_, bindparam, literal_column, tuple_, type_coerce
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import NullType

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.db.search_index import fence, is_among_ids, page_of
from app.lists.query import ListQuery, SearchedTable, StatementFilters, filters_of, parameters
from app.lists.statements import equal_to, exact_conditions, is_within_projects
from app.policy.files import EXPORT_KEYS, EXPORT_ROWS, EXPORT_ROWS_BYTES
from app.values.batching import batched_by_bytes
from app.values.strict_json import dumps

T = TypeVar("T")

_AS_STORED: Final = NullType()  # of a moment: one that was written with SQL can be more precise


class Scan(Generic[T]):
    """Reads the rows. An error changes nothing: the same batch can be read again.

    Args:
        owner_id: the value of the table's ``owner``.
        shown: the columns that are read.
        size: the column that says how many bytes a row has; None: few.
        make: what becomes of a row.
    """

    def __init__(
        self,
        table: SearchedTable,
        account_id: str,
        owner_id: str,
        query: ListQuery,
        *,
        shown: tuple[InstrumentedAttribute[Any], ...],
        size: InstrumentedAttribute[Any] | None,
        make: Callable[..., T],
    ) -> None:
        self._table, self._shown, self._size, self._make = table, shown, size, make
        self._filters = filters_of(table, query)
        self._account_id = account_id
        self._values = parameters(table, account_id, owner_id, query, self._filters.dialect)
        self._after: tuple[Any, str] | None = None
        self._found: deque[list[str]] = deque()  # ids, so many that their rows can be read at once

    def read(self) -> list[T] | None:
        """The next batch, which can be empty; None at the end."""
        if not self._found and not self._find():
            return None
        if not self._found:
            return []
        dialect, ids = self._filters.dialect, self._found[0]
        values = {
            "account_id": self._account_id,
            "ids": ids if dialect == "postgresql" else dumps(ids).decode(),
        }
        rows = _rows(self._table, self._shown, dialect).tuples(**values)
        self._found.popleft()
        return [self._make(*row) for row in rows]

    def _find(self) -> bool:
        """Look through the next rows for those that the filters leave. False at the end."""
        is_first = self._after is None
        keys = _keys(self._table, self._filters, self._size, is_first)
        after = dict(zip(("after_time", "after_id"), self._after or (), strict=False))
        rows = keys.tuples(**self._values, **after, size=EXPORT_KEYS, skipped=0)
        if rows:
            self._after = rows[-1][:2]
            found = ((row[1], row[2]) for row in rows if row[3])
            self._found.extend(id_batches(found, EXPORT_ROWS_BYTES, EXPORT_ROWS))
        return bool(rows)


def id_batches(found: Iterable[tuple[str, int]], most_bytes: int, most: int) -> Iterator[list[str]]:
    """Yield ids in lists whose rows fit into memory together.

    Args:
        found: each id, with the bytes of its row.
    """
    for some in batched_by_bytes(found, itemgetter(1), most_bytes, most):
        yield [row_id for row_id, _ in some]


@cache
def _keys(
    table: SearchedTable,
    filters: StatementFilters,
    size: InstrumentedAttribute[Any] | None,
    is_first: bool,
) -> CompiledQuery:
    """The next rows in order of creation: when, id, size, whether the filters leave the row.

    What no index has in this order is a column rather than a condition. So a query looks at
    ``size`` rows and no more, however few of them match.
    """
    columns = table.table.c
    created_at = type_coerce(columns.created_at, _AS_STORED)
    bytes_of = literal_column("0") if size is None else size.expression
    shown = [created_at.label("created_at"), columns.id, bytes_of.label("bytes")]
    tests = exact_conditions(table, filters._replace(ids=False, within=False))
    matches = and_(*tests) if tests else literal_column("1")
    keys = columns_of(table.model).add_columns(*shown, matches.label("matches"))
    keys = keys.where(*equal_to(table, columns, filters))
    if filters.ids:
        keys = keys.where(is_among_ids(columns.id, filters.dialect))
    if filters.within:
        keys = keys.where(is_within_projects(table, filters.dialect))
    if not is_first:
        after = tuple_(bindparam("after_time", type_=_AS_STORED), bindparam("after_id"))
        keys = keys.where(tuple_(created_at, columns.id) > after)
    return CompiledQuery(page_of(keys.order_by(columns.created_at, columns.id)))


@cache
def _rows(
    table: SearchedTable, shown: tuple[InstrumentedAttribute[Any], ...], dialect: str
) -> CompiledQuery:
    """The rows with some ids, found by these alone: with the account beside them, SQLite would look
    through all that the account has."""
    hidden = {name: getattr(table.model, name) for name in ("account_id", "created_at", "id")}
    read = hidden | {column.key: column for column in shown}
    condition = is_among_ids(table.table.c.id, dialect)
    found = fence([api_column(column) for column in read.values()], condition)
    rows = columns_among(found, *(column.key for column in shown))
    return CompiledQuery(rows.order_by(found.c.created_at, found.c.id))
