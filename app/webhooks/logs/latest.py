"""The log of a webhook for people: the newest entries, then older ones."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.db.queries import CompiledQuery, engine
from app.lists.latest import latest_rows
from app.webhooks.logs.filters import LOG, LogStatementFilters
from app.webhooks.logs.listing import LogQuery, page_statement, parameters_of
from app.webhooks.logs.record import row_record

_TESTED: Final = ("status", "event_type")


class LatestEntries(NamedTuple):
    """The records of a page; the rest as in ``app.lists.latest.LatestRows``."""

    records: list[dict[str, Any]]
    before: str | None
    is_cut: bool


def list_latest(account_id: str, webhook_id: str, query: LogQuery) -> LatestEntries:
    """The newest entries that a query leaves, of those older than ``before`` if that is given. Its
    ``page`` does not matter."""
    values = parameters_of(account_id, webhook_id, query)
    found = latest_rows(LOG, values, query.per_page, _statement, tested=_TESTED)
    return LatestEntries(list(map(row_record, found.rows)), found.before, found.is_cut)


def _statement(filters: LogStatementFilters) -> CompiledQuery:
    return page_statement(engine().dialect.name, filters, backwards=False)
