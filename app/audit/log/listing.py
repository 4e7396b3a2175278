"""The list of an account's entries, the newest first. A record is the text that was written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, bindparam, case, func, select, union_all

from app.audit.log.bodies import looks_whole, read_body
from app.audit.log.filters import (
    INDEXED,
    LOG,
    EntryQuery,
    EntryStatementFilters,
    filtered,
    parameters,
)
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, engine, reading_as_stored
from app.db.search_index import page_of
from app.lists.latest import latest_rows
from app.lists.log_counts import count
from app.lists.statements import newest_first, page_rows
from app.models import AuditCheckpoint, AuditEntry
from app.values.strict_json import Fragment

_ROW = (AuditEntry.id, AuditEntry.body)
_KEY = AuditEntry.id.expression
_LOG = columns_of(AuditEntry)
_SEALED = _LOG.where(AuditEntry.number.is_not(None))
_NEWEST = _SEALED.add_columns(func.max(AuditEntry.number)).scalar_subquery()
_OLDEST = _SEALED.add_columns(func.min(AuditEntry.number)).scalar_subquery()
_WAITING = _LOG.where(AuditEntry.number.is_(None)).add_columns(func.count()).scalar_subquery()
_CHECKPOINTS = columns_of(AuditCheckpoint, AuditCheckpoint.last)
_LAST = _CHECKPOINTS.order_by(AuditCheckpoint.number.desc()).limit(1).scalar_subquery()
_NUMBERS = {"oldest": _OLDEST, "newest": _NEWEST, "last": _LAST, "waiting": _WAITING}
_ALL = CompiledQuery(select(*(number.label(name) for name, number in _NUMBERS.items())))


class LatestEntries(NamedTuple):
    """The ids of a page, each with its entry, or None if that cannot be read; the rest as in
    ``app.lists.latest.LatestRows``."""

    rows: list[tuple[str, dict[str, Any] | None]]
    before: str | None
    is_cut: bool

    @property
    def records(self) -> list[dict[str, Any]]:
        """The entries that can be read."""
        return [entry for _, entry in self.rows if entry is not None]


def list_entries(account_id: str, query: EntryQuery) -> tuple[list[Fragment], int]:
    """The entries of one page, and how many there are on all pages. What somebody changed into no
    entry is left out."""
    values = parameters(account_id, query)
    with reading_as_stored():
        rows, total = _rows(query, values)
        return [Fragment(body) for _, body in rows if looks_whole(body)], total


def _rows(query: EntryQuery, values: dict[str, Any]) -> tuple[Iterable[tuple[Any, ...]], int]:
    filters = EntryStatementFilters.of(values)
    if not any(filters) and (total := _total(values)) is not None:
        skipped = (query.page - 1) * query.per_page
        rows = _PAGE_OF_ALL.tuples(**values, size=query.per_page, skipped=skipped)
        return rows, total
    total = count(LOG, values)
    found = page_rows(
        query.page,
        query.per_page,
        total,
        lambda span: _page(engine().dialect.name, filters, backwards=span.backwards),
        values,
    )
    return found, total


def list_latest(account_id: str, query: EntryQuery, before: str | None = None) -> LatestEntries:
    """The newest entries that match a query, whatever its page, for people.

    Args:
        before: the id of an entry; only older ones are returned.
    """
    values = parameters(account_id, query, before)
    tested = [name for name in INDEXED if name in values][1:]
    with reading_as_stored():
        found = latest_rows(LOG, values, query.per_page, _latest, tested=tested)
    rows = [(entry_id, read_body(body)) for entry_id, body in found.rows]
    return LatestEntries(rows, found.before, found.is_cut)


def _total(values: dict[str, Any]) -> int | None:
    """The number of all entries, without counting the sealed ones: their numbers are consecutive,
    and the oldest are deleted first. None if somebody has changed numbers."""
    oldest, newest, last, waiting = _ALL.tuples(**values)[0]
    if newest is None:
        return int(waiting)
    return int(newest - oldest + 1 + waiting) if newest == last and oldest > 0 else None


def _latest(filters: EntryStatementFilters) -> CompiledQuery:
    return _page(engine().dialect.name, filters, backwards=False)


@cache
def _page(dialect: str, filters: EntryStatementFilters, *, backwards: bool) -> CompiledQuery:
    rows = columns_of(AuditEntry, *_ROW)
    return newest_first(filtered(_KEY, filters), rows, (_KEY,), dialect, backwards=backwards)


def _page_of_all() -> CompiledQuery:
    """A page without filters: what waits to be sealed, then what is sealed, by number. So the
    sealed entries before the page are not read, however many they are."""
    size, skipped = (bindparam(name, type_=BigInteger) for name in ("size", "skipped"))
    beyond = skipped - _WAITING
    first = _NEWEST - case((beyond > 0, beyond), else_=0)
    log, number = columns_of(AuditEntry, *_ROW, AuditEntry.number), AuditEntry.number
    parts = (
        page_of(log.where(number.is_(None)).order_by(_KEY.desc())),
        log.where(number <= first).order_by(number.desc()).limit(size),
    )
    found = union_all(*(select(part.subquery()) for part in parts)).subquery().c
    latest = (found.number.desc().nulls_first(), found.id.desc())
    return CompiledQuery(select(found.id, found.body).order_by(*latest).limit(size))


_PAGE_OF_ALL = _page_of_all()
