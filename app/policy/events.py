"""The types of events: their names, their meanings, and the fields of their data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from app.policy.fields import ASSET, PROJECT

PROJECT_FIELDS: Final = tuple(field.name for field in PROJECT if field.in_events)
ASSET_FIELDS: Final = tuple(field.name for field in ASSET if field.in_events)
MEMBER_FIELDS: Final = ("id", "email", "name", "role", "joined_at")
SUBSCRIPTION_FIELDS: Final = ("plan", "previous_plan", "status", "current_period_end")
INVOICE_FIELDS: Final = ("id", "amount", "currency", "status", "due_at")
USAGE_FIELDS: Final = ("metric", "threshold", "current", "limit", "percentage")
# In the order of the sealed text, to which only the number is added.
AUDIT_ENTRY_FIELDS: Final = (
    *("account_id", "action", "actor", "at", "changes", "id", "outcome", "target", "via"),
    "number",
)
CHECKPOINT_FIELDS: Final = (
    *("account_id", "number", "first", "last", "sealed_at", "previous_hash", "hash"),
    *("key_id", "signature", "entries"),
)


@dataclass(frozen=True, slots=True)
class EventKind:
    """One type of event.

    ``fields`` are those of the subject at that time; ``actor`` names the field with the person who
    did it; ``extra`` names what the caller of ``emit_event`` must add. With ``by_name``, webhooks
    get it only if they name it: ``*`` does not include it.
    """

    meaning: str
    fields: tuple[str, ...]
    actor: str | None = None
    extra: tuple[str, ...] = ()
    by_name: bool = False


EVENTS: Final[dict[str, EventKind]] = {
    "project.created": EventKind("A project is created", PROJECT_FIELDS, "created_by"),
    "project.updated": EventKind(
        "A project is updated", PROJECT_FIELDS, "updated_by", ("changes",)
    ),
    "project.deleted": EventKind("A project is deleted", PROJECT_FIELDS, "deleted_by"),
    "project.archived": EventKind("A project is archived", PROJECT_FIELDS, "archived_by"),
    "project.restored": EventKind("An archived project is restored", PROJECT_FIELDS, "restored_by"),
    "asset.created": EventKind("An asset is created", ASSET_FIELDS, "created_by"),
    "asset.updated": EventKind("An asset is updated", ASSET_FIELDS, "updated_by", ("changes",)),
    "asset.deleted": EventKind("An asset is deleted", ASSET_FIELDS, "deleted_by"),
    "asset.status_changed": EventKind(
        "An asset's status changes", ASSET_FIELDS, "updated_by", ("previous_status",)
    ),
    "member.invited": EventKind("A member is invited", MEMBER_FIELDS, "invited_by"),
    "member.joined": EventKind("An invitation is accepted", MEMBER_FIELDS),
    "member.updated": EventKind(
        "A member's role is updated", MEMBER_FIELDS, "updated_by", ("changes",)
    ),
    "member.removed": EventKind("A member is removed", MEMBER_FIELDS, "removed_by"),
    "subscription.created": EventKind("A subscription is created", SUBSCRIPTION_FIELDS),
    "subscription.updated": EventKind("A subscription is updated", SUBSCRIPTION_FIELDS),
    "subscription.canceled": EventKind("A subscription is canceled", SUBSCRIPTION_FIELDS),
    "invoice.paid": EventKind("An invoice is paid", INVOICE_FIELDS),
    "invoice.failed": EventKind("An invoice payment fails", INVOICE_FIELDS),
    "usage.threshold_reached": EventKind("Usage reaches 75, 90 or 100% of a limit", USAGE_FIELDS),
    "usage.limit_exceeded": EventKind("A usage limit is exceeded", USAGE_FIELDS),
    "audit.entry": EventKind(
        "An entry of the audit log is sealed", AUDIT_ENTRY_FIELDS, by_name=True
    ),
    "audit.checkpoint": EventKind(
        "Entries of the audit log are sealed with a checkpoint", CHECKPOINT_FIELDS, by_name=True
    ),
}

ALL_EVENTS: Final = "*"  # the subscription to all of them, but those by name

# Sent to one webhook on request; there is no subscription to it.
TEST_EVENT: Final = "webhook.test"
TEST_MESSAGE: Final = "This is a test. Nothing has happened."


def includes_event(types: Collection[str], event_type: str) -> bool:
    """True if a subscription to these types, or to ``*``, includes this one."""
    return event_type in types or (ALL_EVENTS in types and not EVENTS[event_type].by_name)
