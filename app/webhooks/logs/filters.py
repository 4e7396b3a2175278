"""The base of all statements that count or list a webhook's log."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, select

from app.auth.tenant import columns_of
from app.models import DeliveryLog, Webhook


class Filters(NamedTuple):
    """Which filters a statement has; the values are parameters."""

    status: bool
    event_type: bool


def filtered(what: ColumnElement[Any], filters: Filters) -> Select[Any]:
    """Select ``what`` of the webhook's entries that match the filters.

    The index has all filtered columns but not the account, so the webhook is checked to be the
    account's. The parameters are ``account_id`` and ``webhook_id``, and those of the filters.
    """
    own = columns_of(Webhook, Webhook.id).where(Webhook.id == bindparam("webhook_id"))
    conditions = [DeliveryLog.webhook_id == own.scalar_subquery()]
    if filters.status:
        conditions.append(DeliveryLog.status == bindparam("status"))
    if filters.event_type:
        conditions.append(DeliveryLog.event_type == bindparam("event_type"))
    return select(what).select_from(DeliveryLog).where(*conditions)
