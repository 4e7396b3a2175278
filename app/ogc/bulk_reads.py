"""Entries of the audit log about features that are read in bulk."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import bindparam

from app.audit.entries import write_read_entry
from app.audit.origin import current_origin
from app.audit.targets import Target
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import AuditEntry
from app.ogc.collections import Collection
from app.ogc.parameters import Query
from app.policy.audit import LARGE_READ
from app.policy.ogc import LIMIT_DEFAULT
from app.values import clock
from app.values.ids import first_id

BULK_READ_EVERY: Final = timedelta(hours=1)
_LAST_HOUR: Final = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.id)
    .where(
        AuditEntry.actor_id == bindparam("actor_id"),
        AuditEntry.id >= bindparam("since_id"),
        AuditEntry.action == bindparam("action"),
    )
    .limit(1)
)


def is_bulk_read(principal: Principal, collection: Collection, query: Query) -> bool:
    """True if a page gets an entry: one with a limit above ``LARGE_READ``, or the first in
    an hour that continues another page."""
    if (query.limit or LIMIT_DEFAULT) > LARGE_READ:
        return True
    return query.after is not None and not _is_known(principal, collection)


def write_bulk_read_entry(principal: Principal, collection: Collection) -> None:
    """Write the entry of reading a collection."""
    write_read_entry(
        _bulk_read_action(collection),
        Target("account", principal.account_id, principal.account_name),
        account_id=principal.account_id,
    )


def _bulk_read_action(collection: Collection) -> str:
    return f"{collection.id.removesuffix('s')}.bulk_read"


def _is_known(principal: Principal, collection: Collection) -> bool:
    """True if the log has an entry of the last hour about this reader and collection."""
    entry = _LAST_HOUR.first(
        account_id=principal.account_id,
        actor_id=current_origin(principal).actor.id,
        action=_bulk_read_action(collection),
        since_id=first_id("audit_entry", clock.now() - BULK_READ_EVERY),
    )
    return entry is not None
