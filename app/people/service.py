"""Changes to people: their names, passwords, addresses, sessions and own accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import NoResultFound

from app.account.service import open_account
from app.audit.entries import changes_between
from app.auth.login_throttle import reset_attempts, throttle_key
from app.auth.memberships import memberships_of
from app.auth.people import IS_REGISTERED
from app.auth.sessions import SignedIn, end_session, end_sessions, list_sessions
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden, InvalidField
from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.mail.service import queue_mail
from app.models import User
from app.people import mailed_links
from app.people.auditing import write_person_entry
from app.security.passwords import hash_password, password_problem
from app.settings.current import current_settings
from app.values import clock
from app.values.clock import format_time
from app.values.ids import is_id
from app.values.records import set_columns
from app.values.text import pluralize

_CHANGED: Final = "password_changed"  # a mail
_CONTACT = CompiledQuery(
    select(
        User.id,
        User.email,
        User.name,
        User.password_hash.is_not(None).label("has_password"),
        User.second_factor_since.is_not(None).label("has_second_factor"),
    ).where(User.id == bindparam("user_id"))
)


def find_contact(user_id: str) -> Any:
    """Read the ``id``, ``email``, ``name``, ``has_password`` and ``has_second_factor`` of a person.

    Raises:
        NoResultFound: they have just been deleted.
    """
    contact = _CONTACT.first(user_id=user_id)
    if contact is None:
        raise NoResultFound
    return contact


def reset_password(token: str, person: Any, password: str, address: str) -> bool:
    """Set a new password with a mailed link. Returns False if the link was just used.

    Following the link also verifies the person's address.

    Args:
        person: the row of ``mailed_links.find_link``.
        address: the client's IP address, for the mail.
    """
    hashed = hash_password(password)  # slow, so before any row is locked
    if mailed_links.claim_link(mailed_links.RESET, token) is None:
        return False
    set_password(person.id, hashed, address=address)
    verify_address(person.id, is_audited=True)
    reset_attempts(throttle_key(person.email))
    return True


def write_sign_in_entry(user_id: str) -> None:
    """Write the entry of a person's sign-in, in the current transaction."""
    write_person_entry("person.signed_in", db.session.get_one(User, user_id), by_themselves=True)


def sign_out(person: SignedIn) -> None:
    """End the session of a signed-in person."""
    if end_session(person.user_id, person.session_id):
        write_person_entry("person.signed_out", db.session.get_one(User, person.user_id))


def end_session_by_id(person: SignedIn, session_id: str) -> bool:
    """End one session of a signed-in person. Returns False if there is none with this id."""
    ended = is_id("session", session_id) and end_session(person.user_id, session_id)
    if ended:
        changes = {"session": {"from": session_id, "to": None}}
        write_person_entry(
            "person.sessions_ended", db.session.get_one(User, person.user_id), changes
        )
    return ended


def end_other_sessions(person: SignedIn) -> None:
    """End all sessions of a signed-in person but the current one."""
    end_sessions(person.user_id, but=person.session_id)
    write_person_entry("person.sessions_ended", db.session.get_one(User, person.user_id))


def sign_out_everywhere(person: dict[str, Any]) -> int:
    """End all sessions of a person. Returns the number of open ones. The caller commits."""
    number = len(list_sessions(person["id"]))
    end_sessions(person["id"])
    write_person_entry("person.sessions_ended", db.session.get_one(User, person["id"]))
    return number


def rename_person(user_id: str, name: str) -> None:
    """Change a person's name."""
    person = db.session.get_one(User, user_id)
    if person.name == name:
        return
    write_person_entry("person.updated", person, {"name": {"from": person.name, "to": name}})
    person.name, person.updated_at = name, clock.now()


def set_formats(user_id: str, **chosen: str | None) -> None:
    """Set a person's ``locale``, ``time_zone`` and ``area_unit``; None for those of their browser
    and for hectares."""
    person = db.session.get_one(User, user_id)
    if changes := changes_between({name: getattr(person, name) for name in chosen}, chosen):
        write_person_entry("person.updated", person, changes)
        set_columns(person, chosen)


