"""The list of an account's entries, newest first, as the text that was written.

Unreadable entries are left out, but counted in ``total``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, bindparam, case, func, select, union_all

from app.audit.log.bodies import BODY, read_body
from app.audit.log.filters import (
    INDEXED,
    LOG,
    EntryQuery,
    entry_parameters,
    filtered_entries,
)
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import page_of
from app.lists.log_counts import log_total
from app.lists.logs import latest_rows
from app.lists.pages import newest_first, page_rows
from app.models import AuditEntry
from app.values.clock import parse_time
from app.values.strict_json import Fragment

_KEY = AuditEntry.id.expression
_LOG = columns_of(AuditEntry)
_SEALED = _LOG.where(AuditEntry.number.is_not(None))
_NEWEST = _SEALED.add_columns(func.max(AuditEntry.number)).scalar_subquery()
_OLDEST = _SEALED.add_columns(func.min(AuditEntry.number)).scalar_subquery()
_WAITING = _LOG.where(AuditEntry.number.is_(None)).add_columns(func.count()).scalar_subquery()
_NUMBERS = CompiledQuery(
    select(_OLDEST.label("oldest"), _NEWEST.label("newest"), _WAITING.label("waiting"))
)


class LatestEntries(NamedTuple):
    """The entries of a page; the rest as in ``app.lists.logs.LatestRows``."""

    entries: list[dict[str, Any]]
    before: str | None
    is_cut: bool


def list_entries(account_id: str, query: EntryQuery) -> tuple[list[Fragment], int]:
    """Return the entries of one page, and the total of all pages."""
    rows, total = _read_entry_rows(query, entry_parameters(account_id, query))
    return [Fragment(body) for _, body in rows if read_body(body) is not None], total


def _read_entry_rows(
    query: EntryQuery, values: dict[str, Any]
) -> tuple[Iterable[tuple[Any, ...]], int]:
    filters = frozenset(values)
    if filters == {"account_id"}:
        skipped = (query.page - 1) * query.per_page
        rows = _PAGE_OF_ALL.tuples(**values, size=query.per_page, skipped=skipped)
        return rows, _total_entries(values)
    total = log_total(LOG, values)
    page = page_rows(
        query.page,
        query.per_page,
        total,
        lambda span: _entries_page_query(filters, backwards=span.backwards),
        values,
    )
    return page, total


def list_latest(account_id: str, query: EntryQuery, before: str | None = None) -> LatestEntries:
    """Return the newest entries that match a query, whatever its page, for people.

    Args:
        before: the id of an entry; only older ones are returned.
    """
    values = entry_parameters(account_id, query, before)
    tested = [name for name in INDEXED if name in values][1:]
    page = latest_rows(LOG, values, query.per_page, _entries_page_query, tested=tested)
    entries = [entry for _, body in page.rows if (entry := read_body(body)) is not None]
    return LatestEntries(entries, page.before, page.is_cut)


def _total_entries(values: dict[str, Any]) -> int:
    """Return the number of all entries. The numbers of sealed ones are consecutive, and the oldest
    are deleted first, so that they need not be counted."""
    oldest, newest, waiting = _NUMBERS.tuples(**values)[0]
    return int(waiting if newest is None else newest - oldest + 1 + waiting)


@cache
def _entries_page_query(filters: frozenset[str], *, backwards: bool = False) -> CompiledQuery:
    rows = columns_of(AuditEntry, AuditEntry.id).add_columns(BODY)
    return newest_first(filtered_entries(_KEY, filters), rows, (_KEY,), backwards=backwards)


def _page_of_all() -> CompiledQuery:
    """Read a page without filters: waiting entries, then sealed ones by number. So the sealed
    entries before the page are not read."""
    size, skipped = (bindparam(name, type_=BigInteger) for name in ("size", "skipped"))
    beyond = skipped - _WAITING
    first = _NEWEST - case((beyond > 0, beyond), else_=0)
    log, number = columns_of(AuditEntry, AuditEntry.id, AuditEntry.number), AuditEntry.number
    log = log.add_columns(BODY)
    parts = (
        page_of(log.where(number.is_(None)).order_by(_KEY.desc())),
        log.where(number <= first).order_by(number.desc()).limit(size),
    )
    union = union_all(*(select(part.subquery()) for part in parts)).subquery().c
    latest = (union.number.desc().nulls_first(), union.id.desc())
    return CompiledQuery(select(union.id, union.body).order_by(*latest).limit(size))


_PAGE_OF_ALL = _page_of_all()


def last_done_at(account_id: str, action: str) -> datetime | None:
    """The last time of an action; None if no entry has it."""
    entries = list_latest(account_id, EntryQuery(per_page=1, action=action)).entries
    return parse_time(entries[0]["at"]) if entries else None
