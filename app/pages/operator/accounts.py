"""The accounts of the instance, with their plans and their usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func, select

from app.account.billing.service import has_subscription
from app.account.service import set_plan
from app.audit.entries import write_entry
from app.audit.origin import OPERATOR, Via, acting_as
from app.audit.targets import Target
from app.auth.tenant import columns_of
from app.db.column_types import api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.http.errors import Conflict, NotFound
from app.models import Account, AccountUsage, Credential, Membership, OAuthAuthorization, User
from app.pages.operator.listing import (
    RecordList,
    contains_in_any_case,
    contains_search,
    last_use,
    last_uses,
)
from app.policy.audit import INSTANCE
from app.usage.counters import usage_summary
from app.values.ids import is_id

_COLUMNS: Final = (Account.id, Account.name, Account.slug, Account.plan, Account.created_at)
# What ``app.usage.counters.usage_summary`` needs.
SUMMED: Final = (
    AccountUsage.area_m2,
    AccountUsage.projects_active,
    AccountUsage.projects_archived,
    AccountUsage.projects_draft,
    AccountUsage.members,
)
_ID: Final = Account.id.expression
_COUNTERS: Final = tuple(func.coalesce(column, 0).label(column.key) for column in SUMMED)
_PROJECTS: Final = (
    AccountUsage.projects_active + AccountUsage.projects_archived + AccountUsage.projects_draft
)
_LAST_USES: Final = (
    last_use(Membership.account_id, Membership.last_active_at),
    last_use(Credential.account_id, Credential.last_used_at),
    last_use(OAuthAuthorization.account_id, OAuthAuthorization.last_used_at),
)
_EXISTING: Final = CompiledQuery(select(Account.id).where(is_among_ids(Account.id.expression)))
_INVITED: Final = CompiledQuery(
    select(Membership.account_id, func.count())
    .where(is_among_ids(Membership.account_id.expression), Membership.joined_at.is_(None))
    .group_by(Membership.account_id)
)
_OWNERS: Final = CompiledQuery(
    columns_of(Membership, User.email, User.name, Membership.joined_at)
    .where(User.id == Membership.user_id, Membership.role == "owner")
    .order_by(User.email_key)
)
_ONE: Final = CompiledQuery(
    select(*map(api_column, (*_COLUMNS, Account.type, Account.deletes_at)), *_COUNTERS)
    .outerjoin(AccountUsage, AccountUsage.account_id == Account.id)
    .where(Account.id == bindparam("account_id"))
)


class AccountDetails(NamedTuple):
    """An account and its owners. ``is_billed`` is True if a billing system sets the plan."""

    record: dict[str, Any]
    owners: list[Any]
    is_billed: bool


def read_account_details(account_id: str) -> AccountDetails:
    """Read an account for the operator's page. Raises NotFound."""
    row = _ONE.first(account_id=account_id) if is_id("account", account_id) else None
    if row is None:
        raise NotFound("This account does not exist.")
    (record,) = _account_records([row])
    record |= {"type": row.type, "deletes_at": row.deletes_at}
    owners = _OWNERS.all(account_id=account_id)
    return AccountDetails(record, owners, has_subscription(account_id))


def addresses_of(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the paths of the pages of accounts that entries are about, by id, without those that
    were deleted since."""
    targets = (entry["target"] for entry in entries)
    ids = {target["id"] for target in targets if target["type"] == "account" and target["id"]}
    rows = _EXISTING.tuples(ids=sorted(ids))
    return {account_id: f"/operator/accounts/{account_id}" for (account_id,) in rows}


def change_plan(account_id: str, plan: str, former: str) -> None:
    """Put an account on another plan. The caller commits.

    Both logs get an entry: that of the instance names the person, that of the account does not, as
    its owners need not know who runs the instance.

    Args:
        former: the plan that the page showed.

    Raises:
        Conflict: somebody has changed it since.
        NotFound: the account does not exist.
        ValidationFailed: the plan does not exist.
    """
    is_valid = is_id("account", account_id)
    account = db.session.get(Account, account_id, with_for_update=True) if is_valid else None
    if account is None:
        raise NotFound("This account does not exist.")
    if account.plan != former:
        raise Conflict(
            "changed_meanwhile",
            "account",
            f"Somebody has just changed the plan to {account.plan}. Choose again.",
        )
    if plan == former:
        return
    with acting_as(OPERATOR, Via()):
        set_plan(account_id, plan)
    target = Target("account", account_id, account.name)
    changes = {"plan": {"from": former, "to": plan}}
    write_entry("account.updated", target, account_id=INSTANCE, changes=changes)


def _account_records(rows: list[Any]) -> list[dict[str, Any]]:
    """Return ``id``, ``name``, ``slug``, ``plan``, ``usage``, ``created_at``, ``invited`` and
    ``last_used_at`` of accounts.

    ``invited`` is the number of members in ``usage`` who have not joined. ``last_used_at`` is None
    if nobody has used the account.
    """
    ids = [row.id for row in rows]
    used_at, invited = last_uses(ids, _LAST_USES), _invited_to(ids)
    names = ("id", "name", "slug", "plan", "created_at")
    return [
        {name: getattr(row, name) for name in names}
        | {"usage": usage_summary(row), "last_used_at": used_at.get(row.id)}
        | {"invited": invited.get(row.id, 0)}
        for row in rows
    ]


def _invited_to(ids: list[str]) -> dict[str, int]:
    """The number of open invitations by account id; accounts without any are left out."""
    return dict(_INVITED.tuples(ids=ids))


ACCOUNTS: Final = RecordList(
    "/operator/accounts",
    Account,
    select(*map(api_column, _COLUMNS), *_COUNTERS).outerjoin(
        AccountUsage, AccountUsage.account_id == Account.id
    ),
    {
        "newest": ("Newest first", (Account.created_at.desc(), Account.id.desc())),
        "name": ("Name", (func.lower(Account.name), _ID)),
        "area": ("Largest area", (func.coalesce(AccountUsage.area_m2, 0).desc(), _ID)),
        "projects": ("Most projects", (func.coalesce(_PROJECTS, 0).desc(), _ID)),
        "members": (
            "Most members and invitations",
            (func.coalesce(AccountUsage.members, 0).desc(), _ID),
        ),
    },
    lambda dialect: (
        contains_in_any_case(Account.name.expression, dialect)
        | contains_search(Account.slug.expression, "slug", dialect)
    ),
    _account_records,
)
