"""The filters of all statements that count or list a webhook's log."""

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

# Between the end of an attempt and the time in the id of its entry, at most: an entry is written
# in the run of the job that made the attempt, and clocks of hosts differ by less than an hour.
_LAG: Final = timedelta(seconds=RUN_SECONDS, hours=1)


class LogQuery(NamedTuple):
    """The filters and the page of a list."""

    page: int = 1
    per_page: int = 20
    status: str | None = None
    event_type: str | None = None
    since: datetime | None = None  # of the attempt's end; both ends are included
    until: datetime | None = None
    before: str | None = None  # for ``list_latest``: the id of an entry; only older ones match


class LogStatementFilters(NamedTuple):
    """The filters of a statement, whose values are parameters."""

    status: bool = False
    event_type: bool = False
    since: bool = False
    until: bool = False
    before: bool = False
    lowest_id: bool = False

    @classmethod
    def of(cls, values: dict[str, Any]) -> LogStatementFilters:
        """The filters for which there are parameters."""
        return cls(*(name in values for name in cls._fields))


def parameters(account_id: str, webhook_id: str, query: LogQuery) -> dict[str, Any]:
    """The parameters of ``filtered``."""
    values: dict[str, Any] = {"account_id": account_id, "webhook_id": webhook_id}
    given = {name: getattr(query, name) for name in ("status", "event_type", "before")}
    values |= {name: value for name, value in given.items() if value}
    for name, moment, by in (("since", query.since, -_LAG), ("until", query.until, _LAG)):
        if moment:
            near = first_id("log", shifted_time(moment, by))
            values |= {name: clock.to_millisecond(moment), f"{name}_id": near}
    return values


def filtered(what: ColumnElement[Any], filters: LogStatementFilters) -> Select[Any]:
    """Select ``what`` of the webhook's entries that match the filters.

    The index has all filtered columns but not the account, so the webhook is checked to be the
    account's. Ids begin with the time at which an entry was written: they say which part of the
    index to read, and the time of the attempt's end, which is in the index too, is compared.
    """
    own = columns_of(Webhook, Webhook.id).where(Webhook.id == bindparam("webhook_id"))
    conditions = [DeliveryLog.webhook_id == own.scalar_subquery()]
    if filters.status:
        conditions.append(DeliveryLog.status == bindparam("status"))
    if filters.event_type:
        conditions.append(DeliveryLog.event_type == bindparam("event_type"))
    if filters.since:
        if not filters.lowest_id:  # the nearer end: SQLite might take the other one
            conditions.append(DeliveryLog.id >= bindparam("since_id"))
        conditions.append(DeliveryLog.delivered_at >= bindparam("since", type_=Timestamp()))
    if filters.until:
        if not filters.before:  # the nearer end, as above
            conditions.append(DeliveryLog.id <= bindparam("until_id"))
        conditions.append(DeliveryLog.delivered_at <= bindparam("until", type_=Timestamp()))
    if filters.lowest_id:
        conditions.append(DeliveryLog.id >= bindparam("lowest_id"))
    if filters.before:
        conditions.append(DeliveryLog.id < bindparam("before"))
    return select(what).select_from(DeliveryLog).where(*conditions)


LOG: Final = Log(
    "log", DeliveryLog.id.expression, ("account_id", "webhook_id"), LogStatementFilters, filtered
)
