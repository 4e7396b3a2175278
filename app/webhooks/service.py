"""Listing, creating, changing, testing and deleting webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.api.immutable import check_fixed
from app.audit.entries import Changes, changes_between, changes_of_new, write_entry
from app.auth.principal import Principal
from app.auth.tenant import columns_of, rows_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import NEW_DELIVERIES, EventActor, emit_test
from app.http.errors import Forbidden
from app.http.etags import ANY, IfMatch
from app.jobs.after_commit import notify_after_commit
from app.models import Account, Delivery, Webhook
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT, WEBHOOKS_PER_ACCOUNT
from app.security.masking import MASK, masked_url
from app.security.sealing import seal, unseal
from app.security.webhook_signing import new_secret
from app.values import clock
from app.values.ids import is_id, new_id
from app.values.strict_json import dumps
from app.webhooks.deliveries.cancellation import cancel_pending
from app.webhooks.locking import check_enabled, check_outbound, lock_webhook, share_lock_webhook
from app.webhooks.ordering import due_before_pending
from app.webhooks.record import COLUMNS, not_found, row_record, webhook_record

MANUAL: Final = "manual"
_AUDITED: Final = ("url", "events", "description", "enabled")
TRIED_AT_ONCE: Final = 5_000  # deliveries

_LIVE = columns_of(Webhook, *COLUMNS).where(Webhook.deleted_at.is_(None))
_ALL = CompiledQuery(_LIVE.order_by(Webhook.id))
_NUMBER = columns_of(Webhook).add_columns(func.count()).where(Webhook.deleted_at.is_(None))
_ONE = CompiledQuery(_LIVE.where(Webhook.id == bindparam("webhook_id")))


class WithSecret(NamedTuple):
    """A webhook's record and its new secret, which is shown only once."""

    record: dict[str, Any]
    secret: str


def list_webhooks(account_id: str) -> list[dict[str, Any]]:
    """Return the records of all webhooks, the oldest first."""
    return [row_record(row) for row in _ALL.tuples(account_id=account_id)]


def read_webhook(account_id: str, webhook_id: str) -> dict[str, Any]:
    """Return the record of a webhook. Raises NotFound."""
    is_valid = is_id("webhook", webhook_id)
    rows = _ONE.tuples(account_id=account_id, webhook_id=webhook_id) if is_valid else []
    if not rows:
        raise not_found()
    return row_record(rows[0])


def check_webhook(principal: Principal, webhook_id: str) -> None:
    """Raise NotFound when the account has no such webhook."""
    read_webhook(principal.account_id, webhook_id)


def create_webhook(
    principal: Principal,
    *,
    url: str,
    events: Sequence[str],
    secret: str | None = None,
    description: str | None = None,
    enabled: bool = True,
) -> WithSecret:
    """Create a webhook from valid arguments. Raises Forbidden when the account has the maximum."""
    # Concurrent creations wait. Events, which refer to the account's row, do not.
    lock = {"key_share": True}
    account = db.session.get_one(Account, principal.account_id, with_for_update=lock)
    _check_quota(account.id)
    moment, secret = clock.now(), secret or new_secret()
    webhook = Webhook(
        id=new_id("webhook"),
        account_id=account.id,
        url=url,
        description=description,
        events=list(events),
        enabled=enabled,
        disabled_reason=None if enabled else MANUAL,
        sealed_secret=seal(secret),
        consecutive_failures=0,
        created_at=moment,
        updated_at=moment,
    )
    db.session.add(webhook)
    fields = webhook_record(webhook)
    write_entry(
        "webhook.created", webhook, changes=_without_secrets(changes_of_new(fields, *_AUDITED))
    )
    return WithSecret(fields, secret)


def update_webhook(
    principal: Principal, webhook_id: str, values: Mapping[str, Any], if_match: IfMatch = ANY
) -> dict[str, Any]:
    """Change the fields in ``values``, and return the record. If no value differs, nothing happens.
    A new ``secret`` replaces the former one at once.

    Raises NotFound, PreconditionFailed, ValidationFailed.
    """
    webhook = lock_webhook(principal, webhook_id)
    if_match.check(dumps(webhook_record(webhook)))
    values = check_fixed(values, id=webhook.id)
    secret = values.pop("secret", None)
    has_new_secret = secret is not None and not _has_secret(webhook, secret)
    if has_new_secret:
        _set_secret(webhook, secret)
    former = webhook_record(webhook)
    names = {name for name, value in values.items() if getattr(webhook, name) != value}
    for name in names:
        setattr(webhook, name, values[name])
    if not names:
        if has_new_secret:
            write_entry("webhook.secret_rotated", webhook)
        return former
    webhook.updated_at = clock.now()
    notify_after_commit(NEW_DELIVERIES)  # it applies to claimed deliveries too
    if "enabled" in names:
        webhook.disabled_reason = None if webhook.enabled else MANUAL
        if not webhook.enabled:
            cancel_pending(webhook)
    if "url" in names or ("enabled" in names and webhook.enabled):
        _forget_failures(webhook)
    present = webhook_record(webhook)
    changes = _without_secrets(changes_between(former, present, *_AUDITED))
    if has_new_secret:
        changes = {**changes, "secret": {"from": MASK, "to": MASK}}
    write_entry("webhook.updated", webhook, changes=changes)
    return present


