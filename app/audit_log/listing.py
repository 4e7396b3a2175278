"""The list of an account's entries, the newest first. A record is the text that was written."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import func, select

from app.audit_log.filters import (
    INDEXED,
    LOG,
    EntryQuery,
    EntryStatementFilters,
    filtered,
    parameters,
)
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, engine
from app.listing.latest import latest_rows
from app.listing.log_counts import count
from app.listing.statements import newest_first, page_rows
from app.models import AuditEntry
from app.values.strict_json import Fragment, loads

_LOG = columns_of(AuditEntry)
_SEALED = _LOG.where(AuditEntry.number.is_not(None))
_NEWEST = _SEALED.add_columns(func.max(AuditEntry.number)).scalar_subquery()
_OLDEST = _SEALED.add_columns(func.min(AuditEntry.number)).scalar_subquery()
_WAITING = _LOG.where(AuditEntry.number.is_(None)).add_columns(func.count()).scalar_subquery()
# Sealed entries have consecutive numbers, and the oldest are deleted first: nothing is counted.
_TOTAL = func.coalesce(_NEWEST - _OLDEST + 1, 0) + _WAITING
_ALL = CompiledQuery(select(_TOTAL.label("total")))


class LatestEntries(NamedTuple):
    """The records of a page; the rest as in ``app.listing.latest.LatestRows``."""

    records: list[dict[str, Any]]
    before: str | None
    is_cut: bool


def list_entries(account_id: str, query: EntryQuery) -> tuple[list[Fragment], int]:
    """The entries of one page, and how many there are on all pages."""
    values = parameters(account_id, query)
    filters = EntryStatementFilters.of(values)
    total = count(LOG, values) if any(filters) else int(_ALL.scalar(**values))
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda span: _page(engine().dialect.name, filters, backwards=span.backwards),
        values,
    )
    return [Fragment(body) for _, body in rows], total


def list_latest(account_id: str, query: EntryQuery, before: str | None = None) -> LatestEntries:
    """The newest entries that match a query, whatever its page, for people.

    Args:
        before: the id of an entry; only older ones are returned.
    """
    values = parameters(account_id, query, before)
    tested = [name for name in INDEXED if name in values][1:]
    found = latest_rows(LOG, values, query.per_page, _latest, tested=tested)
    records = [loads(body.encode()) for _, body in found.rows]
    return LatestEntries(records, found.before, found.is_cut)


def _latest(filters: EntryStatementFilters) -> CompiledQuery:
    return _page(engine().dialect.name, filters, backwards=False)


@cache
def _page(dialect: str, filters: EntryStatementFilters, *, backwards: bool) -> CompiledQuery:
    key = AuditEntry.id.expression
    rows = columns_of(AuditEntry, AuditEntry.id, AuditEntry.body)
    return newest_first(filtered(key, filters), rows, (key,), dialect, backwards=backwards)
