"""The filters of statements that count or list a webhook's log."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, select

from app.auth.tenant import columns_of
from app.db.column_types import Timestamp
from app.lists.logs import Log, shifted_time
from app.models import DeliveryLog, Webhook
from app.policy.deliveries import RUN_SECONDS
from app.values import clock
from app.values.ids import first_id

# The longest time between the end of an attempt and the time in the id of its entry: the job that
# made the attempt writes the entry in the same run, and clocks of hosts differ by less than an
# hour.
_LAG: Final = timedelta(seconds=RUN_SECONDS, hours=1)


class LogQuery(NamedTuple):
    """The filters and the page of a list."""

    page: int = 1
    per_page: int = 20
    status: str | None = None
    event_type: str | None = None
    since: datetime | None = None  # the end of the attempt; both limits are included
    until: datetime | None = None
    before: str | None = None  # for ``list_latest``: only entries older than the one with this id


def filter_parameters(account_id: str, webhook_id: str, query: LogQuery) -> dict[str, Any]:
    """Return the parameters of ``filtered_entries``."""
    values: dict[str, Any] = {"account_id": account_id, "webhook_id": webhook_id}
    filters = {name: getattr(query, name) for name in ("status", "event_type", "before")}
    values |= {name: value for name, value in filters.items() if value}
    for name, moment, lag in (("since", query.since, -_LAG), ("until", query.until, _LAG)):
        if moment:
            limit_id = first_id("log", shifted_time(moment, lag))
            values |= {name: clock.to_millisecond(moment), f"{name}_id": limit_id}
    return values


def filtered_entries(column: ColumnElement[Any], filters: frozenset[str]) -> Select[Any]:
    """Select ``column`` of the webhook's entries that match the filters.

    The index has all filtered columns but not the account, so a subquery checks that the webhook is
    the account's. Ids begin with the time at which an entry was written, so they limit the part of
    the index to read. The exact time, when the attempt ended, is also in the index.

    Args:
        filters: the names of the parameters.
    """
    webhook = columns_of(Webhook, Webhook.id).where(Webhook.id == bindparam("webhook_id"))
    conditions = [DeliveryLog.webhook_id == webhook.scalar_subquery()]
    if "status" in filters:
        conditions.append(DeliveryLog.status == bindparam("status"))
    if "event_type" in filters:
        conditions.append(DeliveryLog.event_type == bindparam("event_type"))
    if "since" in filters:
        if "lowest_id" not in filters:  # SQLite might use this limit instead of the nearer one
            conditions.append(DeliveryLog.id >= bindparam("since_id"))
        conditions.append(DeliveryLog.delivered_at >= bindparam("since", type_=Timestamp()))
    if "until" in filters:
        if "before" not in filters:  # as above
            conditions.append(DeliveryLog.id <= bindparam("until_id"))
        conditions.append(DeliveryLog.delivered_at <= bindparam("until", type_=Timestamp()))
    if "lowest_id" in filters:
        conditions.append(DeliveryLog.id >= bindparam("lowest_id"))
    if "before" in filters:
        conditions.append(DeliveryLog.id < bindparam("before"))
    return select(column).select_from(DeliveryLog).where(*conditions)


LOG: Final = Log("log", DeliveryLog.id.expression, ("account_id", "webhook_id"), filtered_entries)
