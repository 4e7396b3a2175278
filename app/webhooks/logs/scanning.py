"""All attempts to reach the webhooks of an account, for files that have all of them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.lists.batches import Batches, KeyedRows, NestedBatches, Readable
from app.models import DeliveryLog, Webhook
from app.webhooks.logs.record import COLUMNS, DETAILS, detailed_record

# One at a time: the index of the log begins with the webhook.
_WEBHOOKS: Final = KeyedRows(
    columns_of(Webhook, Webhook.id).where(Webhook.deleted_at.is_(None)), Webhook.id, batch_rows=1
)
_LOG: Final = KeyedRows(
    columns_of(DeliveryLog, *COLUMNS, *DETAILS, DeliveryLog.webhook_id).where(
        DeliveryLog.webhook_id == bindparam("webhook_id")
    ),
    DeliveryLog.id,
)


def scan_logs(account_id: str) -> Readable[dict[str, Any]]:
    """The entries of the logs of all webhooks, those of a webhook one after the other: as
    ``read_log`` gives them, with ``webhook_id`` and without the event."""

    def begin(webhook_ids: list[str]) -> Readable[dict[str, Any]]:
        (webhook_id,) = webhook_ids
        return Batches(_LOG, _record, account_id=account_id, webhook_id=webhook_id)

    webhooks = Batches(_WEBHOOKS, lambda row: str(row.id), account_id=account_id)
    return NestedBatches(webhooks, begin)


def _record(row: Any) -> dict[str, Any]:
    return {"webhook_id": row.webhook_id, **detailed_record(row, None)}