def delete_webhook(principal: Principal, webhook_id: str) -> None:
    """Delete a webhook. It disappears at once, its rows later. Raises NotFound."""
    webhook = lock_webhook(principal, webhook_id)
    write_entry("webhook.deleted", webhook)
    webhook.deleted_at = clock.now()
    webhook.enabled = False
    webhook.sealed_secret, webhook.sealed_former_secret = "", None
    cancel_pending(webhook)


def retry_now(principal: Principal, webhook_id: str) -> int:
    """Try deliveries that wait for a retry now, at most TRIED_AT_ONCE, those due next first. The
    number of tries of a delivery stays the same. Returns the number of deliveries.

    Raises:
        NotFound: the account has no such webhook.
        Conflict: it is disabled, or nothing is sent out.
    """
    check_outbound()
    webhook = share_lock_webhook(principal, webhook_id)
    check_enabled(webhook.enabled)
    write_entry("webhook.retried", webhook)
    moment = clock.now()
    waiting = rows_of(principal.account_id, Delivery).where(
        Delivery.webhook_id == webhook_id,
        Delivery.due_at > moment,
        Delivery.attempts > 0,
        Delivery.claim.is_(None),  # else it is about to be tried
    )
    next_ones = waiting.order_by(Delivery.due_at).limit(TRIED_AT_ONCE)
    deliveries = db.session.scalars(next_ones.with_for_update(skip_locked=True)).all()
    for delivery in deliveries:
        delivery.due_at = moment
    notify_after_commit(NEW_DELIVERIES)
    return len(deliveries)


def send_test(principal: Principal, webhook_id: str) -> str:
    """Queue a test event for a webhook, even a disabled one. Returns the event's id. Raises
    NotFound, and Conflict if nothing is sent out."""
    check_outbound()
    webhook = share_lock_webhook(principal, webhook_id)
    due_at = due_before_pending(webhook.account_id, webhook.id)
    write_entry("webhook.tested", webhook)
    return emit_test(webhook.id, EventActor.of(principal), due_at)


def rotate_secret(
    principal: Principal, webhook_id: str, *, overlap_hours: int = OVERLAP_HOURS_DEFAULT
) -> WithSecret:
    """Give a webhook a new secret. The record has ``former_secret_until``: the time until which
    deliveries are also signed with the former secret, or None.

    Raises NotFound.
    """
    webhook = lock_webhook(principal, webhook_id)
    secret = new_secret()
    _set_secret(webhook, secret, overlap=timedelta(hours=overlap_hours))
    write_entry("webhook.secret_rotated", webhook)
    until = clock.format_optional_time(webhook.former_secret_until)
    return WithSecret(webhook_record(webhook) | {"former_secret_until": until}, secret)


def _has_secret(webhook: Webhook, secret: str) -> bool:
    try:
        return bool(unseal(webhook.sealed_secret) == secret)
    except ValueError:  # sealed with another SECRET_KEY
        return False


def _set_secret(webhook: Webhook, secret: str, *, overlap: timedelta = timedelta()) -> None:
    """Give a webhook another secret. The former one also signs for ``overlap``."""
    moment = clock.now()
    webhook.sealed_former_secret = webhook.sealed_secret if overlap else None
    webhook.former_secret_until = moment + overlap if overlap else None
    webhook.sealed_secret = seal(secret)
    webhook.updated_at = moment
    notify_after_commit(NEW_DELIVERIES)


def _without_secrets(changes: Changes) -> Changes:
    """Mask secrets in URLs. ``from`` and ``to`` are equal if only a secret changed."""
    if "url" not in changes:
        return changes
    urls = changes["url"]
    return {**changes, "url": {name: url and masked_url(url) for name, url in urls.items()}}


def _forget_failures(webhook: Webhook) -> None:
    webhook.consecutive_failures = 0
    webhook.failing_since = None
    webhook.given_up_at = None
    webhook.warned_at = None


def _check_quota(account_id: str) -> None:
    """Raise Forbidden if the account has the maximum of webhooks."""
    current = db.session.execute(_NUMBER, {"account_id": account_id}).scalar_one()
    if current >= WEBHOOKS_PER_ACCOUNT:
        raise Forbidden(
            "plan_limit",
            f"The account has {current} webhooks, disabled ones included, and can have "
            f"{WEBHOOKS_PER_ACCOUNT}. Delete one that you no longer need.",
        )
