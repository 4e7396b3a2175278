"""Locks that serialize the changes to an account's members.

Seats, the last owner and the caller's rights depend on several rows, so each change locks the
account's row before it reads them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from app.account.members.record import member_record, not_found
from app.account.members.rules import ActingMember
from app.audit.entries import Changes, write_entry
from app.audit.origin import Actor
from app.audit.targets import member_target as target_of_member
from app.auth.principal import Principal
from app.auth.tenant import rows_of
from app.db.extensions import db
from app.http.errors import Forbidden
from app.models import Account, Membership, User
from app.policy.permissions import OWNER
from app.values.ids import is_id
from app.values.strict_json import dumps


class Member(NamedTuple):
    """A member, locked until the end of the transaction."""

    membership: Membership
    person: User

    @property
    def record(self) -> dict[str, Any]:
        return member_record(self.membership, self.person)

    @property
    def data(self) -> bytes:
        """The bytes that the member's entity tag is computed from."""
        return dumps(self.record)

    def audit(
        self, action: str, principal: Principal | None, changes: Changes | None = None
    ) -> None:
        """Write an entry of the audit log about the member.

        Args:
            principal: None if the member acts, who need not be signed in.
        """
        write_entry(
            action,
            target_of_member(self.person),
            account_id=self.membership.account_id,
            changes=changes,
            principal=principal,
            actor=None if principal else Actor.person(self.person.id, self.person.email),
        )


def begin_change(principal: Principal) -> tuple[Account, ActingMember]:
    """Lock the account for a change to its members, before any other lock.

    Uses ``FOR NO KEY UPDATE``, so that events, whose foreign key refers to the account, can be
    written meanwhile.

    Returns the account and the acting member with their current role, which may have changed since
    the request was authenticated.

    Raises:
        Forbidden: the acting person is no longer a member.
    """
    lock = {"key_share": True}
    account = db.session.get_one(Account, principal.account_id, with_for_update=lock)
    if principal.kind == "operator":
        return account, ActingMember(None, OWNER, True)
    own = rows_of(account.id, Membership).where(
        Membership.user_id == principal.user_id, Membership.joined_at.is_not(None)
    )
    membership = db.session.scalars(own).one_or_none()
    if membership is None:
        message = "The person this credential acts for does not belong to the account."
        raise Forbidden("role", message)
    return account, ActingMember(principal.user_id, membership.role, principal.may("admin"))


def lock_member(account_id: str, member_id: str) -> Member:
    """Lock and return a member of the account, joined or invited. Raises NotFound.

    Uses ``FOR UPDATE``, so that consents, whose foreign key refers to this row, wait.
    """
    membership = find_membership(account_id, member_id) if is_id("user", member_id) else None
    if membership is None:
        raise not_found()
    return Member(membership, db.session.get_one(User, member_id))


def find_membership(account_id: str, user_id: str) -> Membership | None:
    """Lock and return a person's membership or invitation in an account, or None."""
    own = rows_of(account_id, Membership).where(Membership.user_id == user_id)
    return db.session.scalars(own.with_for_update()).one_or_none()


def is_last_owner(account_id: str, user_id: str) -> bool:
    """True if the account has no other owner. It must be locked."""
    other_owners = rows_of(account_id, Membership).where(
        Membership.role == OWNER,
        Membership.joined_at.is_not(None),
        Membership.user_id != user_id,
    )
    return db.session.scalars(other_owners.limit(1)).first() is None
