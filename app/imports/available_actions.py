"""The actions that can be taken on an import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from app.auth.principal import Principal
from app.imports.feature_rows import written_features
from app.imports.listing import find_import


class AvailableActions(NamedTuple):
    """The actions on an import (change, apply, cancel, undo), and numbers of features.

    An undo would delete ``created`` targets, of which ``created_plots`` are plots, and restore
    ``changed`` ones. ``namesakes`` are new features whose name is in use.
    """

    actions: frozenset[str]
    created: int
    changed: int
    namesakes: int
    created_plots: int = 0


def available_actions(principal: Principal, import_id: str) -> AvailableActions:
    """The actions that can be taken on an import now. Raises NotFound."""
    row = find_import(principal, import_id)
    written = written_features(principal.account_id, import_id)
    applied = [each for each in written if each.state == "applied"]
    new = [each for each in applied if each.verdict == "new"]
    has_file = row.upload_id is not None
    return AvailableActions(
        frozenset(_actions_in_status(row.status, has_file=has_file, has_written=bool(written))),
        created=sum(each.number for each in new),
        changed=sum(each.number for each in applied if each.verdict == "changed"),
        namesakes=row.counts.get("namesakes", 0),
        created_plots=sum(each.number for each in new if each.is_plot),
    )


def _actions_in_status(status: str, *, has_file: bool, has_written: bool) -> Iterator[str]:
    if has_written:
        yield from ["undo"] if status in ("applied", "failed") else []
        return
    if status in ("ready", "failed") and has_file:
        yield "change"
    if status == "ready":
        yield "apply"
    if status in ("reading", "ready", "failed"):
        yield "cancel"
