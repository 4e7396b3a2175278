"""The invitations of a signed-in person, who accepts or declines them without the mailed link."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, select, update

from app.account.members.invitations import ACCEPTED, IS_OPEN, AcceptedInvitation, finish_joining
from app.account.members.locking import Member, find_membership
from app.account.members.removal import end_membership
from app.auth.tenant import columns_of, own_columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import EventActor
from app.models import Account, AuditEntry, Credential, Membership, User
from app.values import clock

_OPEN: Final = CompiledQuery(
    own_columns_of(
        Membership, Account.id, Account.name, Membership.role, Membership.invitation_expires_at
    )
    .where(Account.id == Membership.account_id, *IS_OPEN)
    .order_by(Account.name, Account.id)
)
_ACCEPT_OWN: Final = (
    update(Membership)
    .where(
        Membership.account_id == bindparam("of_account"),
        Membership.user_id == bindparam("of_user"),
        *IS_OPEN,
    )
    .values(ACCEPTED)
    .returning(Membership.account_id, Membership.user_id)
)
_INVITED: Final = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.actor_id)
    .where(AuditEntry.target_id == bindparam("invited_id"), AuditEntry.action == "member.invited")
    .order_by(AuditEntry.id.desc())
    .limit(1)
)
_CREATED: Final = CompiledQuery(
    columns_of(Credential, Credential.created_by).where(Credential.id == bindparam("credential_id"))
)
_PERSON: Final = CompiledQuery(
    select(User.name, User.email).where(User.id == bindparam("inviter_id"))
)


def list_own_invitations(user_id: str) -> list[Any]:
    """The accounts that a person is invited to: rows with ``id`` and ``name`` of the account,
    ``role`` and ``invitation_expires_at``."""
    return _OPEN.all(own_user_id=user_id, now=clock.now())


def accept_own_invitation(user_id: str, account_id: str) -> AcceptedInvitation | None:
    """Join an account in the current transaction. Returns None without an open invitation."""
    now = clock.now()
    values = {"of_account": account_id, "of_user": user_id, "now": now}
    row = db.session.execute(_ACCEPT_OWN, values).one_or_none()
    return None if row is None else finish_joining(row, now)


def decline_own_invitation(user_id: str, account_id: str) -> bool:
    """Delete an invitation in the current transaction. Returns False if there is none."""
    account = db.session.get(Account, account_id, with_for_update={"key_share": True})
    membership = find_membership(account_id, user_id)
    if account is None or membership is None or membership.joined_at is not None:
        return False
    member = Member(membership, db.session.get_one(User, user_id))
    actor = EventActor(account.id, account.name, user_id, member.person.email)
    changes = end_membership(member, actor)
    member.audit("member.declined", None, changes)
    return True


def inviter_of(account_id: str, user_id: str) -> Any:
    """The ``name`` and ``email`` of who invited a person last, or created the key that did; None
    if a command did, or if they were deleted since."""
    entry = _INVITED.first(account_id=account_id, invited_id=user_id)
    if entry is None:
        return None
    key = _CREATED.first(account_id=account_id, credential_id=entry.actor_id)
    return _PERSON.first(inviter_id=entry.actor_id if key is None else key.created_by)
