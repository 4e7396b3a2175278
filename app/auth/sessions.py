"""Sessions: browsers in which somebody is signed in.

The cookie holds an opaque token and the database its hash, so that a session ends with its row,
for every process at the next request.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, select, update

from app.auth import last_use
from app.auth.grace_period import MUST_TURN_ON, due_at, is_overdue
from app.auth.pending_sign_ins import delete_pending
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden, Unauthorized
from app.models import Account, Membership, Session, User
from app.policy.people import SESSION_IDLE, SESSION_LIFE, SESSIONS_PER_PERSON
from app.policy.permissions import ROLES, expand_permissions
from app.security import tokens
from app.security.callers import note_account
from app.values import clock
from app.values.ids import new_id

_BY_HASH = CompiledQuery(
    select(
        Session.id.label("session_id"),
        Session.created_at,
        Session.last_used_at,
        Session.confirmed_at,
        Session.user_id,
        User.email,
        User.name,
        User.email_verified_at,
        User.time_zone,
        User.locale.label("locale"),
        User.area_unit,
        User.second_factor_since,
        User.operator_since,
        Account.id.label("account_id"),
        Account.name.label("account_name"),
        Account.plan,
        Account.deletes_at,
        Account.second_factor_required_at,
        Account.second_factor_grace_days,
        Membership.role,
        Membership.joined_at,
    )
    .join(User, User.id == Session.user_id)
    .outerjoin(
        Membership,
        and_(
            Membership.account_id == Session.current_account_id,
            Membership.user_id == Session.user_id,
            Membership.joined_at.is_not(None),
        ),
    )
    .outerjoin(Account, Account.id == Membership.account_id)
    .where(Session.token_hash == bindparam("token_hash"))
)
_OF_PERSON = CompiledQuery(
    select(Session.id, Session.address, Session.browser, Session.created_at, Session.last_used_at)
    .where(Session.user_id == bindparam("user_id"))
    .order_by(Session.last_used_at.desc(), Session.id.desc())
    .limit(SESSIONS_PER_PERSON)
)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The signed-in person, and the account that they work in, if any."""

    session_id: str
    user_id: str
    email: str
    name: str
    is_verified: bool  # the email address is verified
    account_id: str | None
    account_name: str
    account_deletes_at: datetime | None  # the scheduled deletion, if any
    plan: str
    role: str
    last_used_at: datetime | None  # as saved, up to a minute late; None for the first use
    time_zone: str | None  # None, like the next, for the browser's
    locale: str | None
    area_unit: str | None  # app.values.formats; None for hectares
    has_second_factor: bool
    # The time until which they must turn one on to stay in the account; None without.
    second_factor_due_at: datetime | None
    # The last confirmation in this session by second factor or, without one, by password.
    confirmed_at: datetime | None
    is_operator: bool  # an operator of the instance

    @property
    def is_account_due(self) -> bool:
        """True if the deletion of their account is due and cannot be canceled anymore."""
        return self.account_deletes_at is not None and self.account_deletes_at <= clock.now()

    @property
    def is_overdue(self) -> bool:
        """True if their account is closed to them until they turn on a second factor."""
        return is_overdue(self.second_factor_due_at)


def start_session(
    user_id: str,
    account_id: str | None,
    *,
    address: str,
    browser: str,
    confirmed: bool = False,
) -> str:
    """Sign a person in, in the open transaction. Returns the token for the cookie.

    Only their last ``SESSIONS_PER_PERSON`` sessions are kept.

    Args:
        confirmed: they have just confirmed by second factor or, without one, by password.
    """
    own = select(Session.id).where(Session.user_id == user_id)
    last = own.order_by(Session.last_used_at.desc(), Session.id.desc())
    last_used = last.limit(SESSIONS_PER_PERSON - 1)
    db.session.execute(
        delete(Session).where(Session.user_id == user_id, Session.id.not_in(last_used))
    )
    token = tokens.new_token(tokens.SESSION)
    moment = clock.now()
    row = Session(
        id=new_id("session"),
        user_id=user_id,
        current_account_id=account_id,
        token_hash=tokens.hash_token(token),
        address=address[:45],
        browser=browser[:300],
        created_at=moment,
        last_used_at=moment,
        confirmed_at=moment if confirmed else None,
    )
    db.session.add(row)
    return token


