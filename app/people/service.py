"""What a person can do about themselves: name, password, accounts; and which mails they get."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from flask import current_app
from sqlalchemy import func, select, update

from app.account.service import open_account
from app.auth.sessions import end_sessions
from app.core import clock
from app.core.clock import format_time
from app.core.passwords import hash_password
from app.extensions import db
from app.mail.service import queue_mail
from app.members.service import find_invitation
from app.models import Mail, User
from app.people import links, sign_up
from app.people.brake import brake_key, forget_tries
from app.people.passwords import KnownBrowser as KnownBrowser  # these for other rooms
from app.people.passwords import begin_own as begin_own
from app.people.passwords import is_right as is_right
from app.policy.people import MAILS_AN_HOUR

# Mails that are counted together, for each address; the first are those that anybody can have sent.
_SIGN_UPS: Final = ("confirm_sign_up", "sign_up_known")
_RESETS: Final = (links.RESET,)
_INVITATION: Final = "invitation"
_CHANGED: Final = "password_changed"


def reset_password(token: str, found: Any, password: str, address: str) -> bool:
    """Set the password of the person whose link this is. False when somebody was first.

    The link came to their address, so that is proved too.
    """
    hashed = hash_password(password)  # before the transaction begins: others wait for it
    if links.claim_link(links.RESET, token) is None:
        return False
    set_password(found.id, hashed, address=address)
    verify_address(found.id)
    forget_tries(brake_key(found.email))
    return True


def rename_person(user_id: str, name: str) -> None:
    """Change a person's name."""
    row = update(User).where(User.id == user_id)
    db.session.execute(row.values(name=name, updated_at=clock.now()))


def set_password(user_id: str, hashed: str, *, address: str) -> None:
    """Set a person's password, end all their sessions and tell them.

    Links that were mailed before stay good: who knows the password, and should not, cannot take
    them away by changing it.

    Args:
        hashed: what ``hash_password`` gave for the new one.
        address: of the client that does so, for the mail.
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
    """Let somebody who was invited become a person who can sign in. False when they can already."""
    row = update(User).where(User.id == user_id, User.password_hash.is_(None))
    moment = clock.now()
    values = {"name": name, "password_hash": hash_password(password), "updated_at": moment}
    result: Any = db.session.execute(row.values(values))
    return bool(result.rowcount)


def open_own_account(user_id: str, name: str, slug: str | None) -> str:
    """A new account, of which the person is the owner. Returns its id."""
    person = db.session.get_one(User, user_id)
    return open_account(name, person, slug=slug).id


def send_verification(user_id: str, email: str, name: str) -> None:
    """Mail a person a link that proves the address to be theirs."""
    links.drop_links(links.VERIFY, user_id)
    links.request_verification(user_id, email, name)


def verify_address(user_id: str) -> None:
    """The person has followed a link that was mailed to their address."""
    row = update(User).where(User.id == user_id, User.email_verified_at.is_(None))
    db.session.execute(row.values(email_verified_at=clock.now()))


def resolve_mail(
    kind: str, recipient: str, values: dict[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    """The mail that is sent for a queued one, or None when nobody gets any.

    Called once, in the transaction that keeps the outcome.
    """
    if kind == sign_up.MAIL:
        is_full = _too_many(recipient, _SIGN_UPS)
        return None if is_full else sign_up.mail_of_sign_up(recipient, values)
    if kind == links.FORGOT:
        return None if _too_many(recipient, _RESETS) else links.mail_of_reset(recipient)
    if kind == _INVITATION:
        return None if _is_spent(recipient, values) else (kind, values)
    if kind == _CHANGED and _too_many(recipient, (_CHANGED,)):
        return None
    return kind, values


def _is_spent(recipient: str, values: dict[str, Any]) -> bool:
    """Whether an invitation was taken back, or its account has mailed too many to the address."""
    found = find_invitation(values["link"].rpartition("/")[2])
    return found is None or _too_many(
        recipient, (_INVITATION,), f"{_INVITATION}:{found.account_id}"
    )


def _too_many(recipient: str, kinds: tuple[str, ...], cause: str = "") -> bool:
    """Whether so many mails of these kinds were sent to an address that it gets no more for a
    while.

    Args:
        cause: only those are counted whose cause begins so.
    """
    recent = select(func.count()).where(
        Mail.created_at > clock.now() - timedelta(hours=1),
        func.lower(Mail.recipient) == recipient.lower(),
        Mail.kind.in_(kinds),
        Mail.cause.startswith(cause, autoescape=True),
        Mail.sent_at.is_not(None),
    )
    return bool(db.session.scalars(recent).one() >= MAILS_AN_HOUR)
