"""Inviting people, and the mailed link with which they join."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from flask import current_app
from sqlalchemy import bindparam, func, select, update

from app.account.members.locking import Member, begin_change, find_membership, lock_member
from app.account.members.record import name_from_email
from app.account.members.rules import check_manages
from app.auth.people import IS_REGISTERED, EmailTaken, find_person, is_registered
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import EventActor, emit_event
from app.http.errors import Conflict, Forbidden, InvalidField
from app.limits.plan_file import plan_of
from app.mail.resolvers import Resolved, Resolver, is_over_mail_limit
from app.mail.service import queue_mail
from app.models import Account, Mail, Membership, User
from app.policy.people import INVITATION_LIFE
from app.policy.request_limits import INVITATIONS_A_DAY
from app.security import tokens
from app.settings.current import current_settings
from app.site import instance_state
from app.usage.counters import count_member
from app.values import clock
from app.values.command_name import canopy_command
from app.values.email import email_problem
from app.values.folding import fold_text
from app.values.ids import new_id
from app.values.text import pluralize

MAIL: Final = "invitation"

_SEATS = columns_of(Membership).add_columns(func.count())
IS_OPEN: Final = (
    Membership.joined_at.is_(None),
    Membership.invitation_expires_at > bindparam("now"),
)
_PENDING = (Membership.invitation_hash == bindparam("token_hash"), *IS_OPEN)
_BY_TOKEN = CompiledQuery(
    select(
        Account.id.label("account_id"),
        Account.name.label("account_name"),
        User.id.label("user_id"),
        User.email,
        User.name,
        IS_REGISTERED.label("is_registered"),
        Membership.role,
        Membership.invitation_expires_at.label("expires_at"),
    )
    .select_from(Membership)
    .join(Account, Account.id == Membership.account_id)
    .join(User, User.id == Membership.user_id)
    .where(*_PENDING)
)
ACCEPTED: Final[Any] = {
    "joined_at": bindparam("now"),
    "last_active_at": bindparam("now"),
    "invitation_hash": None,
    "invitation_expires_at": None,
}
_ACCEPT = (
    update(Membership)
    .where(*_PENDING)
    .values(ACCEPTED)
    .returning(Membership.account_id, Membership.user_id)
)


class AcceptedInvitation(NamedTuple):
    """The account that was joined, and the person who joined it."""

    account_id: str
    user_id: str


class Invitation(NamedTuple):
    """An invited member's record, and the link that was mailed to them."""

    record: dict[str, Any]
    link: str


def invite_member(principal: Principal, *, email: str, role: str) -> dict[str, Any]:
    """Invite a person as ``send_invitation`` does, and return the member's record."""
    return send_invitation(principal, email=email, role=role).record


def send_invitation(principal: Principal, *, email: str, role: str) -> Invitation:
    """Invite a person, or send an invitation again with a new link and the role given now.

    Raises:
        ValidationFailed: the address is not valid.
        Forbidden: the caller may not invite, the account has sent too many invitations, the plan
            has no seat left, or sign-up is closed and the person would be new here.
        Conflict: the person already belongs to the account.
    """
    if problem := email_problem(email):
        raise InvalidField("email", problem, "wrong_format")
    account, actor = begin_change(principal)
    check_manages(actor)
    person = _find_person(email)
    if not actor.is_operator:
        _check_sent(account)
        if person is None or not is_registered(person):
            _check_new_people(email)
    membership = None if person is None else find_membership(account.id, person.id)
    is_new = membership is None
    if membership is None:
        _check_seats(account)
        person = person or _create_person(email)
        membership = Membership(account_id=account.id, user_id=person.id, created_at=clock.now())
        db.session.add(membership)
    elif membership.joined_at is not None:
        raise Conflict(
            "already_member", "email", "This person is already a member.", id=membership.user_id
        )
    assert person is not None
    former = None if is_new else membership.role
    membership.role = role
    link = _send_link(principal, account, membership, person)
    db.session.flush()
    member = Member(membership, person)
    emit_event("member.invited", member.record, EventActor.of(principal))
    member.audit("member.invited", principal, {"role": {"from": former, "to": role}})
    if is_new:
        count_member(account.id, 1)
    return Invitation(member.record, link)


def find_invitation(token: str) -> Any:
    """The invitation of a link, or None if the link is invalid, used or expired.

    The row has ``account_id``, ``account_name``, ``user_id``, ``email``, ``name``,
    ``is_registered``, ``role`` and ``expires_at``.
    """
    if not tokens.is_well_formed(token, tokens.LINK):
        return None
    return _BY_TOKEN.first(token_hash=tokens.hash_token(token), now=clock.now())


def accept_invitation(token: str) -> AcceptedInvitation | None:
    """Join the account in the current transaction. Returns None if the link is invalid, used or
    expired.

    A link works once, even in concurrent requests. It also verifies the person's address.
    """
    now = clock.now()
    values = {"token_hash": tokens.hash_token(token), "now": now}
    row = db.session.execute(_ACCEPT, values).one_or_none()
    return None if row is None else finish_joining(row, now)


