"""The second step of an import: its decisions are written, some features in each transaction.

Each transaction marks the features that it writes. So an import whose worker dies continues after
the last one that was committed, and no feature is written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import and_, bindparam, or_

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.geometry.problems import whole_problem
from app.http.errors import ApiError, Conflict
from app.imports.delivery_backlog import wait_for_deliveries
from app.imports.feature_rows import count_features, update_features
from app.imports.features.bounded import BoundedMatcher
from app.imports.features.candidates import Candidate, stored_candidate
from app.imports.features.mixed_targets import import_targets, name_of_file
from app.imports.features.project_targets import ProjectTargets
from app.imports.features.targets import (
    CannotImport,
    Decision,
    Match,
    Matcher,
    Targets,
    WrittenTarget,
)
from app.imports.leases import LeasedImport, end_step, lock_leased, put_back
from app.imports.progress import NO_PROGRESS, ImportProgress
from app.imports.uploads import delete_upload
from app.models import Import, ImportFeature
from app.policy.imports import BATCH_BYTES, BATCH_FEATURES, BATCH_SECONDS, DECIDE_SECONDS
from app.values.batching import batched_by_bytes, batched_by_time

_TRIES: Final = 5  # for a name that nobody else uses meanwhile
_TO_WRITE: Final = (
    ImportFeature.import_id == bindparam("import_id"),
    or_(ImportFeature.verdict == "new", ImportFeature.verdict == "changed"),
    ImportFeature.state.is_(None),
    ImportFeature.left_out.is_(False),
    ImportFeature.number > bindparam("after"),
)
_SIZES: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number)
    .add_columns(byte_length(ImportFeature.geometry).label("size"))
    .where(*_TO_WRITE)
    .order_by(ImportFeature.number)
    .limit(BATCH_FEATURES)
)
_ROWS: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number, ImportFeature.values, ImportFeature.geometry)
    .where(*_TO_WRITE, ImportFeature.number <= bindparam("last"))
    .order_by(ImportFeature.number)
)
# What the import has created, and what features are that change nothing.
_TAKEN: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.target_id).where(
        ImportFeature.import_id == bindparam("import_id"),
        or_(
            and_(ImportFeature.verdict == "new", ImportFeature.state == "applied"),
            ImportFeature.verdict == "same",
        ),
    )
)
_COUNTS: Final = CompiledQuery(
    columns_of(Import, Import.counts).where(Import.id == bindparam("import_id"))
)
_SECONDS: Final = "deciding_seconds"  # its name in the counts of an import


def apply_features(
    leased: LeasedImport,
    principal: Principal,
    targets: Targets,
    match: Match,
    in_transaction: Transaction,
    progress: ImportProgress = NO_PROGRESS,
    *,
    is_over: Callable[[], bool] = lambda: False,
    most_seconds: float = DECIDE_SECONDS,
) -> None:
    """Write the features of an import; it is ``applied`` then. Stops early, between two
    transactions, when ``is_over``, or when the import has to wait: another turn goes on.

    Args:
        most_seconds: of processor time, to decide about all features, in all turns together.

    Raises:
        LeaseLost: another worker has the import, or it was deleted.
        TooCostly: deciding about the features takes more than that.
    """
    ids = {"account_id": leased.account_id, "import_id": leased.import_id}
    taken = {row.target_id for row in _TAKEN.all(**ids)}
    matcher = BoundedMatcher(
        targets.matcher(leased.account_id, match, (), taken),
        most_seconds,
        _COUNTS.scalar(**ids).get(_SECONDS, 0.0),
    )
    after = 0
    while rows := _next(ids, after):
        if not wait_for_deliveries(leased, in_transaction, progress):
            return
        decided = (
            (row.number, *_decide(targets, matcher, leased.account_id, _candidate(row)))
            for row in rows
        )
        for batch in batched_by_time(decided, BATCH_SECONDS):
            with in_transaction():
                found = lock_leased(leased)
                if found.points_as_plots and not found.project_id and any(map(_is_plot, batch)):
                    _make_project(principal, matcher, found)
                    targets = import_targets(found)
                written = [
                    (number, _write(principal, targets, matcher, match, *others))
                    for number, *others in batch
                ]
                update_features(**ids, changes=written)
                taken |= {done["target_id"] for _, done in written if done["verdict"] == "new"}
                found.progress_done += len(batch)
                found.counts = found.counts | {_SECONDS: matcher.seconds}
                found.tries, found.message = 1, None
            progress.advance(len(batch))
            after = batch[-1][0]
            if is_over():
                with in_transaction():
                    put_back(lock_leased(leased))
                return
    with in_transaction():
        _finish(lock_leased(leased))


def _is_plot(decided: tuple[int, Candidate, Decision | CannotImport, Any]) -> bool:
    return decided[1].is_plot and isinstance(decided[2], Decision)


def _make_project(principal: Principal, matcher: Matcher, found: Import) -> None:
    """Make the project of an import's plots, named after its file."""
    name = name_of_file(found.filename)
    item = Candidate(0, name, {})
    made = _create(principal, ProjectTargets(), matcher, item, matcher.free_name(name))
    found.project_id, found.project_made_at = made.target_id, made.written_at


