"""Entries of the instance's own log."""

from __future__ import annotations

from flask import current_app

from app.audit.entries import Target, created, record
from app.db.transactions import transaction
from app.policy.audit import INSTANCE


def record_of_instance(action: str, **values: str) -> None:
    """Record what a command did with the whole instance."""
    target = Target("instance", None, current_app.config["SETTINGS"].instance_name)
    with transaction():
        record(action, target, account_id=INSTANCE, changes=created(values))
