"""Deleting many rows in batches, each a short transaction.

On SQLite all other changes wait for it, and an asset with a long name has hundreds of entries in
the text index. So the first batch is small, and the next ones grow while they are quick.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, literal_column, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from app.db.column_types import Base
from app.db.extensions import db
from app.values.batching import batched_by_bytes

BATCH_ROWS: Final = 25  # in the first batch
MAX_ROWS: Final = 200
_BATCH_SECONDS: Final = 0.01  # after a quicker batch the next one is larger, else smaller
BATCH_BYTES: Final = 4 * 1024 * 1024

_ROWS_ARE_SMALL: Final[ColumnElement[int]] = literal_column("0")


def delete_batches(
    model: type[Base],
    rows: Select[Any],
    size: ColumnElement[int] | InstrumentedAttribute[int] = _ROWS_ARE_SMALL,
    first: int | None = None,
    before: Callable[[Sequence[Any]], Iterator[None]] | None = None,
) -> Iterator[None]:
    """Delete rows of a model, a batch in each step. The caller commits after each step.

    Args:
        rows: selects the rows.
        size: bytes of a row.
        first: number of rows in the first batch; more are fine for rows without a text index.
        before: called with the keys of a batch. Its steps, which come before that of the batch,
            delete what refers to these rows, if that may be much.
    """
    key = model.__mapper__.primary_key
    selected = rows.with_only_columns(*key, size.label("bytes"))
    least = number = first or BATCH_ROWS
    while next_rows := db.session.execute(selected.limit(number)).all():
        batch = next(batched_by_bytes(next_rows, lambda row: int(row.bytes or 0), BATCH_BYTES))
        keys = [tuple(row[:-1]) for row in batch]
        if before is not None:
            yield from before(keys)
        began = time.monotonic()
        # By the keys alone: with the account besides, SQLite would scan all of the account's rows.
        in_batch = key[0].in_([k for (k,) in keys]) if len(key) == 1 else tuple_(*key).in_(keys)
        statement = delete(model).where(in_batch)
        db.session.execute(statement, execution_options={"synchronize_session": False})
        is_quick = time.monotonic() - began < _BATCH_SECONDS
        number = min(number * 2, max(least, MAX_ROWS)) if is_quick else max(number // 2, least)
        yield
