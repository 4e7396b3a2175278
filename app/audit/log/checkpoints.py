"""The checkpoints of an account, as they are listed and exported."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, bindparam, func

from app.audit.proof.checkpoint import Checkpoint
from app.auth.tenant import columns_of, rows_of
from app.db.column_types import api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery, reading_as_stored
from app.db.search_index import page_of
from app.models import AuditCheckpoint
from app.values.clock import parse_time

COLUMNS: Final = Checkpoint._fields
_LISTED: Final = tuple(name for name in COLUMNS if name != "entry_hashes")
_ORDER: Final = AuditCheckpoint.number

_TOTAL = CompiledQuery(columns_of(AuditCheckpoint).add_columns(func.count().label("total")))
_PAGE = CompiledQuery(
    page_of(
        columns_of(AuditCheckpoint, *(getattr(AuditCheckpoint, name) for name in _LISTED)).order_by(
            _ORDER.desc()
        )
    )
)
_OLDEST = (
    columns_of(AuditCheckpoint, *(getattr(AuditCheckpoint, name) for name in COLUMNS))
    .order_by(_ORDER)
    .limit(1)
)
_FIRST = CompiledQuery(_OLDEST)
_NEXT = CompiledQuery(_OLDEST.where(AuditCheckpoint.number > bindparam("after")))


def list_checkpoints(account_id: str, page: int, per_page: int) -> tuple[list[dict[str, Any]], int]:
    """The checkpoints of one page, the newest first, and how many there are on all pages. Those
    that somebody has made unreadable are left out; verification names them."""
    values = {"account_id": account_id, "size": per_page, "skipped": (page - 1) * per_page}
    with reading_as_stored():
        found = [Checkpoint(**row._asdict()) for row in _PAGE.all(**values)]
    total = int(_TOTAL.scalar(account_id=account_id))
    return [record_of(each) for each in found if _is_readable(each)], total


def next_checkpoint(account_id: str, after: int | None) -> Checkpoint | None:
    """The checkpoint that follows the one with this number, with the hashes of its entries.

    Args:
        after: None: the first one, whatever its number, which somebody may have changed.
    """
    if after is None:
        row = _FIRST.first(account_id=account_id)
    else:
        row = _NEXT.first(account_id=account_id, after=after)
    return None if row is None else Checkpoint(**row._asdict())


def checkpoints_in_transaction(account_id: str) -> Select[Any]:
    """A statement for the checkpoints of an account that ``fetch`` runs."""
    columns = [api_column(getattr(AuditCheckpoint, name)) for name in COLUMNS]
    return rows_of(account_id, AuditCheckpoint).with_only_columns(*columns)


def fetch(statement: Select[Any]) -> list[Checkpoint]:
    """The checkpoints that a statement finds, in the open transaction."""
    with reading_as_stored(db.session.connection()):
        return [Checkpoint(*row) for row in db.session.execute(statement)]


def record_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint as it is published: with the number of its entries instead of their hashes."""
    record = checkpoint._asdict()
    del record["entry_hashes"]
    return record | {"entries": checkpoint.last - checkpoint.first + 1}


def _is_readable(checkpoint: Checkpoint) -> bool:
    try:
        parse_time(checkpoint.sealed_at)
    except (TypeError, ValueError):  # PostgreSQL has times that Python has not
        return False
    return checkpoint.is_valid() and checkpoint.first <= checkpoint.last