def finish_joining(row: Any, now: datetime) -> AcceptedInvitation:
    """Verify the address of a person who has just joined an account, and emit the event."""
    unverified = update(User).where(User.id == row.user_id, User.email_verified_at.is_(None))
    db.session.execute(unverified.values(email_verified_at=now))
    account = db.session.get_one(Account, row.account_id)
    member = lock_member(account.id, row.user_id)
    emit_event("member.joined", member.record, EventActor(account.id, account.name))
    member.audit("member.joined", None)
    return AcceptedInvitation(account.id, row.user_id)


def _find_person(email: str) -> User | None:
    try:
        return find_person(email, keep=True)
    except EmailTaken:
        message = "Too similar to the address of another person. Use a different address."
        raise InvalidField("email", message, "invalid") from None


def _create_person(email: str) -> User:
    """Create a person without a password, or return the one of a concurrent invitation."""
    now, key = clock.now(), fold_text(email)
    row = insert_into(User).values(
        id=new_id("user"),
        email=email,
        email_key=key,
        name=name_from_email(email),
        created_at=now,
        updated_at=now,
    )
    db.session.execute(row.on_conflict_do_nothing(index_elements=[User.email_key]))
    return db.session.scalars(select(User).where(User.email_key == key)).one()


def _check_new_people(email: str) -> None:
    """Raise Forbidden if only the operator may add people who have not signed up."""
    settings = current_settings()
    if instance_state.sign_up(in_change=True) != instance_state.CLOSED:
        return
    contact = f" ({settings.support_email})" if settings.support_email else ""
    raise Forbidden(
        "sign_up_closed",
        f"{email} has not signed up, and sign-up is closed. Ask whoever runs this "
        f"instance{contact}.",
    )


def _check_sent(account: Account) -> None:
    """Raise Forbidden if the account has sent all the invitations of a day."""
    least, most = INVITATIONS_A_DAY
    seats = plan_of(account.plan).members
    limit = most if seats is None else min(max(least, seats), most)
    last = (
        select(Mail.created_at)
        .where(
            Mail.created_at > clock.now() - timedelta(days=1),
            Mail.kind == MAIL,
            Mail.cause.startswith(f"{MAIL}:{account.id}:", autoescape=True),
        )
        .order_by(Mail.created_at.desc())
        .offset(limit - 1)
        .limit(1)
    )
    sent_at = db.session.scalars(last).one_or_none()
    if sent_at is not None:
        again = clock.format_time(sent_at + timedelta(days=1))
        raise Forbidden(
            "plan_limit",
            f"An account on the plan {account.plan} can send {limit:,} invitations in 24 hours. It "
            f"can send the next one at {again}.",
        )


def _check_seats(account: Account) -> None:
    limit = plan_of(account.plan).members
    if limit is None:
        return
    current = db.session.execute(_SEATS, {"account_id": account.id}).scalar_one()
    if current >= limit:
        seats = pluralize(limit, "seat")
        all_seats = f"all {limit:,} are" if limit > 1 else "it is"
        command = f"{canopy_command()} account update {account.slug} --plan PLAN"
        raise Forbidden(
            "plan_limit",
            f"The plan {account.plan} includes {seats}, and {all_seats} taken. Ask whoever runs "
            f"this instance to change the plan ({command}).",
            f"The account has {current} of {limit:,} members, including invited people.",
        )


def _send_link(principal: Principal, account: Account, membership: Membership, person: User) -> str:
    """Give an invitation a new link, mail it to the person's address, and return it."""
    token, now = tokens.new_token(tokens.LINK), clock.now()
    membership.invited_at = now
    membership.invitation_hash = tokens.hash_token(token)
    membership.invitation_expires_at = now + INVITATION_LIFE
    inviter = db.session.get_one(User, principal.user_id)
    link = f"{current_app.config['SETTINGS'].public_url}/invitations/{token}"
    values = {
        "account_name": account.name,
        "inviter_name": inviter.name,
        "inviter_email": inviter.email,
        "role": membership.role,
        "link": link,
        "days": INVITATION_LIFE.days,
    }
    cause = f"{MAIL}:{account.id}:{membership.invitation_hash}"
    queue_mail(MAIL, person.email, cause=cause, values=values, account_id=account.id)
    return link


def _resolve_mail(recipient: str, values: dict[str, Any]) -> Resolved:
    """The queued mail, or None if the invitation was withdrawn or the account has mailed this
    address too often."""
    invitation = find_invitation(values["link"].rpartition("/")[2])
    if invitation is None or is_over_mail_limit(
        recipient, (MAIL,), f"{MAIL}:{invitation.account_id}"
    ):
        return None
    return MAIL, values


RESOLVERS: Final[Mapping[str, Resolver]] = {MAIL: _resolve_mail}
