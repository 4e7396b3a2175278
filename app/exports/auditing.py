"""Entries of the audit log about files with projects or assets."""

from __future__ import annotations

from typing import Any

from app.audit.entries import Target, created, record_read
from app.exports.service import Export
from app.values.clock import format_value


def record_export(export: Export, account_name: str) -> None:
    """Record that somebody gets a file, before it is sent."""
    values = {name: _plain(value) for name, value in export.filters.items() if value is not None}
    record_read(
        f"{export.kind.removesuffix('s')}.exported",
        Target("account", export.account_id, account_name),
        account_id=export.account_id,
        changes=created({**values, "format": export.format}),
    )


def _plain(value: Any) -> Any:
    """A filter as JSON has it."""
    return list(value) if isinstance(value, tuple) else format_value(value)
