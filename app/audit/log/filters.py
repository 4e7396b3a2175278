"""Filters of an account's audit log, for statements that count or list entries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam

from app.auth.tenant import columns_of
from app.lists.logs import Log, shifted_time
from app.models import AuditEntry
from app.values.ids import first_id, last_id

_KIND: Final = "audit_entry"

# Each has an index with the entries in order, and the other columns: entries that are filtered by
# several are found by the first, and tested without reading rows.
INDEXED: Final = ("target_id", "actor_id", "action")


class EntryQuery(NamedTuple):
    """The filters and the page of entries; both ends of the time are included."""

    page: int = 1
    per_page: int = 20
    action: str | None = None
    actor_id: str | None = None
    target_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def entry_parameters(
    account_id: str, query: EntryQuery, before: str | None = None
) -> dict[str, Any]:
    """The parameters of ``filtered_entries``.

    Args:
        before: the id of an entry; only older ones match.
    """
    values: dict[str, Any] = {"account_id": account_id}
    values |= {name: value for name in INDEXED if (value := getattr(query, name))}
    values |= {"since_id": first_id(_KIND, shifted_time(query.since))} if query.since else {}
    until_id = last_id(_KIND, shifted_time(query.until)) if query.until else None
    if before:
        return values | {"before": min(before, until_id or before)}
    return values | ({"until_id": until_id} if until_id else {})


def filtered_entries(output: ColumnElement[Any], filters: frozenset[str]) -> Select[Any]:
    """Select ``output`` from the account's entries that match the filters.

    The time of an entry is in its id.

    Args:
        filters: the names of the parameters.
    """
    conditions = list[ColumnElement[bool]]()
    for name in INDEXED:
        if name in filters:
            column = getattr(AuditEntry, name).expression
            # Keeps SQLite from using the index of another column.
            tested = column.concat("") if conditions else column
            conditions.append(tested == bindparam(name))
    if "since_id" in filters and "lowest_id" not in filters:  # SQLite might use the farther bound
        conditions.append(AuditEntry.id >= bindparam("since_id"))
    if "until_id" in filters:
        conditions.append(AuditEntry.id <= bindparam("until_id"))
    if "lowest_id" in filters:
        conditions.append(AuditEntry.id >= bindparam("lowest_id"))
    if "before" in filters:
        conditions.append(AuditEntry.id < bindparam("before"))
    return columns_of(AuditEntry).add_columns(output).where(*conditions)


LOG: Final = Log(_KIND, AuditEntry.id.expression, ("account_id",), filtered_entries)
