"""What a person can do about themselves: name, password, accounts."""

from __future__ import annotations

from typing import Any

from flask import current_app
from sqlalchemy import update

from app.account.service import open_account
from app.auth.memberships import memberships_of
from app.auth.sessions import end_sessions
from app.db.extensions import db
from app.http.errors import Forbidden
from app.mail.service import queue_mail
from app.models import User
from app.people import links
from app.people.login_throttle import reset_attempts, throttle_key
from app.people.passwords import check_password as check_password  # re-exported
from app.people.passwords import count_own_attempt as count_own_attempt
from app.security.passwords import hash_password
from app.values import clock
from app.values.clock import format_time


def reset_password(token: str, found: Any, password: str, address: str) -> bool:
    """Set a new password with a mailed link. False if the link was just used.

    Following the link also verifies the person's address.

    Args:
        found: the row of ``links.find_link``.
        address: the client's IP address, for the mail.
    """
    hashed = hash_password(password)  # slow, so before any row is locked
    if links.claim_link(links.RESET, token) is None:
        return False
    set_password(found.id, hashed, address=address)
    verify_address(found.id)
    reset_attempts(throttle_key(found.email))
    return True


def rename_person(user_id: str, name: str) -> None:
    """Change a person's name."""
    row = update(User).where(User.id == user_id)
    db.session.execute(row.values(name=name, updated_at=clock.now()))


def set_times(user_id: str, time_zone: str | None, date_format: str | None) -> None:
    """Set a person's zone and how they have dates written (``app.policy.dates``). None: as their
    browser does."""
    row = update(User).where(User.id == user_id)
    values = {"time_zone": time_zone, "date_format": date_format, "updated_at": clock.now()}
    db.session.execute(row.values(values))


def set_password(user_id: str, hashed: str, *, address: str | None) -> None:
    """Set a person's password, end all their sessions and notify them by mail.

    Links mailed before stay valid, so that an intruder who changes the password cannot invalidate
    the owner's reset link.

    Args:
        hashed: the new password, hashed by ``hash_password``.
        address: the client's IP address, for the mail; None: the operator of the instance does it.
    """
    moment, here = clock.now(), current_app.config["SETTINGS"].public_url
    row = update(User).where(User.id == user_id).values(password_hash=hashed, updated_at=moment)
    person = db.session.execute(row.returning(User.email, User.name)).one()
    end_sessions(user_id)
    values = {
        "name": person.name,
        "when": format_time(moment),
        "address": address,
        "reset_link": f"{here}/forgot-password",
        "applications_link": f"{here}/applications",
    }
    cause = f"password_changed:{user_id}:{format_time(moment)}"
    queue_mail("password_changed", person.email, cause=cause, values=values)


def set_first_password(user_id: str, name: str, password: str) -> bool:
    """Give an invited person a password and a name. False if they already have a password."""
    row = update(User).where(User.id == user_id, User.password_hash.is_(None))
    moment = clock.now()
    values = {"name": name, "password_hash": hash_password(password), "updated_at": moment}
    result: Any = db.session.execute(row.values(values))
    return bool(result.rowcount)


def own_account_problem(user_id: str) -> str | None:
    """Why a person may not create another account of their own, as a sentence for them, or None."""
    limit = current_app.config["SETTINGS"].accounts_per_person
    owned = sum(row.role == "owner" for row in memberships_of(user_id))
    if owned < limit:
        return None
    if limit == 0:
        return "Only whoever runs this instance can create accounts here. Ask them for one."
    return (
        f"You own {owned} {'account' if owned == 1 else 'accounts'}, and cannot create more here. "
        "Leave one first, or ask whoever runs this instance."
    )


def open_own_account(user_id: str, name: str, slug: str | None) -> str:
    """Create an account owned by this person. Returns its id.

    Raises Forbidden if they own as many as a person may.
    """
    # Locked, so that concurrent requests of one person see each other's accounts.
    person = db.session.get_one(User, user_id, with_for_update=True)
    if problem := own_account_problem(user_id):
        raise Forbidden(problem)
    return open_account(name, person, slug=slug).id


def send_verification(user_id: str, email: str, name: str) -> None:
    """Mail a person a new verification link; earlier ones become invalid."""
    links.delete_links(links.VERIFY, user_id)
    links.request_verification(user_id, email, name)


def verify_address(user_id: str) -> None:
    """Mark a person's address as verified, if it is not yet."""
    row = update(User).where(User.id == user_id, User.email_verified_at.is_(None))
    db.session.execute(row.values(email_verified_at=clock.now()))