def set_password(user_id: str, hashed: str, *, address: str | None) -> None:
    """Set a person's password, end all their sessions and notify them by mail.

    Links mailed before stay valid, so that an intruder who changes the password cannot invalidate
    the owner's reset link.

    Args:
        hashed: the new password, hashed by ``hash_password``.
        address: the client's IP address, for the mail; None if the operator of the instance acts.
    """
    now, here = clock.now(), current_settings().public_url
    row = update(User).where(User.id == user_id).values(password_hash=hashed, updated_at=now)
    person = db.session.execute(row.returning(User.id, User.email, User.name)).one()
    write_person_entry("person.password_changed", person, by_themselves=address is not None)
    end_sessions(user_id)
    values = {
        "name": person.name,
        "when": format_time(now),
        "address": address,
        "reset_link": f"{here}/forgot-password",
        "applications_link": f"{here}/applications",
    }
    cause = f"{_CHANGED}:{user_id}:{format_time(now)}"
    queue_mail(_CHANGED, person.email, cause=cause, values=values)


def check_new_password(person: dict[str, Any], password: str) -> None:
    """Raise ValidationFailed if a person cannot have this password."""
    if problem := password_problem(password, (person["name"], person["email"])):
        raise InvalidField("password", problem, "invalid")


def replace_password(person: dict[str, Any], password: str) -> None:
    """Set a person's password as the operator of the instance, end their sessions and notify them
    by mail. Attempts with wrong passwords are forgotten. The caller commits."""
    set_password(person["id"], hash_password(password), address=None)
    reset_attempts(throttle_key(person["email"]))


def set_first_password(user_id: str, name: str, password: str) -> bool:
    """Give an invited person a password and a name. Returns False if they have just signed up."""
    row = update(User).where(User.id == user_id, ~IS_REGISTERED)
    values = {
        "name": name,
        "password_hash": hash_password(password),
        "updated_at": clock.now(),
    }
    result: Any = db.session.execute(row.values(values))
    return bool(result.rowcount)


def own_account_problem(user_id: str) -> str | None:
    """The reason why a person may not create another account, as a sentence for them, or None."""
    limit = current_settings().accounts_per_person
    owned = sum(row.role == "owner" for row in memberships_of(user_id))
    if owned < limit:
        return None
    if limit == 0:
        return "Only whoever runs this instance can create accounts here. Ask them for one."
    return (
        f"You own {pluralize(owned, 'account')}, and cannot create more here. "
        "Leave one first, or ask whoever runs this instance."
    )


def open_own_account(user_id: str, name: str, slug: str | None) -> str:
    """Create an account owned by this person. Returns its id.

    Raises:
        Forbidden: they own as many as a person may.
    """
    # Locked, so that concurrent requests of one person see each other's accounts.
    person = db.session.get_one(User, user_id, with_for_update=True)
    if problem := own_account_problem(user_id):
        raise Forbidden("plan_limit", problem)
    return open_account(name, person, slug=slug).id


def send_verification(user_id: str, email: str, name: str) -> None:
    """Mail a person a new verification link; earlier ones become invalid."""
    mailed_links.delete_links(mailed_links.VERIFY, user_id)
    mailed_links.request_verification(user_id, email, name)


def verify_address(user_id: str, *, is_audited: bool = False) -> None:
    """Mark a person's address as verified, if it is not yet.

    Args:
        is_audited: another entry of the audit log already covers this.
    """
    person = db.session.get_one(User, user_id, with_for_update=True)
    if person.email_verified_at is not None:
        return
    person.email_verified_at = clock.now()
    if not is_audited:
        write_person_entry("person.email_verified", person, by_themselves=True)


def _resolve_mail(recipient: str, values: dict[str, Any]) -> Resolved:
    """The mail about a new password, or None if the address was mailed too often."""
    return None if is_over_mail_limit(recipient, (_CHANGED,)) else (_CHANGED, values)


RESOLVERS: Final[Mapping[str, Resolver]] = {_CHANGED: _resolve_mail}
