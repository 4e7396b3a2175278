"""Revoking access when a member is removed from an account or gets a lower role.

This happens in the transaction of the change. Since every request is authenticated against the
database, the next one already fails. The person's access to other accounts is not affected.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import delete

from app.audit.entries import Changes
from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Credential, OAuthConsent, Session
from app.policy.permissions import ROLES, expand_permissions
from app.values import clock


def revoke_access(account_id: str, user_id: str, role: str | None) -> Changes:
    """End a person's sessions in an account, revoke their consents to applications there, and
    restrict the keys and tokens that they created.

    Returns the changed permissions by the ids of the keys and tokens, for the audit log.

    Args:
        role: the new role; None if the person is removed.
    """
    _end_sessions(account_id, user_id)
    _revoke_consents(account_id, user_id)
    allowed = frozenset() if role is None else ROLES[role]
    return _restrict_credentials(account_id, user_id, allowed)


def _end_sessions(account_id: str, user_id: str) -> None:
    own = delete(Session).where(
        Session.user_id == user_id, Session.current_account_id == account_id
    )
    db.session.execute(own)


def _revoke_consents(account_id: str, user_id: str) -> None:
    """Delete a person's consents, and with them their codes and tokens."""
    own = delete(OAuthConsent).where(
        OAuthConsent.account_id == account_id, OAuthConsent.user_id == user_id
    )
    db.session.execute(own)


def _restrict_credentials(account_id: str, user_id: str, allowed: frozenset[str]) -> Changes:
    """Reduce each key and token to the allowed permissions; revoke those left without any."""
    created = rows_of(account_id, Credential).where(
        Credential.created_by == user_id, Credential.revoked_at.is_(None)
    )
    changes = {}
    for credential in db.session.scalars(created.order_by(Credential.id).with_for_update()):
        remaining = remaining_permissions(credential.permissions, allowed)
        if remaining is None:
            continue
        changes[credential.id] = {"from": credential.permissions, "to": remaining}
        if remaining:
            credential.permissions = remaining
        else:
            credential.revoked_at = clock.now()
    return changes


def remaining_permissions(granted: Iterable[str], allowed: frozenset[str]) -> list[str] | None:
    """The permissions that a key keeps, sorted; empty if it is revoked, None if it keeps all."""
    current = expand_permissions(granted)
    return None if current <= allowed else sorted(current & allowed)
