"""The audit log: its actions, the tables that need an entry, and when entries are sealed."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.policy.fields import ASSET, PROJECT, Field

# A value with more bytes of JSON is replaced by its first characters and its SHA-256.
LONG_VALUE: Final = 1024
BEGINNING: Final = 200

# The actions, each with the text of a page after the name of the actor; {} is the target.
ACTIONS: Final[dict[str, str]] = {
    "account.created": "created the account {}",
    "account.updated": "changed the account {}",
    "account.second_factor_required": "required a second factor in {}",
    "account.second_factor_not_required": "stopped requiring a second factor in {}",
    "account.deletion_scheduled": "scheduled the deletion of the account {}",
    "account.deletion_canceled": "canceled the deletion of the account {}",
    "account.exported": "exported all data of the account {}",
    "account.imported": "imported the archive of an account into {}",
    "account.deleted": "deleted the account {}",
    "project.created": "created the project {}",
    "project.updated": "changed the project {}",
    "project.boundary.updated": "changed the boundary of the project {}",
    "project.archived": "archived the project {}",
    "project.restored": "restored the project {}",
    "project.deleted": "deleted the project {}",
    "project.exported": "exported projects of {}",
    "project.bulk_read": "read projects of {} in bulk",
    "asset.created": "created the asset {}",
    "asset.updated": "changed the asset {}",
    "asset.deleted": "deleted the asset {}",
    "asset.exported": "exported assets of {}",
    "asset.bulk_read": "read assets of {} in bulk",
    "import.created": "uploaded the file {}",
    "import.updated": "changed how the file {} is read",
    "import.applied": "applied the import of {}",
    "import.undone": "undid the import of {}",
    "import.canceled": "canceled the import of {}",
    "member.invited": "invited {}",
    "member.joined": "joined the account as {}",
    "member.declined": "declined the invitation of {}",
    "member.updated": "changed the role of {}",
    "member.removed": "removed {} from the account",
    "api_key.created": "created the API key {}",
    "api_key.revoked": "revoked the API key {}",
    "service_token.created": "created the service token {}",
    "service_token.revoked": "revoked the service token {}",
    "application.created": "registered the application {}",
    "application.updated": "changed the application {}",
    "application.deleted": "deleted the application {}",
    "application.secret_rotated": "rotated the secret of the application {}",
    "application.former_secret_ended": "revoked the old secret of the application {}",
    "application.allowed": "allowed the application {} to act for them",
    "application.allowed_again": "let the application {} act for them again",
    "application.revoked": "revoked the access of the application {}",
    "application.token_revoked": "revoked an OAuth token of {}",
    "application.token_reused": "used an OAuth code or token of {} again, which revoked its tokens",
    "webhook.created": "created the webhook {}",
    "webhook.updated": "changed the webhook {}",
    "webhook.deleted": "deleted the webhook {}",
    "webhook.disabled": "disabled the webhook {}",
    "webhook.secret_rotated": "rotated the secret of the webhook {}",
    "webhook.tested": "sent a test to the webhook {}",
    "webhook.redelivered": "sent an event to the webhook {} again",
    "webhook.retried": "retried the pending deliveries of the webhook {}",
    "webhook.replayed": "sent past events to the webhook {} again",
    "person.created": "created the profile of {}",
    "person.updated": "changed the profile of {}",
    "person.deleted": "deleted the profile of {}",
    "person.email_verified": "confirmed the email address {}",
    "person.password_changed": "changed the password of {}",
    "person.signed_in": "signed in as {}",
    "person.sign_in_refused": "tried to sign in as {}",
    "person.second_factor_turned_on": "turned on the second factor of {}",
    "person.second_factor_turned_off": "turned off the second factor of {}",
    "person.second_factor_reset": "reset the second factor of {}",
    "person.second_factor_refused": "entered a wrong second factor as {}",
    "person.authenticator_added": "set up an authenticator app for {}",
    "person.authenticator_removed": "removed the authenticator app of {}",
    "person.passkey_added": "added a passkey for {}",
    "person.passkey_removed": "removed a passkey of {}",
    "person.recovery_codes_made": "made new recovery codes for {}",
    "person.recovery_code_used": "used a recovery code of {}",
    "person.sign_in_linked": "linked a sign-in to {}",
    "person.sign_in_unlinked": "unlinked a sign-in from {}",
    "person.signed_out": "signed out as {}",
    "person.sessions_ended": "ended sessions of {}",
    "audit_log.exported": "exported the audit log of {}",
    "audit_log.pruned": "deleted old entries of the audit log of {}",
    "operator.added": "made {} an operator",
    "operator.removed": "removed {} from the operators",
    "instance.secret_key_rotated": "rotated the secret key of {}",
    "instance.backed_up": "made a backup of {}",
    "instance.backup_failed": "failed to make the daily backup of {}",
    "instance.restored": "restored a backup of {}",
    "instance.basemap_made": "made a map of the region for {}",
    "instance.repaired": "repaired derived data of {}",
    "instance.sign_up_closed": "closed sign-up on {}",
    "instance.sign_up_opened": "opened sign-up on {}",
    "instance.outbound_off": "kept {} from sending anything out",
    "instance.outbound_on": "let {} send webhooks and emails again",
    "instance.message_shown": "put a message on all pages of {}",
    "instance.message_removed": "removed the message from all pages of {}",
    "instance.backgrounds_changed": "changed the backgrounds of maps on {}",
}

# The types of actors.
ACTORS: Final = ("person", "api_key", "service_token", "application", "operator", "system")

# The account_id of the instance's own log, for what concerns no account.
INSTANCE: Final = "instance"

# The changes that cannot be committed without an entry (app.audit.guard): inserting or deleting a
# row of one of these tables, or changing one of these columns.
INSERT: Final = "INSERT"
DELETE: Final = "DELETE"


def _writable_columns(fields: tuple[Field, ...]) -> set[str]:
    """The columns of the fields that clients set."""
    return {field.stored_as for field in fields if field.writable != "never"}


AUDITED: Final[dict[str, frozenset[str]]] = {
    "accounts": frozenset(
        {INSERT, DELETE, "name", "type", "plan", "deletes_at"}
        | {"second_factor_required_at", "second_factor_grace_days"}
    ),
    "memberships": frozenset({INSERT, DELETE, "role", "joined_at", "invitation_hash"}),
    "users": frozenset(
        {
            INSERT,
            DELETE,
            "email",
            "name",
            "time_zone",
            "date_format",
            "area_unit",
            "email_verified_at",
        }
        | {"second_factor_since", "operator_since"}
    ),
    "instance_state": frozenset(
        {"sign_up_closed_at", "outbound_off_at", "message", "message_kind", "message_until"}
        | {"backgrounds"}
    ),
    "authenticators": frozenset({INSERT, DELETE}),
    "passkeys": frozenset({INSERT, DELETE}),
    "recovery_codes": frozenset({INSERT, "used_at"}),
    "sign_in_identities": frozenset({INSERT, DELETE}),
    "sessions": frozenset({INSERT}),  # one may end by time
    "credentials": frozenset(
        {INSERT, DELETE, "name", "permissions", "project_ids", "ip_allowlist", "revoked_at"}
    ),
    "oauth_applications": frozenset(
        {INSERT, DELETE, "name", "redirect_uris", "scopes", "secret_hash"}
    ),
    "oauth_consents": frozenset({INSERT, DELETE, "scopes"}),
    "oauth_authorizations": frozenset({INSERT}),
    "webhooks": frozenset(
        {INSERT, "url", "description", "events", "enabled", "sealed_secret", "deleted_at"}
    ),
    "replays": frozenset({INSERT}),
    "imports": frozenset({INSERT}),
    "projects": frozenset({INSERT, DELETE, *_writable_columns(PROJECT)}),
    "assets": frozenset({INSERT, DELETE, *_writable_columns(ASSET)}),
}

SEALED_ENTRIES: Final = 500  # in one checkpoint, at most
SEALED_DELIVERIES: Final = 5_000  # caused by one checkpoint and its entries, about
SEALED_AFTER: Final = timedelta(minutes=5)  # fewer are sealed once the oldest is this old

LARGE_READ: Final = 1_000  # features in one response of /ogc: more make an entry
