"""The checkpoints of an account, for lists and exports."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, bindparam, func

from app.audit.proof.checkpoint import Checkpoint
from app.auth.tenant import columns_of, rows_of
from app.db.column_types import api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.search_index import page_of
from app.models import AuditCheckpoint

_ALL: Final = tuple(getattr(AuditCheckpoint, name) for name in Checkpoint._fields)
_LISTED: Final = tuple(column for column in _ALL if column.key != "entry_hashes")
_NUMBER: Final = AuditCheckpoint.number
_TOTAL = CompiledQuery(columns_of(AuditCheckpoint).add_columns(func.count().label("total")))
_PAGE = CompiledQuery(page_of(columns_of(AuditCheckpoint, *_LISTED).order_by(_NUMBER.desc())))
_OLDEST = columns_of(AuditCheckpoint, *_ALL).order_by(_NUMBER).limit(1)
_FIRST = CompiledQuery(_OLDEST)
_NEXT = CompiledQuery(_OLDEST.where(bindparam("after") < _NUMBER))


def list_checkpoints(account_id: str, page: int, per_page: int) -> tuple[list[dict[str, Any]], int]:
    """Return the checkpoints of one page, newest first, and the total of all pages.

    Unreadable ones are left out.
    """
    values = {"account_id": account_id, "size": per_page, "skipped": (page - 1) * per_page}
    checkpoints = [Checkpoint(**row._asdict()) for row in _PAGE.all(**values)]
    total = int(_TOTAL.scalar(account_id=account_id))
    return [record_of(checkpoint) for checkpoint in checkpoints if checkpoint.is_valid()], total


def next_checkpoint(account_id: str, after: int | None) -> Checkpoint | None:
    """Return the checkpoint that follows the one with this number, with the hashes of its entries.

    Args:
        after: None: the first one, whatever its number.
    """
    if after is None:
        row = _FIRST.first(account_id=account_id)
    else:
        row = _NEXT.first(account_id=account_id, after=after)
    return None if row is None else Checkpoint(**row._asdict())


def checkpoints_in_transaction(account_id: str) -> Select[Any]:
    """The statement of an account's checkpoints, for ``fetch_checkpoints``."""
    return rows_of(account_id, AuditCheckpoint).with_only_columns(*map(api_column, _ALL))


def fetch_checkpoints(statement: Select[Any]) -> list[Checkpoint]:
    """Read the checkpoints of a statement in the open transaction."""
    return [Checkpoint(*row) for row in db.session.execute(statement)]


def record_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """The public record of a checkpoint, with the number of entries instead of their hashes."""
    record = checkpoint._asdict()
    del record["entry_hashes"]
    return record | {"entries": checkpoint.last - checkpoint.first + 1}
