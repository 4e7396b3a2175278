"""Deleting many rows in batches, each of which is a transaction that others need not wait for long.

On SQLite all other changes wait for it, and an asset with a long name has hundreds of entries in
the index of texts. So a batch begins small, and the next ones grow while they are quick.
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

BATCH_ROWS: Final = 25  # of the first batch
_MOST_ROWS: Final = 200
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
    """Delete rows of a model in steps, a batch in each. The caller commits after each of them.

    Args:
        rows: a SELECT of them.
        size: the bytes of a row.
        first: rows of the first batch; more where each is in no index of texts.
        before: called with the keys of a batch; its steps come before that of the batch. It deletes
            what refers to these rows, where that can be much more than they are.
    """
    key = model.__mapper__.primary_key
    some = rows.with_only_columns(*key, size.label("bytes"))
    least = number = first or BATCH_ROWS
    while found := db.session.execute(some.limit(number)).all():
        batch = next(batched_by_bytes(found, lambda row: int(row.bytes or 0), BATCH_BYTES))
        keys = [tuple(row[:-1]) for row in batch]
        if before is not None:
            yield from before(keys)
        began = time.monotonic()
        # By their keys alone: with the account beside them, SQLite would pass over all it has.
        chosen = key[0].in_([k for (k,) in keys]) if len(key) == 1 else tuple_(*key).in_(keys)
        statement = delete(model).where(chosen)
        db.session.execute(statement, execution_options={"synchronize_session": False})
        is_quick = time.monotonic() - began < _BATCH_SECONDS
        number = min(number * 2, max(least, _MOST_ROWS)) if is_quick else max(number // 2, least)
        yield
