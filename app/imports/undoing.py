"""Undoing an applied import, the last feature first.

Targets that it created are deleted, those that it changed are restored. What somebody has changed
since is kept, with a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import Text, bindparam, cast, func

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.geometry.problems import whole_problem
from app.http.errors import ApiError
from app.imports.delivery_backlog import wait_for_deliveries
from app.imports.feature_rows import count_states, forget_imported, update_features
from app.imports.features.decisions import CannotUndo
from app.imports.features.project_targets import former_boundary
from app.imports.features.targets import Targets
from app.imports.leases import LeasedImport, end_step, lock_leased, put_back
from app.imports.progress import NO_PROGRESS, ImportProgress
from app.imports.uploads import delete_upload
from app.models import Import, ImportFeature, Project
from app.policy.imports import BATCH_BYTES, BATCH_FEATURES
from app.values.batching import batched_by_bytes
from app.values.clock import format_time

_AFTER_ALL: Final = 2**31 - 1
_TO_UNDO: Final = (
    ImportFeature.import_id == bindparam("import_id"),
    ImportFeature.state == "applied",
    ImportFeature.number < bindparam("before"),  # else all that are undone are looked at each time
)
_PRESENT_BYTES: Final = (
    columns_of(Project, Project.stored_bytes)
    .where(Project.id == ImportFeature.target_id)
    .scalar_subquery()
)
_SIZES: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number)
    .add_columns(
        func.coalesce(byte_length(cast(ImportFeature.before, Text)), 0)
        + func.coalesce(_PRESENT_BYTES, 0)
    )
    .where(*_TO_UNDO)
    .order_by(ImportFeature.number.desc())
    .limit(BATCH_FEATURES)
)
_ROWS: Final = CompiledQuery(
    columns_of(
        ImportFeature,
        ImportFeature.number,
        ImportFeature.target_id,
        ImportFeature.before,
        ImportFeature.written_at,
    )
    .where(*_TO_UNDO, ImportFeature.number >= bindparam("first"))
    .order_by(ImportFeature.number.desc())
)


def undo_features(
    leased: LeasedImport,
    principal: Principal,
    targets: Targets,
    in_transaction: Transaction,
    progress: ImportProgress = NO_PROGRESS,
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Undo what an import wrote; it is ``undone`` then.

    Stops early, between two transactions, when ``is_over()`` or when the import has to wait:
    another turn goes on.

    Raises LeaseLost.
    """
    ids = {"account_id": leased.account_id, "import_id": leased.import_id}
    before = _AFTER_ALL
    while rows := _next_rows(ids, before):
        if not wait_for_deliveries(leased, in_transaction, progress):
            return
        prepared = [former_boundary(leased.account_id, row) for row in rows]
        with in_transaction():
            import_ = lock_leased(leased)
            changes = [
                (row.number, _undo_feature(principal, targets, row, former))
                for row, former in zip(rows, prepared, strict=True)
            ]
            update_features(**ids, changes=changes)
            forget_imported(**ids, undone=[
                row.target_id for row, (_, change) in zip(rows, changes, strict=True)
                if change["state"] == "undone"
            ])  # fmt: skip
            import_.progress_done += len(rows)
            import_.tries, import_.message = 1, None
        before = rows[-1].number
        progress.advance(len(rows))
        if is_over():
            with in_transaction():
                put_back(lock_leased(leased))
            return
    with in_transaction():
        import_ = lock_leased(leased)
        delete_upload(import_)  # it stays when applying fails
        import_.counts = import_.counts | count_states(**ids)
        _undo_plots_project(principal, import_)
        end_step(import_, "undone")


class _PlotsProject(NamedTuple):
    """The project of an import's plots, as the row that ``Targets.undo`` takes."""

    target_id: str
    written_at: str
    before: None = None


def _undo_plots_project(principal: Principal, import_: Import) -> None:
    """Delete the project that an import created for its plots, or note why it was kept."""
    if import_.project_id is None or import_.project_made_at is None:
        return
    try:
        with db.session.begin_nested():
            row = _PlotsProject(import_.project_id, format_time(import_.project_made_at))
            Targets().undo(principal, row)
    except (CannotUndo, ApiError) as error:
        note = f"The project of the plots, {import_.project_id}, was kept: {error}"
        import_.notes = [*import_.notes, note]


def _next_rows(ids: dict[str, str], before: int) -> list[Any]:
    """The last features before a number that fit into one transaction."""
    sizes = _SIZES.tuples(**ids, before=before)
    batch = next(batched_by_bytes(sizes, itemgetter(1), BATCH_BYTES), None)
    return _ROWS.all(**ids, first=batch[-1][0], before=before) if batch else []


def _undo_feature(
    principal: Principal, targets: Targets, row: Any, prepared: Any
) -> dict[str, Any]:
    """Undo what was written of a feature. Returns the changes of its row."""
    try:
        with db.session.begin_nested():
            targets.undo(principal, row, prepared)
    except (CannotUndo, ApiError) as error:
        return {"state": "kept", "problems": [asdict(whole_problem("kept", str(error), "id"))]}
    return {"state": "undone"}
