"""Repairing what is derived: ``bin/canopy doctor --repair``."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from sqlalchemy import URL

from app.audit.entries import changes_of_new, write_instance_entry
from app.auth.tenant import find_locked
from app.database_webhook.service import RowChange, apply_change
from app.db.snapshots import snapshot
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
    """What was repaired: the names of indexes, and the ids of rows, by kind. ``refused``: the rows
    that were not, each with the reason."""

    repaired: dict[str, list[str]]
    refused: dict[str, str]


def repair(url: URL, in_transaction: Transaction) -> Repairs:
    """Correct what is derived from other data and wrong: each row, and the counters of each
    account, in a transaction of its own; an index as a whole, for which changes wait.

    A row that was changed with SQL is completed as if it had been reported
    (``app.database_webhook``), with its event and its entry in the audit log. Shapes of maps are
    left to the job that makes them. Needs an app context on the same database.
    """
    repaired: dict[str, list[str]] = defaultdict(list)
    refused = {}
    repaired["indexes"] = rebuild_faulty(url)  # first, as changes of rows update them
    with snapshot(url) as connection:
        found = list(wrong_rows(connection))
    for row in found:
        reason = _repair_row(row, in_transaction)
        if reason is None:
            repaired[SHAPES if row.wrong == [SHAPES] else row.table].append(row.id)
        else:
            refused[row.id] = reason
    repaired["counters"] = [each.account_id for each in correct_counters(url, in_transaction)]
    done = {kind: names for kind, names in repaired.items() if names}
    if done:
        with in_transaction():
            numbers = {kind: len(names) for kind, names in done.items()}
            write_instance_entry("instance.repaired", changes_of_new(numbers))
    return Repairs(done, refused)


def _repair_row(row: WrongRow, in_transaction: Transaction) -> str | None:
    """Returns why it is not possible, or None."""
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
        faults = "; ".join(f"{each.field}: {each.message}" for each in error.details)
        return f"first correct what the API would reject ({faults})"
    return None if is_done else "it has changed meanwhile, or its account has no owner"
