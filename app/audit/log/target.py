"""An audit log as the target of an entry about itself."""

from __future__ import annotations

from flask import current_app
from sqlalchemy import bindparam, select

from app.audit.entries import Target
from app.db.queries import CompiledQuery
from app.models import Account
from app.policy.audit import INSTANCE
from config import Settings

_NAME = CompiledQuery(select(Account.name).where(Account.id == bindparam("id")))


def log_of(account_id: str) -> Target:
    """The log of an account, which may be deleted, or of the instance."""
    if account_id == INSTANCE:
        settings: Settings = current_app.config["SETTINGS"]
        return Target("instance", None, settings.instance_name)
    row = _NAME.first(id=account_id)
    return Target("account", account_id, account_id if row is None else row.name)
