"""Mailed links: one to reset a password, one to verify an email address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import current_app
from sqlalchemy import bindparam, delete, select

from app.auth.people import IS_REGISTERED, EmailTaken, find_person, is_registered
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.mail.service import queue_mail
from app.models import MailedLink, User
from app.people.sign_up import is_open
from app.policy.people import RESET_LIFE, VERIFICATION_LIFE
from app.security import tokens
from app.values import clock

RESET: Final = "reset_password"
VERIFY: Final = "verify_email"
FORGOT: Final = "forgot_password"  # queued for any address, registered or not

_PATHS: Final = {RESET: "reset-password", VERIFY: "verify-email"}
_LIVES: Final = {RESET: RESET_LIFE, VERIFY: VERIFICATION_LIFE}
_BY_HASH = CompiledQuery(
    select(User.id, User.email, User.name, IS_REGISTERED.label("is_registered"))
    .join(MailedLink, MailedLink.user_id == User.id)
    .where(
        MailedLink.token_hash == bindparam("token_hash"),
        MailedLink.purpose == bindparam("purpose"),
        MailedLink.expires_at > bindparam("now"),
    )
)


def request_reset(email: str) -> None:
    """Queue a password reset. The address is looked up only when the mail is sent."""
    nonce = tokens.hash_token(tokens.new_token(tokens.LINK))
    queue_mail(FORGOT, email, cause=f"{FORGOT}:{nonce}", values={})


def resolve_reset_mail(recipient: str, _: dict[str, Any]) -> Resolved:
    """The reset mail with a new link; None if nobody has this address, or it was mailed too often.

    Somebody who was invited and has not joined gets one only while anybody may sign up: with the
    link they would have a password, and could sign in without the invitation.
    """
    if is_over_mail_limit(recipient, (RESET,)):
        return None
    try:
        person = find_person(recipient)
    except EmailTaken:
        return None
    if person is None or not (is_registered(person) or is_open()):
        return None
    return RESET, {"name": person.name, "link": _new_link(RESET, person.id)}


def request_verification(user_id: str, email: str, name: str) -> None:
    """Mail a person a link that verifies their address."""
    link = _new_link(VERIFY, user_id)
    values = {"name": name, "link": link}
    queue_mail(VERIFY, email, cause=f"{VERIFY}:{tokens.hash_token(link)}", values=values)


def find_link(purpose: str, token: str) -> Any:
    """The person a link was mailed to, or None if it is invalid or has expired: a row with ``id``,
    ``email``, ``name`` and ``is_registered``."""
    if not tokens.is_well_formed(token, tokens.LINK):
        return None
    return _BY_HASH.first(token_hash=tokens.hash_token(token), purpose=purpose, now=clock.now())


def claim_link(purpose: str, token: str) -> str | None:
    """Use a link, which invalidates the person's other links for the same purpose.

    Returns the person's id, or None if the link is invalid, has expired or was just used.
    """
    statement = (
        delete(MailedLink)
        .where(
            MailedLink.token_hash == tokens.hash_token(token),
            MailedLink.purpose == purpose,
            MailedLink.expires_at > clock.now(),
        )
        .returning(MailedLink.user_id)
    )
    user_id: str | None = db.session.scalars(statement).one_or_none()
    if user_id is not None:
        delete_links(purpose, user_id)
    return user_id


def delete_links(purpose: str, user_id: str) -> None:
    """Invalidate all links that a person has for this purpose."""
    own = delete(MailedLink).where(MailedLink.user_id == user_id, MailedLink.purpose == purpose)
    db.session.execute(own)


def _new_link(purpose: str, user_id: str) -> str:
    token, now = tokens.new_token(tokens.LINK), clock.now()
    row = MailedLink(
        token_hash=tokens.hash_token(token),
        purpose=purpose,
        user_id=user_id,
        created_at=now,
        expires_at=now + _LIVES[purpose],
    )
    db.session.add(row)
    return f"{current_app.config['SETTINGS'].public_url}/{_PATHS[purpose]}/{token}"


RESOLVERS: Final[Mapping[str, Resolver]] = {FORGOT: resolve_reset_mail}
