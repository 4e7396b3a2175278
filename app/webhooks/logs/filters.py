"""Which entries of a webhook's log are meant: statements that count and find them begin here."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, select

from app.auth.tenant import columns_of
from app.models import DeliveryLog, Webhook


class Filters(NamedTuple):
    """Which filters a statement has; the values are parameters."""

    status: bool
    event_type: bool


def chosen(what: ColumnElement[Any], filters: Filters) -> Select[Any]:
    """Of the webhook's entries those that the filters leave; ``what`` of them.

    The index has all that is filtered by, and not the account: it is the webhook that must be the
    account's. The parameters are ``account_id`` and ``webhook_id``, and those of the filters.
    """
    own = columns_of(Webhook, Webhook.id).where(Webhook.id == bindparam("webhook_id"))
    conditions = [DeliveryLog.webhook_id == own.scalar_subquery()]
    if filters.status:
        conditions.append(DeliveryLog.status == bindparam("status"))
    if filters.event_type:
        conditions.append(DeliveryLog.event_type == bindparam("event_type"))
    return select(what).select_from(DeliveryLog).where(*conditions)
