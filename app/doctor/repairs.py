"""Repairing derived data: ``bin/canopy doctor --repair``."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from sqlalchemy import URL

from app.audit.entries import changes_of_new, write_instance_entry
from app.auth.tenant import find_locked
from app.database_webhook.service import RowChange, apply_change
from app.db.snapshots import open_snapshot
from app.db.transactions import Transaction
from app.doctor.counters import correct_counters
from app.doctor.derived import FORMER, SHAPES, WrongRow, wrong_rows
from app.http.errors import ValidationFailed
from app.maintenance.sqlite_indexes import rebuild_faulty
from app.models import Project
from app.projects.boundary_history.entries import measure_former
from app.projects.boundary_history.saving import renew_shapes
from app.usage.counters import note_new_shapes


class Repairs(NamedTuple):
    """The results of a repair."""

    repaired: dict[str, list[str]]  # names of indexes and ids of rows, by kind
    refused: dict[str, str]  # reasons by id of row


def repair_instance(url: URL, in_transaction: Transaction) -> Repairs:
    """Correct wrong derived data, with a transaction for each row, for the counters of each
    account, and for each index, for which changes wait. Needs an app context on the same database.

    A row that was changed with SQL is completed as if it had been reported
    (``app.database_webhook``), with its event and its entry in the audit log. A job makes the
    shapes of maps.
    """
    repaired: dict[str, list[str]] = defaultdict(list)
    refused = {}
    repaired["indexes"] = rebuild_faulty(url)  # first, as changes of rows update them
    with open_snapshot(url) as connection:
        wrong = list(wrong_rows(connection))
    for row in wrong:
        reason = _repair_row(row, in_transaction)
        if reason is None:
            repaired[SHAPES if row.wrong == [SHAPES] else row.table].append(row.id)
        else:
            refused[row.id] = reason
    counters = correct_counters(url, in_transaction)
    repaired["counters"] = [account.account_id for account in counters]
    done = {kind: names for kind, names in repaired.items() if names}
    if done:
        with in_transaction():
            numbers = {kind: len(names) for kind, names in done.items()}
            write_instance_entry("instance.repaired", changes_of_new(numbers))
    return Repairs(done, refused)


def _repair_row(row: WrongRow, in_transaction: Transaction) -> str | None:
    """Repair a row. Returns None, or the reason why that is not possible."""
    try:
        with in_transaction():
            is_done = not {SHAPES, FORMER}.issuperset(row.wrong) and apply_change(
                RowChange("UPDATE", row.table, {"id": row.id}, {}), recounts=False
            )
            project = None
            if {SHAPES, FORMER}.intersection(row.wrong):
                project = find_locked(row.account_id, Project, row.id)
            if project is not None:
                is_done = True
                measure_former(project)
                if SHAPES in row.wrong:
                    renew_shapes(project)
            if is_done:
                note_new_shapes([row.account_id])  # so that maps and totals are not kept
    except ValidationFailed as error:
        faults = "; ".join(f"{detail.field}: {detail.message}" for detail in error.details)
        return f"first correct what the API would reject ({faults})"
    return None if is_done else "it has changed in the meantime, or its account has no owner"
