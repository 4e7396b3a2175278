"""Entries of the audit log about API keys and service tokens."""

from __future__ import annotations

from typing import Final

from app.audit.entries import Target, created, record
from app.models import Credential
from app.values.clock import format_optional_time

_FIELDS: Final = ("name", "permissions", "project_ids", "ip_allowlist")


def record_created(credential: Credential) -> None:
    """Record that a key or token was made, and so its secret shown."""
    values = {name: getattr(credential, name) for name in _FIELDS}
    values["expires_at"] = format_optional_time(credential.expires_at)
    record(
        f"{credential.kind}.created",
        _target(credential),
        account_id=credential.account_id,
        changes=created(values),
    )


def record_revoked(credential: Credential) -> None:
    """Record that a key or token was revoked."""
    target = _target(credential)
    record(f"{credential.kind}.revoked", target, account_id=credential.account_id)


def _target(credential: Credential) -> Target:
    return Target(credential.kind, credential.id, credential.name)
