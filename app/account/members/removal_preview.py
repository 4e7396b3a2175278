"""Preview of the access to an account that a person loses by a lower role or a removal."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, select

from app.account.members.revocation import remaining_permissions
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import Credential, OAuthApplication, OAuthConsent, Session
from app.policy.people import SESSION_IDLE, SESSION_LIFE
from app.policy.permissions import ROLES
from app.values import clock

_SESSIONS = CompiledQuery(
    select(func.count()).where(
        Session.user_id == bindparam("user_id"),
        Session.current_account_id == bindparam("account_id"),
        Session.last_used_at > bindparam("used_since"),
        Session.created_at > bindparam("begun_since"),
    )
)
_APPLICATIONS = CompiledQuery(
    columns_of(OAuthConsent, OAuthConsent.application_id)
    .add_columns(OAuthApplication.name)
    .join(OAuthApplication, OAuthApplication.id == OAuthConsent.application_id)
    .where(OAuthConsent.user_id == bindparam("user_id"))
    .order_by(OAuthApplication.name, OAuthApplication.id)
)
_CREDENTIALS = CompiledQuery(
    columns_of(
        Credential,
        Credential.kind,
        Credential.name,
        Credential.permissions,
        Credential.token_end,
    )
    .where(Credential.created_by == bindparam("user_id"), Credential.revoked_at.is_(None))
    .order_by(Credential.name, Credential.id)
)


class LostAccess(NamedTuple):
    """The access that a change takes away.

    Attributes:
        sessions: the number of browsers that are signed out.
        applications: the names of the applications that lose access.
        reduced: the keys and tokens that lose some permissions, with ``kind``, ``name`` and
            ``token_end``.
        revoked: those that lose all.
    """

    sessions: int
    applications: tuple[str, ...]
    reduced: tuple[Any, ...]
    revoked: tuple[Any, ...]


class MemberAccess(NamedTuple):
    """A person's access to an account: the number of sessions, the names of applications, and
    keys and tokens."""

    sessions: int
    applications: tuple[str, ...]
    credentials: tuple[Any, ...]

    def lost_with(self, role: str | None) -> LostAccess:
        """The access lost with a lower role, or with a removal if ``role`` is None."""
        allowed = frozenset() if role is None else ROLES[role]
        remaining = [
            (credential, remaining_permissions(credential.permissions, allowed))
            for credential in self.credentials
        ]
        reduced = tuple(credential for credential, permissions in remaining if permissions)
        revoked = tuple(credential for credential, permissions in remaining if permissions == [])
        return LostAccess(self.sessions, self.applications, reduced, revoked)


def access_of(account_id: str, user_id: str) -> MemberAccess:
    """Look up a person's current access to an account."""
    own = {"account_id": account_id, "user_id": user_id}
    now = clock.now()
    since = {"used_since": now - SESSION_IDLE, "begun_since": now - SESSION_LIFE}
    return MemberAccess(
        int(_SESSIONS.scalar(**own, **since)),
        tuple(row.name for row in _APPLICATIONS.all(**own)),
        tuple(_CREDENTIALS.all(**own)),
    )
