"""Deleting many rows in batches, each of which is a transaction that others need not wait for long.

On SQLite all other changes wait for it, and an asset with a long name has hundreds of entries in
the index of texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, literal_column, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from app.db.column_types import Base
from app.db.extensions import db
from app.values.batching import batched_by_bytes

BATCH_ROWS: Final = 25
BATCH_BYTES: Final = 4 * 1024 * 1024

_ROWS_ARE_SMALL: Final[ColumnElement[int]] = literal_column("0")


def delete_batches(
    model: type[Base],
    rows: Select[Any],
    size: ColumnElement[int] | InstrumentedAttribute[int] = _ROWS_ARE_SMALL,
    most: int = BATCH_ROWS,
) -> Iterator[None]:
    """Delete rows of a model in steps, a batch in each. The caller commits after each of them.

    Args:
        rows: a SELECT of them.
        size: the bytes of a row.
        most: rows of a batch; more where each is in no index of texts.
    """
    key = model.__mapper__.primary_key
    some = rows.with_only_columns(*key, size.label("bytes")).limit(most)
    while found := db.session.execute(some).all():
        batch = next(batched_by_bytes(found, lambda row: int(row.bytes or 0), BATCH_BYTES))
        keys = [tuple(row[:-1]) for row in batch]
        # By their keys alone: with the account beside them, SQLite would pass over all it has.
        chosen = key[0].in_([k for (k,) in keys]) if len(key) == 1 else tuple_(*key).in_(keys)
        statement = delete(model).where(chosen)
        db.session.execute(statement, execution_options={"synchronize_session": False})
        yield
