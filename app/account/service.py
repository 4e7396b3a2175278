"""Creating accounts, renaming them and putting them on plans."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import select

from app.account.lookup import account_record
from app.account.members.record import name_from_email
from app.account.validation import check_account, check_name, check_plan
from app.api.immutable import check_fixed
from app.audit.entries import changes_of_new, write_entry
from app.audit.origin import Actor
from app.auth.people import EmailTaken, find_person, is_registered
from app.auth.principal import Principal
from app.db.extensions import db
from app.http.errors import Conflict, InvalidField
from app.http.etags import ANY, IfMatch
from app.limits.plan_file import default_plan
from app.models import Account, AccountUsage, Membership, User
from app.policy.request_limits import RESERVED_SLUGS
from app.security.passwords import hash_password, make_password
from app.usage.counters import check_thresholds, count_member
from app.values import clock
from app.values.folding import fold_text
from app.values.ids import new_id
from app.values.strict_json import dumps
from app.values.text import slugify


class NewAccount(NamedTuple):
    """A new account with its owner, and the password if one was set."""

    account: Account
    owner: User
    password: str | None


def rename_account(
    principal: Principal, values: dict[str, Any], if_match: IfMatch = ANY
) -> dict[str, Any]:
    """Change the account's name and return its record.

    Raises:
        PreconditionFailed: ``if_match`` does not match.
        ValidationFailed: ``values`` has another id or slug.
    """
    # FOR NO KEY UPDATE: the stored response of this request has a foreign key to the account.
    lock = {"key_share": True}
    account = db.session.get_one(Account, principal.account_id, with_for_update=lock)
    usage = db.session.get_one(AccountUsage, principal.account_id)
    current = account_record(account, usage)
    if_match.check(dumps(current))
    values = check_fixed(values, id=account.id, slug=account.slug)
    _rename_account(account, values.get("name", account.name))
    return current | {"name": account.name}


def rename_by_operator(account_id: str, name: str) -> None:
    """Change an account's name. Raises ValidationFailed for a name that it cannot have."""
    check_name(name)
    _rename_account(
        db.session.get_one(Account, account_id, with_for_update={"key_share": True}), name
    )


def create_account(
    *,
    name: str,
    owner_email: str,
    owner_password: str | None = None,
    owner_name: str | None = None,
    plan: str | None = None,
    type: str = "organization",
    slug: str | None = None,
) -> NewAccount:
    """Create an account with its owner, who may already belong to another account.

    Args:
        slug: as in ``open_account``.
        plan: the setting ``DEFAULT_PLAN`` by default.

    Raises:
        ValidationFailed: a field is not valid, or the plan is unknown.
        Conflict: a password is given for a person who has signed up.
    """
    check_account(name, owner_email, owner_password, type)
    plan = default_plan() if plan is None else plan
    check_plan(plan)
    owner, password = _find_or_create_owner(owner_email, owner_name, owner_password)
    account = open_account(name, owner, slug=slug, plan=plan, type=type)
    return NewAccount(account, owner, password)


def open_account(
    name: str,
    owner: User,
    *,
    slug: str | None = None,
    plan: str | None = None,
    type: str = "organization",
    actor: Actor | None = None,
) -> Account:
    """Create an account for a person. All arguments must be valid.

    Args:
        slug: derived from the name by default. A number is added if it is taken.
        plan: the setting ``DEFAULT_PLAN`` by default.
        actor: the creator, for the audit log, if they are not signed in yet.
    """
    now = clock.now()
    account = Account(
        id=new_id("account"),
        name=name,
        slug=_free_slug(slug or slugify(name)),
        type=type,
        plan=default_plan() if plan is None else plan,
        created_at=now,
        updated_at=now,
    )
    db.session.add_all([account, AccountUsage(account_id=account.id), owner])
    db.session.flush()
    member = Membership(
        account_id=account.id,
        user_id=owner.id,
        role="owner",
        joined_at=now,
        created_at=now,
    )
    db.session.add(member)
    count_member(account.id, 1)
    values = {name: getattr(account, name) for name in ("name", "slug", "type", "plan")}
    write_entry(
        "account.created",
        account,
        changes=changes_of_new({**values, "owner": owner.email}),
        actor=actor,
    )
    return account


def set_plan(account_id: str, plan: str, actor: Actor | None = None) -> Account:
    """Put an account on a plan, and emit events for the usage thresholds that it has reached.

    Args:
        actor: the actor in the audit log if it is neither a person nor a command.

    Raises:
        ValidationFailed: there is no such account or plan.
    """
    account = db.session.get(Account, account_id, with_for_update=True)
    if account is None:
        raise InvalidField("account", "This account does not exist.", "not_found")
    check_plan(plan)
    changes = {"plan": {"from": account.plan, "to": plan}}
    write_entry("account.updated", account, changes=changes, actor=actor)
    account.plan = plan
    account.updated_at = clock.now()
    db.session.flush()
    check_thresholds(account_id)
    return account


def _rename_account(account: Account, name: str) -> None:
    if name != account.name:
        changes = {"name": {"from": account.name, "to": name}}
        write_entry("account.updated", account, changes=changes)
        account.name = name
        account.updated_at = clock.now()


def _find_or_create_owner(
    email: str, name: str | None, password: str | None
) -> tuple[User, str | None]:
    """Return the person with this address, who may be new, and the password if one was set."""
    try:
        person = find_person(email, keep=True)
    except EmailTaken:
        message = "Too similar to the address of another person. Use a different address."
        raise Conflict("email_taken", "owner_email", message) from None
    if person is not None and is_registered(person):
        if password is not None:
            message = "This person has signed up already. Leave the password out."
            raise Conflict("signed_up", "owner_password", message)
        return person, None
    now = clock.now()
    if person is None:
        person = User(id=new_id("user"), email=email, email_key=fold_text(email), created_at=now)
        person.name = name or name_from_email(email)
    password = password or make_password()
    person.password_hash = hash_password(password)
    person.updated_at = now
    return person, password


def _free_slug(preferred: str) -> str:
    """The slug, with a number appended if it is taken."""
    base = preferred[:58].rstrip("-") or "account"
    existing = set(db.session.scalars(select(Account.slug).where(Account.slug.like(f"{base}%"))))
    number, slug = 1, base
    while slug in existing or slug in RESERVED_SLUGS:
        number += 1
        slug = f"{base}-{number}"
    return slug
