"""Removing people: a member, a person who is deleted, an invited person who never signed up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import bindparam, delete, select

from app.account.members.locking import Member, find_membership, is_last_owner
from app.account.members.revocation import revoke_access
from app.audit.entries import Changes, write_entry
from app.audit.targets import member_target as target_of_member
from app.auth.people import is_registered
from app.auth.tenant import columns_of, own_columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import EventActor, emit_event
from app.http.errors import Conflict
from app.models import Account, Membership, User
from app.policy.permissions import OWNER
from app.usage.counters import count_member

_OWNED: Final = CompiledQuery(
    own_columns_of(Membership, Account.id, Account.name, Account.slug, Account.deletes_at)
    .where(
        Account.id == Membership.account_id,
        Membership.role == OWNER,
        Membership.joined_at.is_not(None),
    )
    .order_by(Account.name, Account.id)
)
_OTHER_OWNERS: Final = CompiledQuery(
    columns_of(Membership, Membership.user_id).where(
        Membership.role == OWNER,
        Membership.joined_at.is_not(None),
        Membership.user_id != bindparam("user_id"),
    )
)
_OF_PERSON: Final = own_columns_of(Membership, Membership.account_id).order_by(
    Membership.account_id  # so that no two wait for each other
)
_ANY_MEMBERSHIP: Final = own_columns_of(Membership, Membership.account_id).limit(1)


def end_membership(member: Member, actor: EventActor) -> Changes:
    """Delete a membership or an invitation and revoke the access that it gives. The account must
    be locked.

    Returns the changes for the audit log.
    """
    account_id = member.membership.account_id
    changes = {"role": {"from": member.membership.role, "to": None}}
    restricted = revoke_access(account_id, member.person.id, None)
    emit_event("member.removed", member.record, actor)
    db.session.delete(member.membership)
    count_member(account_id, -1)
    return {**changes, **restricted}


def solely_owned_accounts(user_id: str) -> list[Any]:
    """The accounts whose only owner is this person: rows with ``id``, ``name``, ``slug`` and
    ``deletes_at``."""
    owned = _OWNED.all(own_user_id=user_id)
    return [row for row in owned if is_only_owner(row.id, user_id)]


def is_only_owner(account_id: str, user_id: str) -> bool:
    """True if the account has no owner but this person."""
    return _OTHER_OWNERS.first(account_id=account_id, user_id=user_id) is None


def leave_accounts(person: User) -> bool:
    """Remove a person from all accounts, and lock the person until the end of the transaction.

    Returns False if another transaction has deleted the person meanwhile.

    Raises:
        Conflict: the person is the only owner of an account, or was just invited to another one.
    """
    account_ids = _account_ids_of_person(person)
    for account_id in account_ids:
        _leave_account(person, account_id)
    db.session.flush()
    if db.session.get(User, person.id, populate_existing=True, with_for_update=True) is None:
        return False
    if not set(_account_ids_of_person(person)) <= set(account_ids):
        raise Conflict(
            "changed_meanwhile",
            "accounts",
            "Somebody has just invited this person to another account. Try again.",
        )
    return True


def purge_invited(user_ids: Iterable[str]) -> None:
    """Delete those of these people who never signed up and have no invitation anymore, so that
    their addresses are not stored.

    The entry for the end of the invitation covers this. People who are locked, because they are
    joining or being invited, are skipped.
    """
    db.session.flush()
    for user_id in sorted(user_ids):
        locked = select(User).where(User.id == user_id).with_for_update(skip_locked=True)
        unlocked = db.session.scalars(locked, execution_options={"populate_existing": True})
        person = unlocked.one_or_none()
        if person is not None and _never_signed_up(person):
            db.session.execute(delete(User).where(User.id == user_id))


def _leave_account(person: User, account_id: str) -> None:
    lock = {"key_share": True}
    account = db.session.get(Account, account_id, with_for_update=lock)
    membership = find_membership(account_id, person.id)
    if account is None or membership is None:  # deleted meanwhile
        return
    if membership.role == OWNER and is_last_owner(account_id, person.id):
        raise Conflict(
            "last_owner", "role", f"The account {account.name} has no other owner.", id=account_id
        )
    member = Member(membership, person)
    changes = end_membership(member, EventActor(account_id, account.name, person.id, person.email))
    write_entry("member.removed", target_of_member(person), account_id=account_id, changes=changes)


def _account_ids_of_person(person: User) -> list[str]:
    return list(db.session.scalars(_OF_PERSON, {"own_user_id": person.id}))


def _never_signed_up(person: User) -> bool:
    if person.email_verified_at is not None or person.operator_since is not None:
        return False
    memberships = db.session.execute(_ANY_MEMBERSHIP, {"own_user_id": person.id})
    return memberships.first() is None and not is_registered(person)
