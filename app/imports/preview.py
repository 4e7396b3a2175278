"""The first step of an import: read its file, and decide what will become of each feature.

Only the import and its feature rows are written. A repeated step starts from scratch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from app.db.transactions import Transaction
from app.formats.features import FileInvalid
from app.formats.readers.csv_geometry import IF_METERS
from app.formats.readers.kml import ALL_FOLDERS
from app.geometry.problems import whole_problem
from app.imports.feature_rows import (
    count_features,
    delete_features,
    feature_row,
    insert_features,
    update_features,
)
from app.imports.features.candidates import Candidate, RejectedFeature
from app.imports.features.decisions import CannotImport, Decision
from app.imports.features.reader_process import ReaderProcess, TooCostly
from app.imports.features.reader_program import TOO_SLOW, ReadLimits
from app.imports.features.summary import FeatureSummary
from app.imports.features.targets import Matcher
from app.imports.layer_plan import plan_layer
from app.imports.leases import LeasedImport, end_costly, end_step, lock_leased, put_back
from app.imports.overlaps import PlacedFeature, find_overlaps
from app.imports.progress import NO_PROGRESS, ImportProgress
from app.imports.questions import required_question
from app.models import Import
from app.policy.files import (
    BRIEF_MEMORY_BYTES,
    BRIEF_SECONDS,
    BRIEF_WAIT_SECONDS,
    FEATURES,
    READ_MEMORY_BYTES,
    READ_SECONDS,
    WAIT_SECONDS,
)
from app.policy.imports import BATCH_SECONDS, DECIDE_SECONDS, IMPORT_OVERLAPS_SECONDS
from app.values.batching import batched_by_time

_LIMITS: Final = ReadLimits(READ_SECONDS, READ_MEMORY_BYTES, WAIT_SECONDS)
BRIEF_LIMITS: Final = ReadLimits(BRIEF_SECONDS, BRIEF_MEMORY_BYTES, BRIEF_WAIT_SECONDS)
_OVERLAPS_AT_ONCE: Final = 500  # in one transaction
_NOT_COMPARED: Final = (
    "There was no time to compare all features with each other and with your projects: some "
    "overlaps may be missing."
)


def prepare_preview(
    leased: LeasedImport,
    path: Path,
    in_transaction: Transaction,
    *,
    max_features: int | None = FEATURES,
    progress: ImportProgress = NO_PROGRESS,
) -> None:
    """Read a file, and store its features with the decisions about them.

    Afterwards the import is ``ready``, or ``failed`` if the file cannot be read. In a brief turn, a
    file that takes longer is left to a full turn.

    Args:
        max_features: of the layer; None: any number, and reading may take any time and memory.
        progress: observes how many features are read.

    Raises:
        LeaseLost: the import was canceled, or another worker has it.
    """

    def renew() -> None:
        with in_transaction():
            lock_leased(leased)

    def clear() -> None:
        ids = leased.account_id, leased.import_id
        delete_features(*ids, in_transaction, lambda: lock_leased(leased))

    with in_transaction():
        lock_leased(leased).progress_done = 0
    clear()
    is_limited = max_features is not None
    summary = FeatureSummary()
    limits = BRIEF_LIMITS if leased.is_brief else _LIMITS
    end = time.monotonic() + limits.wait_seconds if leased.is_brief else float("inf")
    try:
        with ReaderProcess(path, renew, limits if is_limited else None) as process:
            plan = plan_layer(leased, process, in_transaction, max_features)
            seconds = DECIDE_SECONDS if is_limited else float("inf")
            matcher = plan.matcher
            matcher.max_seconds = seconds
            progress.start(plan.features)
            batches = process.features(plan.layer, plan.crs, plan.options)
            for batch in () if plan.crs_is_open else batches:
                decided = ((_decided_row(leased, matcher, one), one) for one in batch)
                for rows in batched_by_time(decided, BATCH_SECONDS):
                    _store_rows(leased, [row for row, _ in rows], in_transaction)
                    summary.add(rows)
                    progress.advance(len(rows))
                    if time.monotonic() > end:
                        raise TooCostly(TOO_SLOW)
            notes = [*process.notes(), *summary.notes()]
            if plan.crs_is_open:  # asks the same
                notes = [note for note in notes if not note.endswith(IF_METERS)]
        seconds = IMPORT_OVERLAPS_SECONDS if is_limited else float("inf")
        seconds = min(seconds, end - time.monotonic())
        notes += _store_overlaps(leased, summary.placed, seconds, renew, in_transaction)
    except FileInvalid as error:
        clear()
        with in_transaction():
            import_ = lock_leased(leased)
            if not isinstance(error, TooCostly):
                end_step(import_, "failed", str(error))
            elif leased.is_brief:
                import_.is_long = True
                put_back(import_)
            else:
                end_costly(import_, str(error))
        return
    with in_transaction():
        import_ = lock_leased(leased)
        import_.notes = [*import_.notes, *notes]
        counts = count_features(leased.account_id, leased.import_id)
        import_.counts = counts | summary.as_json()
        question = required_question(import_.questions)
        end_step(import_, "ready", question["message"] if question else None)


def _decided_row(
    leased: LeasedImport, matcher: Matcher, feature: Candidate | RejectedFeature
) -> dict[str, Any]:
    """The row of a feature. Raises TooCostly."""
    decision: Decision | None = None
    if isinstance(feature, Candidate):
        try:
            decision = matcher.decide(feature)
        except CannotImport as error:
            problem = whole_problem("conflict", error.message, error.field)
            rejected = feature.number, feature.name, (problem,), feature.geometry, feature.is_plot
            feature = RejectedFeature(*rejected)
    return feature_row(leased.account_id, leased.import_id, feature, decision)


def _store_overlaps(
    leased: LeasedImport,
    placed: Sequence[PlacedFeature],
    seconds: float,
    renew: Callable[[], None],
    in_transaction: Transaction,
) -> list[str]:
    """Find and store the overlaps of features. Returns a note if there was no time for all.

    Raises:
        TooCostly: it takes longer than a brief turn.
    """
    overlaps = find_overlaps(leased.account_id, leased.import_id, placed, seconds, renew)
    if leased.is_brief and not overlaps.is_complete:
        raise TooCostly(TOO_SLOW)
    columns = list(overlaps.columns.items())
    for start in range(0, len(columns), _OVERLAPS_AT_ONCE):
        with in_transaction():
            lock_leased(leased)
            changes = columns[start : start + _OVERLAPS_AT_ONCE]
            update_features(leased.account_id, leased.import_id, changes)
    return [] if overlaps.is_complete else [_NOT_COMPARED]


def _store_rows(
    leased: LeasedImport, rows: Sequence[dict[str, Any]], in_transaction: Transaction
) -> None:
    with in_transaction():
        import_ = lock_leased(leased)
        left_out = set(import_.left_out)
        insert_features([{**row, "left_out": row["number"] in left_out} for row in rows])
        import_.progress_done += len(rows)


def affordable_layers(import_: Import) -> set[str]:
    """The names of the layers that are not known to be too costly to read."""
    names = {layer["name"] for layer in import_.layers}
    # All folders together are as costly as the costliest of them.
    all_folders = [ALL_FOLDERS] if import_.costly_layers else []
    return names.difference(import_.costly_layers, all_folders)
