"""What ends when somebody is removed from an account, or gets a lower role in it.

All of it goes in the transaction of the change, and every process asks the database at each
request; so it is over for the next one. What the person has in other accounts stays.
"""

from __future__ import annotations

from sqlalchemy import delete

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Credential, OAuthConsent, Session
from app.policy.permissions import ROLES, expand
from app.values import clock


def revoke_access(account_id: str, user_id: str, role: str | None) -> None:
    """End a person's sessions in an account and what they granted to applications there, and cut
    the keys and tokens that they made.

    Args:
        role: the new one; None when the person is removed.
    """
    _end_sessions(account_id, user_id)
    _end_grants(account_id, user_id)
    _cut_credentials(account_id, user_id, frozenset() if role is None else ROLES[role])


def _end_sessions(account_id: str, user_id: str) -> None:
    own = delete(Session).where(
        Session.user_id == user_id, Session.current_account_id == account_id
    )
    db.session.execute(own)


def _end_grants(account_id: str, user_id: str) -> None:
    """Codes and tokens go with the consent that they came from."""
    own = delete(OAuthConsent).where(
        OAuthConsent.account_id == account_id, OAuthConsent.user_id == user_id
    )
    db.session.execute(own)


def _cut_credentials(account_id: str, user_id: str, allowed: frozenset[str]) -> None:
    """Leave each key and token what its creator could still give it, and revoke those without."""
    made = rows_of(account_id, Credential).where(
        Credential.created_by == user_id, Credential.revoked_at.is_(None)
    )
    for credential in db.session.scalars(made.order_by(Credential.id).with_for_update()):
        held = expand(credential.permissions)
        if held <= allowed:
            continue
        if left := sorted(held & allowed):
            credential.permissions = left
        else:
            credential.revoked_at = clock.now()
