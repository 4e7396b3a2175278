"""Listing the log of attempts of a webhook. An index has all filtered columns, so that only the
rows of the page are read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.lists.log_counts import log_total
from app.lists.logs import latest_rows
from app.lists.pages import newest_first, page_rows
from app.lists.scanning import KeyedRows, Reader
from app.models import DeliveryLog, Webhook
from app.webhooks.logs.filters import (
    LOG,
    LogQuery,
    filter_parameters,
    filtered_entries,
)
from app.webhooks.logs.record import COLUMNS, DETAILS, detailed_record, row_record

_WEBHOOKS: Final = KeyedRows(
    columns_of(Webhook, Webhook.id).where(Webhook.deleted_at.is_(None)), Webhook.id
)
_SCANNED: Final = KeyedRows(
    columns_of(DeliveryLog, *COLUMNS, *DETAILS).where(
        DeliveryLog.webhook_id == bindparam("webhook_id")
    ),
    DeliveryLog.id,
)
_TESTED: Final = ("status", "event_type")


class LatestEntries(NamedTuple):
    """The records of a page. The rest is as in ``app.lists.logs.LatestRows``."""

    records: list[dict[str, Any]]
    before: str | None
    is_cut: bool


def list_delivery_logs(
    account_id: str, webhook_id: str, query: LogQuery
) -> tuple[list[dict[str, Any]], int]:
    """Return the entries of a page, the newest first, and the total of all pages."""
    values = filter_parameters(account_id, webhook_id, query)
    total, filters = log_total(LOG, values), frozenset(values)
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda span: _log_page_query(filters, backwards=span.backwards),
        values,
    )
    return list(map(row_record, rows)), total


def list_latest(account_id: str, webhook_id: str, query: LogQuery) -> LatestEntries:
    """Return the newest entries that match a query, whatever its page."""
    values = filter_parameters(account_id, webhook_id, query)
    latest = latest_rows(LOG, values, query.per_page, _log_page_query, tested=_TESTED)
    return LatestEntries(list(map(row_record, latest.rows)), latest.before, latest.is_cut)


def scan_logs(read: Reader, account_id: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the entries of all webhooks in batches, webhook by webhook: as ``read_log`` returns
    them, with ``webhook_id`` and without the event."""
    for webhooks in _WEBHOOKS.batches(read, account_id=account_id):
        for webhook in webhooks:
            for rows in _SCANNED.batches(read, account_id=account_id, webhook_id=webhook.id):
                yield [{"webhook_id": webhook.id, **detailed_record(row, None)} for row in rows]


@cache
def _log_page_query(filters: frozenset[str], *, backwards: bool = False) -> CompiledQuery:
    key = DeliveryLog.id.expression
    rows = columns_of(DeliveryLog, *COLUMNS)
    return newest_first(filtered_entries(key, filters), rows, (key,), backwards=backwards)
