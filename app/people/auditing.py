"""Entries of the audit log about people.

A change of a person concerns all of their accounts, but its entry is in one log (``log_of``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import g

from app.audit.entries import Changes, changes_of_new, write_entry
from app.audit.origin import Actor
from app.audit.targets import Target
from app.auth.login_throttle import count_refusal
from app.auth.memberships import memberships_of
from app.auth.sessions import SignedIn
from app.db.extensions import db
from app.limits.limiter import current_client
from app.policy.audit import INSTANCE


class Subject(NamedTuple):
    """A person as the subject of an entry."""

    id: str
    email: str


def write_person_entry(
    action: str,
    subject: Any,
    changes: Changes | None = None,
    *,
    by_themselves: bool = False,
    refused: bool = False,
) -> None:
    """Write an entry about a person.

    Args:
        subject: a ``Subject``, a ``User``, or a row with ``id`` and ``email``.
        by_themselves: the person acts, who need not be signed in.
        refused: the action was attempted and refused.
    """
    write_entry(
        action,
        Target("person", subject.id, subject.email),
        account_id=log_of(subject.id),
        changes=changes,
        actor=Actor.person(subject.id, subject.email) if by_themselves else None,
        refused=refused,
    )


def write_refused_sign_in(user_id: str | None, email: str, reason: str | None = None) -> None:
    """Write the entry of a refused sign-in.

    Anybody can invent unknown addresses: after ``REFUSALS_RECORDED`` from one client in
    ``REFUSALS_WINDOW``, the entry is rolled back. Takes equally long for unregistered addresses.

    Args:
        user_id: the person with the address, or None.
        email: the address as it was typed.
        reason: a word for the reason; None for a wrong password.
    """
    is_kept = count_refusal(current_client()) or user_id is not None
    with db.session.begin_nested() as entry:
        write_entry(
            "person.sign_in_refused",
            Target("person", user_id, email),
            account_id=log_of(user_id or ""),
            actor=Actor.person(user_id, email),
            changes=changes_of_new({"reason": reason}),
            refused=True,
        )
        if not is_kept:
            entry.rollback()


def log_of(user_id: str) -> str:
    """The log for entries about a person: an account's id, or INSTANCE.

    For a signed-in person it is the account in which they work, else the one that they joined
    first: inviting somebody must not reveal from where they sign in.
    """
    signed_in: SignedIn | None = g.get("person")
    if signed_in is not None and signed_in.user_id == user_id and signed_in.account_id:
        return signed_in.account_id
    first = min(memberships_of(user_id), key=lambda row: row.joined_at, default=None)
    return INSTANCE if first is None else str(first.id)
