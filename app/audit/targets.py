"""The targets of entries, by kind of row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select

from app.db.column_types import Base
from app.db.queries import CompiledQuery
from app.models import Account, Credential, Import, OAuthApplication, User, Webhook
from app.policy.audit import INSTANCE
from app.security.masking import masked_url
from app.settings.current import current_settings

_NAME = CompiledQuery(select(Account.name).where(Account.id == bindparam("id")))


class Target(NamedTuple):
    """The target of an action, with its name at that time."""

    type: str
    id: str | None
    label: str


_OF_ROWS: Final[dict[type[Base], Callable[[Any], Target]]] = {
    Account: lambda row: Target("account", row.id, row.name),
    Credential: lambda row: Target(row.kind, row.id, row.name),
    Import: lambda row: Target("import", row.id, row.filename),
    OAuthApplication: lambda row: Target("application", row.id, row.name),
    User: lambda row: Target("person", row.id, row.email),
    Webhook: lambda row: Target("webhook", row.id, masked_url(row.url)),
}


def target_of(row: Base) -> Target:
    """The target of an entry about a row. Raises KeyError if its table is not listed."""
    return _OF_ROWS[type(row)](row)


def member_target(person: User) -> Target:
    """A person as a member of an account."""
    return Target("member", person.id, person.email)


def instance_target() -> Target:
    """The whole instance."""
    return Target("instance", None, current_settings().instance_name)


def audit_log_target(account_id: str) -> Target:
    """The audit log of an account, which may be deleted, or of the instance."""
    if account_id == INSTANCE:
        return instance_target()
    row = _NAME.first(id=account_id)
    return Target("account", account_id, account_id if row is None else row.name)
