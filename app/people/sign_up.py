"""Signing up: person and account are created once the mailed link and the password are combined.

The address is looked up when the mail is sent, not by the request, so that neither the response nor
its timing reveals who is registered. As the link needs the password too, nobody can create an
account for somebody else's address with a password that they chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import bindparam, delete, select

from app.account.service import open_account
from app.audit.origin import Actor
from app.auth.people import EmailTaken, find_person, is_registered
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.mail.service import queue_mail
from app.models import Account, SignUp, User
from app.policy.people import SIGN_UP_LIFE
from app.security import tokens
from app.security.passwords import hash_password
from app.settings.current import current_settings
from app.site import instance_state
from app.values import clock
from app.values.folding import fold_text
from app.values.ids import new_id

MAIL: Final = "sign_up"
_CONFIRM: Final = "confirm_sign_up"
_KNOWN: Final = "sign_up_known"

_BY_HASH = CompiledQuery(
    select(SignUp.email, SignUp.name, SignUp.account_name, SignUp.password_hash).where(
        SignUp.token_hash == bindparam("token_hash"), SignUp.expires_at > bindparam("now")
    )
)


def is_open() -> bool:
    """True if anybody may sign up."""
    return instance_state.sign_up() == instance_state.OPEN


def request_sign_up(
    *, name: str, email: str, password: str, account_name: str, account_slug: str
) -> None:
    """Store a sign-up and mail its link. All values must be valid.

    Args:
        account_slug: derived from the name if it is empty.
    """
    token, now = tokens.new_token(tokens.LINK), clock.now()
    token_hash = tokens.hash_token(token)
    row = SignUp(
        token_hash=token_hash,
        email=email,
        name=name,
        password_hash=hash_password(password),
        account_name=account_name,
        account_slug=account_slug,
        created_at=now,
        expires_at=now + SIGN_UP_LIFE,
    )
    db.session.add(row)
    queue_mail(MAIL, email, cause=f"sign_up:{token_hash}", values={"token": token})


def _resolve_mail(recipient: str, values: dict[str, Any]) -> Resolved:
    """The mail to send for a sign-up: the link, or a notice that the address is registered.

    The link comes without the names that were typed: they could be a message to a stranger.

    None if the address was mailed too often or is too similar to somebody else's, if the link has
    expired, or if sign-up is no longer open.
    """
    if is_over_mail_limit(recipient, (_CONFIRM, _KNOWN)):
        return None
    public_url = current_settings().public_url
    if not is_open() or find_sign_up(values["token"]) is None:
        return None
    try:
        person = find_person(recipient)
    except EmailTaken:
        return None
    if person is None or not is_registered(person):
        return _CONFIRM, {"link": f"{public_url}/register/confirm/{values['token']}"}
    own = SignUp.token_hash == tokens.hash_token(values["token"])
    db.session.execute(delete(SignUp).where(own))
    links = {
        "sign_in_link": f"{public_url}/login",
        "reset_link": f"{public_url}/forgot-password",
    }
    return _KNOWN, {"name": person.name} | links


def find_sign_up(token: str) -> Any:
    """The sign-up of a link, or None if the link is invalid or has expired: a row with ``email``,
    ``name``, ``account_name`` and ``password_hash``."""
    if not tokens.is_well_formed(token, tokens.LINK):
        return None
    return _BY_HASH.first(token_hash=tokens.hash_token(token), now=clock.now())


def finish_sign_up(token: str) -> tuple[User, Account] | None:
    """Create the person and their account. The caller must have checked the password.

    Returns None if the link has just been used, or the address has just been registered.
    """
    now = clock.now()
    statement = (
        delete(SignUp)
        .where(SignUp.token_hash == tokens.hash_token(token), SignUp.expires_at > now)
        .returning(
            SignUp.email,
            SignUp.name,
            SignUp.password_hash,
            SignUp.account_name,
            SignUp.account_slug,
        )
    )
    row = db.session.execute(statement).one_or_none()
    person = None if row is None else create_person(row.email, row.name, row.password_hash)
    if row is None or person is None:
        return None
    actor = Actor.person(person.id, person.email)
    slug = row.account_slug or None
    return person, open_account(row.account_name, person, slug=slug, actor=actor)


def create_person(email: str, name: str, password_hash: str | None = None) -> User | None:
    """Create a person whose address was verified, or complete one who was only invited.

    Returns None if the address is taken.

    Args:
        password_hash: None if they sign in another way, which the caller adds.
    """
    now = clock.now()
    try:
        person = find_person(email, lock=True)
    except EmailTaken:
        return None
    if person is None:
        person = User(id=new_id("user"), email=email, email_key=fold_text(email), created_at=now)
        db.session.add(person)
    elif is_registered(person):
        return None
    person.name = name
    person.password_hash = password_hash
    person.email_verified_at = now
    person.updated_at = now
    return person


RESOLVERS: Final[Mapping[str, Resolver]] = {MAIL: _resolve_mail}
