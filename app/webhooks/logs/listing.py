"""The list of attempts to reach a webhook, the newest first.

They are counted, and found, in an index that has all that the list filters by; only the rows of the
page are read.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from app.auth.tenant import columns_of
from app.db.paging import span
from app.db.queries import CompiledQuery, engine
from app.db.search_index import among, page_of
from app.models import DeliveryLog
from app.webhooks.logs.counting import count
from app.webhooks.logs.filters import Filters, chosen
from app.webhooks.logs.record import COLUMNS, row_record


class LogQuery(NamedTuple):
    """Which attempts, which page."""

    page: int = 1
    per_page: int = 20
    status: str | None = None
    event_type: str | None = None


def list_logs(
    account_id: str, webhook_id: str, query: LogQuery
) -> tuple[list[dict[str, Any]], int]:
    """The entries of one page, and how many there are on all pages."""
    values = {"account_id": account_id, "webhook_id": webhook_id}
    values |= {"status": query.status} if query.status else {}
    values |= {"event_type": query.event_type} if query.event_type else {}
    total = count(values)
    wanted = span(query.page, query.per_page, total)
    if wanted is None:
        return [], total
    filters = Filters(bool(query.status), bool(query.event_type))
    page = _page(engine().dialect.name, filters, wanted.backwards)
    rows = page.tuples(**values, size=wanted.size, skipped=wanted.skipped)
    return list(map(row_record, rows)), total


@cache
def _page(dialect: str, filters: Filters, backwards: bool) -> CompiledQuery:
    key = DeliveryLog.id.expression
    keys = chosen(key, filters).order_by(key.asc() if backwards else key.desc())
    rows = columns_of(DeliveryLog, *COLUMNS).where(among(key, page_of(keys), dialect))
    return CompiledQuery(rows.order_by(key.desc()))
