"""The second step of an import: write its features, some in each transaction.

Each transaction marks the features that it writes. So an import whose worker dies continues after
the last one that was committed, and no feature is written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from operator import call
from typing import Any, Final

from sqlalchemy import and_, bindparam, func, or_

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.geometry.problems import whole_problem
from app.http.errors import ApiError, Conflict
from app.imports.delivery_backlog import wait_for_deliveries
from app.imports.feature_rows import count_features, note_imported, update_features
from app.imports.features.candidates import Candidate, stored_candidate
from app.imports.features.decisions import CannotImport, Decision, Match, WrittenTarget
from app.imports.features.targets import Matcher, Targets, import_targets, project_name_of
from app.imports.leases import LeasedImport, end_step, lock_leased, put_back
from app.imports.progress import NO_PROGRESS, ImportProgress
from app.imports.uploads import delete_upload
from app.lists.scanning import KeyedRows
from app.models import Import, ImportFeature
from app.policy.imports import BATCH_BYTES, BATCH_FEATURES, BATCH_SECONDS, DECIDE_SECONDS
from app.projects.boundary_history.comparing import BoundaryComparison, compare_ahead
from app.values.batching import batched_by_time

_NAME_TRIES: Final = 5  # while others take the names that were free
_TO_WRITE: Final = KeyedRows(
    columns_of(
        ImportFeature, ImportFeature.number, ImportFeature.values, ImportFeature.geometry
    ).where(
        ImportFeature.import_id == bindparam("import_id"),
        or_(ImportFeature.verdict == "new", ImportFeature.verdict == "changed"),
        ImportFeature.state.is_(None),
        ImportFeature.left_out.is_(False),
    ),
    ImportFeature.number,
    size=func.coalesce(byte_length(ImportFeature.geometry), 0),
)
# Targets that features of this import are already.
_TAKEN: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.target_id).where(
        ImportFeature.import_id == bindparam("import_id"),
        or_(
            and_(ImportFeature.verdict == "new", ImportFeature.state == "applied"),
            ImportFeature.verdict == "same",
        ),
    )
)
_AREAS: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number, ImportFeature.target_id)
    .where(
        ImportFeature.import_id == bindparam("import_id"),
        ImportFeature.is_plot.is_(False),
        ImportFeature.left_out.is_(False),
        ImportFeature.verdict != "rejected",
    )
    .limit(2)
)
_COUNTS: Final = CompiledQuery(
    columns_of(Import, Import.counts).where(Import.id == bindparam("import_id"))
)
_SECONDS: Final = "deciding_seconds"  # key of the counts of an import
# A candidate, the decision or its error, and for a change the boundary, compared.
_Decided = tuple[Candidate, Decision | CannotImport, BoundaryComparison | None]


def apply_features(
    leased: LeasedImport,
    principal: Principal,
    targets: Targets,
    match: Match,
    in_transaction: Transaction,
    progress: ImportProgress = NO_PROGRESS,
    *,
    is_over: Callable[[], bool] = lambda: False,
    max_seconds: float = DECIDE_SECONDS,
) -> None:
    """Write the features of an import, which is ``applied`` then.

    Stops early, between two transactions, when ``is_over()`` or when the import has to wait:
    another turn goes on.

    Args:
        max_seconds: processor time to decide about all features, in all turns together.

    Raises:
        LeaseLost: another worker has the import, or it was deleted.
        TooCostly: deciding takes longer.
    """
    ids: dict[str, Any] = {"account_id": leased.account_id, "import_id": leased.import_id}
    read: Any = call
    taken_ids = {row.target_id for row in _TAKEN.all(**ids)}
    matcher = targets.matcher(leased.account_id, match, taken_ids=taken_ids)
    matcher.max_seconds = max_seconds
    matcher.seconds = _COUNTS.scalar(**ids).get(_SECONDS, 0.0)
    for rows in _TO_WRITE.batches(read, BATCH_FEATURES, most_bytes=BATCH_BYTES, **ids):
        if not wait_for_deliveries(leased, in_transaction, progress):
            return
        decisions = (_decide_again(matcher, leased.account_id, row) for row in rows)
        for batch in batched_by_time(decisions, BATCH_SECONDS):
            with in_transaction():
                import_ = lock_leased(leased)
                changes: list[tuple[int, dict[str, Any]]] = []
                for decided in batch:
                    is_plot = decided[0].is_plot and isinstance(decided[1], Decision)
                    if is_plot and import_.points_as_plots and not import_.project_id:
                        import_.project_id = _project_of_track(import_, changes)
                        if import_.project_id is None:
                            _create_plots_project(principal, matcher, import_)
                        targets = import_targets(import_)
                    change = _write_feature(principal, targets, matcher, match, *decided)
                    changes.append((decided[0].number, change))
                update_features(**ids, changes=changes)
                note_imported(**ids, changes=changes)
                taken_ids |= {row["target_id"] for _, row in changes if row["verdict"] == "new"}
                import_.progress_done += len(batch)
                import_.counts = import_.counts | {_SECONDS: matcher.seconds}
                import_.tries, import_.message = 1, None
            progress.advance(len(batch))
            if is_over():
                with in_transaction():
                    put_back(lock_leased(leased))
                return
    with in_transaction():
        _finish_import(lock_leased(leased))


def _project_of_track(import_: Import, changes: list[tuple[int, dict[str, Any]]]) -> str | None:
    """The project of the only track or route of a GPX file, for waypoints that become assets.

    Args:
        changes: those of features of the open transaction.
    """
    if import_.points is None or import_.format != "gpx":
        return None
    rows = _AREAS.all(account_id=import_.account_id, import_id=import_.id)
    targets = {row.number: row.target_id for row in rows}
    if len(targets) != 1:
        return None
    ((number, target_id),) = targets.items()
    found: str | None = dict(changes).get(number, {}).get("target_id", target_id)
    return found


def _create_plots_project(principal: Principal, matcher: Matcher, import_: Import) -> None:
    """Create the project of an import's plots, named after its file."""
    name = project_name_of(import_.filename)
    project = Candidate(0, name, {})
    written = _create_target(principal, Targets(), matcher, project, matcher.free_name(name))
    import_.project_id, import_.project_made_at = written.target_id, written.written_at