def find_session(token: str) -> SignedIn | None:
    """The person whose session has this token; None if there is none, or it has ended."""
    if not tokens.is_well_formed(token, tokens.SESSION):
        return None
    token_hash = tokens.hash_token(token)
    row = _BY_HASH.first(token_hash=token_hash)
    if row is None or _has_ended(row, clock.now()):
        return None
    note_account(token_hash, row.account_id or row.user_id)
    return SignedIn(
        session_id=row.session_id,
        user_id=row.user_id,
        email=row.email,
        name=row.name,
        is_verified=row.email_verified_at is not None,
        account_id=row.account_id,
        account_name=row.account_name or "",
        account_deletes_at=row.deletes_at,
        plan=row.plan or "",
        role=row.role or "",
        last_used_at=row.last_used_at if row.last_used_at > row.created_at else None,
        time_zone=row.time_zone,
        locale=row.locale,
        area_unit=row.area_unit,
        has_second_factor=row.second_factor_since is not None,
        second_factor_due_at=None if row.account_id is None else due_at(row),
        confirmed_at=row.confirmed_at,
        is_operator=row.operator_since is not None,
    )


def principal_of(person: SignedIn) -> Principal:
    """The principal of a person in the account that they work in, by their current role.

    Raises:
        Unauthorized: they belong to no account.
        Forbidden: it requires a second factor, and their grace period is over.
    """
    if person.account_id is None:
        raise Unauthorized
    if person.is_overdue:
        raise Forbidden("second_factor", MUST_TURN_ON)
    return Principal(
        kind="session",
        credential_id=person.session_id,
        account_id=person.account_id,
        account_name=person.account_name,
        plan=person.plan,
        permissions=expand_permissions(ROLES[person.role]),
        user_id=person.user_id,
        user_email=person.email,
        last_used_at=person.last_used_at,
    )


def list_sessions(user_id: str) -> list[Any]:
    """The sessions of a person that have not ended, the last used first."""
    moment = clock.now()
    return [row for row in _OF_PERSON.all(user_id=user_id) if not _has_ended(row, moment)]


def switch_account(session_id: str, account_id: str | None) -> None:
    """Set the account that a session works in; None for none.

    The caller checks that the person belongs to it.
    """
    own = update(Session).where(Session.id == session_id)
    db.session.execute(own.values(current_account_id=account_id))


def end_session(user_id: str, session_id: str) -> bool:
    """End one session of a person. Returns False if there is none."""
    own = delete(Session).where(Session.id == session_id, Session.user_id == user_id)
    result: Any = db.session.execute(own)
    return bool(result.rowcount)


def confirm_session(session_id: str) -> None:
    """Save that the person of a session has just confirmed their identity."""
    own = update(Session).where(Session.id == session_id)
    db.session.execute(own.values(confirmed_at=clock.now()))


def end_confirmations(user_id: str) -> None:
    """Require a new confirmation in each session of a person."""
    own = update(Session).where(Session.user_id == user_id)
    db.session.execute(own.values(confirmed_at=None))


def end_sessions(user_id: str, *, but: str | None = None) -> None:
    """End all sessions of a person, or all but one, and their pending sign-ins."""
    delete_pending(user_id)
    own = delete(Session).where(Session.user_id == user_id)
    db.session.execute(own if but is None else own.where(Session.id != but))


def save_session_use(person: SignedIn) -> None:
    """Save the use of a session, and the activity of its person."""
    ids, touches = {"id": person.session_id, "user_id": person.user_id}, [last_use.SESSION]
    if person.account_id is not None:
        ids["account_id"] = person.account_id
        touches.append(last_use.MEMBER)
    last_use.save_last_use(person.last_used_at, ids, *touches)


def _has_ended(row: Any, moment: datetime) -> bool:
    return bool(
        moment - row.last_used_at >= SESSION_IDLE or moment - row.created_at >= SESSION_LIFE
    )