def _next(ids: dict[str, str], after: int) -> list[Any]:
    """The features after a number that one transaction should write."""
    sizes = _SIZES.tuples(**ids, after=after)
    batch = next(batched_by_bytes(sizes, lambda row: row[1] or 0, BATCH_BYTES), None)
    return _ROWS.all(**ids, after=after, last=batch[-1][0]) if batch else []


def _candidate(row: Any) -> Candidate:
    """The feature of a row, as it was checked when the file was read."""
    return stored_candidate(row.number, row.values, row.geometry)


def _decide(
    targets: Targets, matcher: Matcher, account_id: str, item: Candidate
) -> tuple[Candidate, Decision | CannotImport, Any]:
    """Decide again about a feature: others may have changed the account since it was read."""
    try:
        decision = matcher.decide(item)
    except CannotImport as error:
        return item, error, None
    is_changed = decision.verdict == "changed"
    return item, decision, targets.prepare(account_id, item, decision) if is_changed else None


def _write(
    principal: Principal,
    targets: Targets,
    matcher: Matcher,
    match: Match,
    item: Candidate,
    decision: Decision | CannotImport,
    prepared: Any,
) -> dict[str, Any]:
    """Write a feature. Returns the columns of its row."""
    if isinstance(decision, CannotImport):
        return _rejected(decision.message, decision.field)
    if decision.verdict == "same":
        return {"verdict": "same", "target_id": decision.target_id}
    try:
        if decision.verdict == "new":
            written = _create(principal, targets, matcher, item, decision.name)
        else:
            with db.session.begin_nested():
                changed = targets.change(principal, item, decision, match, prepared)
            if changed is None:
                return {"verdict": "same", "target_id": decision.target_id}
            written = changed
    except ApiError as error:
        field = error.details[0].field if error.details else "geometry"
        return _rejected(error.message, field)
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


def _create(
    principal: Principal, targets: Targets, matcher: Matcher, item: Candidate, name: str
) -> WrittenTarget:
    """Create a target. Raises ApiError, and leaves the rest of the transaction as it is."""
    for tries_left in reversed(range(_TRIES)):
        try:
            with db.session.begin_nested():
                return targets.create(principal, item, name)
        except Conflict as error:  # another request has used the slug or external id meanwhile
            if not tries_left or not error.details or error.details[0].field != "slug":
                raise
            name = matcher.free_name(item.name)
    raise AssertionError("the last try returns or raises")


def _rejected(message: str, field: str) -> dict[str, Any]:
    problem = whole_problem("conflict", message, field)
    return {"verdict": "rejected", "problems": [asdict(problem)], "values": {}, "geometry": None}


def _finish(found: Import) -> None:
    delete_upload(found)
    found.counts = found.counts | count_features(found.account_id, found.id)
    end_step(found, "applied")
