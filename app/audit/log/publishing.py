"""Sealed entries and their checkpoints as events, for webhooks that subscribe to them.

They are written in the transaction that seals, so that no request waits for them. Without a
subscription nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import func, select

from app.audit.log.checkpoints import record_of
from app.audit.proof.checkpoint import Checkpoint
from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import EventActor, emit_many, webhooks_for_events
from app.models import Account, Webhook
from app.policy.audit import INSTANCE, SEALED_DELIVERIES
from app.values.strict_json import loads_own

_WEBHOOKS = CompiledQuery(
    columns_of(Webhook).where(Webhook.deleted_at.is_(None)).add_columns(func.count().label("n"))
)


def entries_at_once(account_id: str) -> int:
    """The most entries to seal in a transaction if each of the account's webhooks gets them all:
    SQLite has one writer."""
    return SEALED_DELIVERIES // max(1, int(_WEBHOOKS.scalar(account_id=account_id)))


def publish_batch(checkpoint: Checkpoint, bodies: Sequence[bytes]) -> None:
    """Write the events of a batch in the current transaction.

    Args:
        bodies: the bodies of the sealed entries, in the order of their numbers.
    """
    if checkpoint.account_id == INSTANCE:  # no account, so it has no webhooks
        return
    of_entries, of_checkpoints = webhooks_for_events(
        checkpoint.account_id, "audit.entry", "audit.checkpoint"
    )
    if not (of_entries or of_checkpoints):
        return
    name = db.session.scalars(select(Account.name).where(Account.id == checkpoint.account_id)).one()
    actor = EventActor(checkpoint.account_id, name)
    if of_entries:
        emit_many("audit.entry", _numbered_entries(checkpoint.first, bodies), actor, of_entries)
    if of_checkpoints:
        # By its key: events with the account as the subject are about usage and billing.
        subject = (checkpoint.key_id, record_of(checkpoint))
        emit_many("audit.checkpoint", [subject], actor, of_checkpoints)


def _numbered_entries(first: int, bodies: Sequence[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (id, entry with its number)."""
    for number, body in enumerate(bodies, first):
        entry = loads_own(body)
        yield entry["id"], entry | {"number": number}