def _decide_again(matcher: Matcher, account_id: str, row: Any) -> _Decided:
    """Decide again about a feature: others may have changed the account since it was read."""
    candidate = stored_candidate(row.number, row.values, row.geometry)
    try:
        decision = matcher.decide(candidate)
    except CannotImport as error:
        return candidate, error, None
    if decision.verdict != "changed" or candidate.boundary is None:
        return candidate, decision, None
    # Comparing boundaries is slow, so it is done before the transaction.
    compared = compare_ahead(account_id, decision.target_id or "", candidate.boundary)
    return candidate, decision, compared


def _write_feature(
    principal: Principal,
    targets: Targets,
    matcher: Matcher,
    match: Match,
    candidate: Candidate,
    decision: Decision | CannotImport,
    compared: BoundaryComparison | None,
) -> dict[str, Any]:
    """Write a feature. Returns the changes of its row."""
    if isinstance(decision, CannotImport):
        return _rejected_changes(decision.message, decision.field)
    if decision.verdict == "same":
        return {"verdict": "same", "target_id": decision.target_id}
    try:
        if decision.verdict == "new":
            written = _create_target(principal, targets, matcher, candidate, decision.name)
        else:
            with db.session.begin_nested():
                target_id = decision.target_id or ""
                changed = targets.change(principal, candidate, target_id, match, compared)
            if changed is None:
                return {"verdict": "same", "target_id": decision.target_id}
            written = changed
    except ApiError as error:
        field = error.details[0].field if error.details else "geometry"
        return _rejected_changes(error.message, field)
    return {
        "verdict": decision.verdict,
        "name": written.name,
        "target_id": written.target_id,
        "state": "applied",
        "written_at": written.written_at,
        "before": written.before,
        "values": {},
        "geometry": None,
    }


def _create_target(
    principal: Principal, targets: Targets, matcher: Matcher, candidate: Candidate, name: str
) -> WrittenTarget:
    """Create a target. If that raises ApiError, the rest of the transaction stays."""
    for tries_left in reversed(range(_NAME_TRIES)):
        try:
            with db.session.begin_nested():
                return targets.create(principal, candidate, name)
        except Conflict as error:  # another request has taken the slug or external id
            if not tries_left or not error.details or error.details[0].field != "slug":
                raise
            name = matcher.free_name(candidate.name)
    raise AssertionError("the last try returns or raises")


def _rejected_changes(message: str, field: str) -> dict[str, Any]:
    problem = whole_problem("conflict", message, field)
    return {"verdict": "rejected", "problems": [asdict(problem)], "values": {}, "geometry": None}


def _finish_import(import_: Import) -> None:
    delete_upload(import_)
    import_.counts = import_.counts | count_features(import_.account_id, import_.id)
    end_step(import_, "applied")
