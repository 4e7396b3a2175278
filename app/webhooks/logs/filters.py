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


class LogStatementFilters(NamedTuple):
    """The kinds of filters in a statement. Their values are parameters."""

    status: bool = False
    event_type: bool = False
    since: bool = False
    until: bool = False
    before: bool = False
    lowest_id: bool = False

    @classmethod
    def of(cls, values: dict[str, Any]) -> LogStatementFilters:
        """Return the filters for which there are parameters."""
        return cls(*(name in values for name in cls._fields))


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


def filtered_entries(column: ColumnElement[Any], filters: LogStatementFilters) -> Select[Any]:
    """Select ``column`` of the webhook's entries that match the filters.

    The index has all filtered columns but not the account, so a subquery checks that the webhook is
    the account's. Ids begin with the time at which an entry was written, so they limit the part of
    the index to read. The exact time, when the attempt ended, is also in the index.
    """
    webhook = columns_of(Webhook, Webhook.id).where(Webhook.id == bindparam("webhook_id"))
    conditions = [DeliveryLog.webhook_id == webhook.scalar_subquery()]
    if filters.status:
        conditions.append(DeliveryLog.status == bindparam("status"))
    if filters.event_type:
        conditions.append(DeliveryLog.event_type == bindparam("event_type"))
    if filters.since:
        if not filters.lowest_id:  # SQLite might use this limit instead of the nearer one
            conditions.append(DeliveryLog.id >= bindparam("since_id"))
        conditions.append(DeliveryLog.delivered_at >= bindparam("since", type_=Timestamp()))
    if filters.until:
        if not filters.before:  # as above
            conditions.append(DeliveryLog.id <= bindparam("until_id"))
        conditions.append(DeliveryLog.delivered_at <= bindparam("until", type_=Timestamp()))
    if filters.lowest_id:
        conditions.append(DeliveryLog.id >= bindparam("lowest_id"))
    if filters.before:
        conditions.append(DeliveryLog.id < bindparam("before"))
    return select(column).select_from(DeliveryLog).where(*conditions)


LOG: Final = Log(
    "log",
    DeliveryLog.id.expression,
    ("account_id", "webhook_id"),
    LogStatementFilters,
    filtered_entries,
)
