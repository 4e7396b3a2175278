"""Waiting with an import until the deliveries of its account have been tried.

Each written feature queues a delivery for every webhook of the account. An import waits while too
many have not been tried once, so that it does not queue them by the hundred thousand. Deliveries
that wait for another attempt do not count.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Final

from sqlalchemy import bindparam, func, select

from app.auth.tenant import columns_of
from app.db.column_types import Timestamp
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.imports.leases import LeasedImport, lock_leased
from app.imports.progress import ImportProgress
from app.models import Delivery, Webhook
from app.outbound.switch import is_outbound_off
from app.policy.deliveries import LEASE
from app.policy.imports import UNTRIED_DELIVERIES
from app.values import clock

EVERY_SECONDS: Final = 2.0
_MESSAGE: Final = (
    f"Waiting: more than {UNTRIED_DELIVERIES:,} deliveries to the account's webhooks have not been "
    "tried yet. The import goes on by itself as they are sent."
)
_WEBHOOKS: Final = columns_of(Webhook, Webhook.id)
# They are due at once, or leased: the index on ``due_at`` leaves out most others.
_UNTRIED: Final = (
    columns_of(Delivery, Delivery.id)
    .where(
        Delivery.webhook_id.in_(_WEBHOOKS),
        Delivery.due_at <= bindparam("soon", type_=Timestamp()),
        Delivery.attempts == 0,
    )
    .limit(UNTRIED_DELIVERIES + 1)
    .subquery()
)
_NUMBER: Final = CompiledQuery(select(func.count()).select_from(_UNTRIED))


def wait_for_deliveries(
    leased: LeasedImport, in_transaction: Transaction, progress: ImportProgress
) -> bool:
    """Wait while the account has too many untried deliveries. Call it between transactions.

    Returns False if the step has to stop, and another turn goes on. A command waits here.

    Raises LeaseLost.
    """
    while _too_many_untried(leased.account_id):
        with in_transaction():
            import_ = lock_leased(leased)
            import_.message = _MESSAGE
            if not progress.waits_in_place:
                import_.lease, import_.tries = None, 0
                import_.leased_until = clock.now() + timedelta(seconds=EVERY_SECONDS)
                return False
        time.sleep(EVERY_SECONDS)
    return True


def _too_many_untried(account_id: str) -> bool:
    number = _NUMBER.scalar(account_id=account_id, soon=clock.now() + LEASE)
    return number > UNTRIED_DELIVERIES and not is_outbound_off()  # else they are held
