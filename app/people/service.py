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
from app.people.passwords import begin_own as begin_own  # these for other rooms
from app.people.passwords import is_right as is_right
from app.policy.people import MAILS_AN_HOUR

# Mails that somebody can have sent to an address without knowing more than it.
_UNASKED: Final = ("confirm_sign_up", "sign_up_known", links.RESET)
_INVITATION: Final = "invitation"


def reset_password(token: str, found: Any, password: str, address: str) -> bool:
    """Set the password of the person whose link this is. False when somebody was first.

    The link came to their address, so that is proved too.
    """
    if links.claim_link(links.RESET, token) is None:
        return False
    set_password(found.id, password, address=address)
    verify_address(found.id)
    forget_tries(brake_key(found.email))
    return True


def rename_person(user_id: str, name: str) -> None:
    """Change a person's name."""
    row = update(User).where(User.id == user_id)
    db.session.execute(row.values(name=name, updated_at=clock.now()))


def set_password(user_id: str, password: str, *, address: str, but: str | None = None) -> None:
    """Set a person's password, end their sessions and tell them.

    Args:
        address: of the client that does so, for the mail.
        but: the session that may go on.
    """
    moment = clock.now()
    row = (
        update(User)
        .where(User.id == user_id)
        .values(password_hash=hash_password(password), updated_at=moment)
    )
    person = db.session.execute(row.returning(User.email, User.name)).one()
    end_sessions(user_id, but=but)
    links.drop_links(links.RESET, user_id)
    values = {
        "name": person.name,
        "when": format_time(moment),
        "address": address,
        "reset_link": f"{current_app.config['SETTINGS'].public_url}/forgot-password",
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
    if kind in (sign_up.MAIL, links.FORGOT):
        if _too_many(recipient, _UNASKED):
            return None
        if kind == sign_up.MAIL:
            return sign_up.mail_of_sign_up(recipient, values)
        return links.mail_of_reset(recipient)
    if kind == _INVITATION:
        is_over = find_invitation(values["link"].rpartition("/")[2]) is None
        return None if is_over or _too_many(recipient, (_INVITATION,)) else (kind, values)
    return kind, values


def _too_many(recipient: str, kinds: tuple[str, ...]) -> bool:
    """Whether others had so many mails sent to an address that it gets no more for a while."""
    recent = select(func.count()).where(
        Mail.created_at > clock.now() - timedelta(hours=1),
        func.lower(Mail.recipient) == recipient.lower(),
        Mail.kind.in_(kinds),
        Mail.sent_at.is_not(None),
    )
    return bool(db.session.scalars(recent).one() >= MAILS_AN_HOUR)
