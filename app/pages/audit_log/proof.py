"""The newest checkpoint of the audit log, and the number of entries that are not sealed yet."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam

from app.audit.log.checkpoints import list_checkpoints
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import AuditEntry

MOST_COUNTED: Final = 1_000  # entries that are not sealed yet

_WAITING: Final = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.id)
    .where(AuditEntry.number.is_(None))
    .limit(bindparam("most"))
)


class Proof(NamedTuple):
    """The newest checkpoint, None before the first, and the number of entries that wait for the
    next one, at most ``MOST_COUNTED``."""

    checkpoint: dict[str, Any] | None
    waiting: int


def proof_of(account_id: str) -> Proof:
    newest, _ = list_checkpoints(account_id, 1, 1)
    waiting = _WAITING.tuples(account_id=account_id, most=MOST_COUNTED)
    return Proof(newest[0] if newest else None, len(waiting))
