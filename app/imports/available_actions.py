"""The actions that can be taken on an import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from sqlalchemy import bindparam, func

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.imports.listing import read_import
from app.models import Import, ImportFeature

_UPLOAD: Final = CompiledQuery(
    columns_of(Import, Import.upload_id).where(Import.id == bindparam("import_id"))
)
_WRITTEN: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.verdict, ImportFeature.state, ImportFeature.is_plot)
    .add_columns(func.count().label("number"))
    .where(ImportFeature.import_id == bindparam("import_id"), ImportFeature.state.is_not(None))
    .group_by(ImportFeature.verdict, ImportFeature.state, ImportFeature.is_plot)
)
_NAMESAKES: Final = CompiledQuery(
    columns_of(ImportFeature)
    .add_columns(func.count().label("number"))
    .where(
        ImportFeature.import_id == bindparam("import_id"),
        ImportFeature.verdict == "new",
        ImportFeature.is_namesake.is_(True),
        ImportFeature.left_out.is_(False),
    )
)


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
    status = read_import(principal, import_id)["status"]
    ids = {"account_id": principal.account_id, "import_id": import_id}
    rows = _WRITTEN.all(**ids)
    has_file = _UPLOAD.scalar(**ids) is not None
    applied = Counter[str]()
    plots = 0
    for row in rows:
        if row.state == "applied":
            applied[row.verdict] += row.number
            plots += row.number * (row.is_plot and row.verdict == "new")
    actions = frozenset(_actions_in_status(status, has_file=has_file, has_written=bool(rows)))
    namesakes = int(_NAMESAKES.scalar(**ids))
    return AvailableActions(actions, applied["new"], applied["changed"], namesakes, plots)


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
