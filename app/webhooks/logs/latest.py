"""The log of a webhook for people: the newest entries, then older ones.

Nothing is counted or skipped, so a page is as quick in a log of a million entries as in a short
one. What a filter seldom leaves is looked for among so many entries at a time.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from app.db.queries import CompiledQuery, engine
from app.db.search_index import page_of
from app.models import DeliveryLog
from app.webhooks.logs.filters import LogStatementFilters, filtered
from app.webhooks.logs.listing import LogQuery, page_statement, parameters_of
from app.webhooks.logs.record import row_record

LOOKED_THROUGH: Final = 100_000  # entries, for one page
_ID: Final = DeliveryLog.id.expression


class LatestEntries(NamedTuple):
    """The records of a page. ``before`` is where the next one begins, None at the end of the log.
    ``is_cut`` says that the page may have fewer than there are, as there are too many others
    between them."""

    records: list[dict[str, Any]]
    before: str | None
    is_cut: bool


def list_latest(account_id: str, webhook_id: str, query: LogQuery) -> LatestEntries:
    """The newest entries that a query leaves, of those older than ``before`` if that is given. Its
    ``page`` does not matter."""
    values = parameters_of(account_id, webhook_id, query)
    lowest_id = _lowest_id(values) if query.status or query.event_type else None
    if lowest_id is not None:
        values["lowest_id"] = max(lowest_id, values.get("since_id", lowest_id))
    statement = page_statement(engine().dialect.name, LogStatementFilters.of(values), False)
    rows = statement.tuples(**values, size=query.per_page + 1, skipped=0)
    records = [row_record(row) for row in rows[: query.per_page]]
    if len(rows) > query.per_page:
        return LatestEntries(records, records[-1]["id"], False)
    is_cut = lowest_id is not None and lowest_id == values["lowest_id"]
    return LatestEntries(records, lowest_id if is_cut else None, is_cut)


def _lowest_id(values: dict[str, Any]) -> str | None:
    """The id of the last entry that is looked through; None if there are fewer."""
    others = {name: value for name, value in values.items() if name not in ("status", "event_type")}
    statement = _ids(LogStatementFilters.of(others)._replace(since=False))
    rows = statement.tuples(**others, size=1, skipped=LOOKED_THROUGH)
    return rows[0][0] if rows else None


@cache
def _ids(filters: LogStatementFilters) -> CompiledQuery:
    return CompiledQuery(page_of(filtered(_ID, filters).order_by(_ID.desc())))
