"""The checks that events are delivered, and in time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, cast

from sqlalchemy import Connection, Table, func

from app.auth.tenant import select_of_all_accounts
from app.doctor.findings import Finding, ok, problem, warning
from app.models import Delivery, Webhook
from app.outbound.switch import how_to_send, is_off_for
from app.values import clock
from config import Settings

_LATE: Final = timedelta(minutes=2)
_DELIVERIES: Final = cast("Table", Delivery.__table__)
_WEBHOOKS: Final = cast("Table", Webhook.__table__)


def check_outbound(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Say whether anything is sent at all."""
    if is_off_for(settings, connection):
        yield warning("Nothing is sent out: webhooks and emails are held", how_to_send(settings))
    else:
        yield ok("webhooks and emails are sent")


def check_overdue_deliveries(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Check that no delivery to a healthy receiver is overdue, unless all are held. Failing ones
    are for their owners."""
    now = clock.now()
    joined = _DELIVERIES.join(_WEBHOOKS, _WEBHOOKS.c.id == _DELIVERIES.c.webhook_id)
    late, oldest = connection.execute(
        select_of_all_accounts(func.count(), func.min(_DELIVERIES.c.due_at))
        .select_from(joined)
        .where(_DELIVERIES.c.due_at <= now - _LATE, _WEBHOOKS.c.consecutive_failures == 0)
    ).one()
    if late and not is_off_for(settings, connection):
        yield problem(
            f"Deliveries overdue: {late:,}, the oldest since {clock.format_time(oldest)}",
            "Start the worker (python worker.py). If it is running, its log says what is wrong.",
        )
        return
    pending = connection.scalar(
        select_of_all_accounts(func.count())
        .select_from(_DELIVERIES)
        .where(_DELIVERIES.c.due_at.is_not(None))
    )
    failing = connection.scalar(
        select_of_all_accounts(func.count())
        .select_from(_WEBHOOKS)
        .where(_WEBHOOKS.c.failing_since.is_not(None))
    )
    note = f"; webhooks failing: {failing:,}; their logs say why" if failing else ""
    yield ok(f"deliveries waiting: {pending:,}{note}")
