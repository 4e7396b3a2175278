"""Completing changes made with SQL: derived columns, boundary history, event, entry, counters.

A report only says which row to look at: the row is read from the database, and compared with its
last event. So no change is published twice, whoever made it and however often it is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy.orm import undefer

from app.audit.entries import write_entry
from app.audit.origin import Actor, is_command
from app.audit.targets import Target
from app.auth.operator import acting_for, first_owner
from app.auth.tenant import account_of, find_locked, rows_of
from app.database_webhook.tables import TABLES, Record, ReportedTable
from app.db.extensions import db
from app.events.outbox import EventActor, emit_event
from app.http.errors import InvalidField
from app.models import Account, Event, Project
from app.projects.boundary_history.saving import is_saved, save_boundary_changed_by_sql
from app.usage.counters import lock_counters, recount_usage
from app.values import clock
from app.values.ids import is_id
from app.values.records import set_columns
from app.values.strict_json import dumps, loads_own

_DATABASE: Final = Actor("system", None, "Database")
_NOT_COMPARED: Final = ("id", "area_hectares", "updated_at")
_COUNTED: Final = ("status", "metadata")  # columns that an account's counters depend on

Changes = dict[str, dict[str, Any]]  # by field, as in events


class RowChange(NamedTuple):
    """A report. Its records may lack columns, and hold anything."""

    type: str
    table: str
    record: Mapping[str, Any]
    old_record: Mapping[str, Any]

    def may_change_counters(self) -> bool:
        """True if a column that counts has changed, or was not reported."""
        new, old = self.record, self.old_record
        are_reported = all(name in new and name in old for name in _COUNTED)
        return not are_reported or any(new[name] != old[name] for name in _COUNTED)


def apply_change(change: RowChange, *, recounts: bool = True) -> bool:
    """Complete a change in the caller's transaction. Returns False if there is nothing to do.

    Args:
        recounts: also correct the counters of the account.

    Raises:
        ValidationFailed: the row was moved to another account, or has values that the API rejects.
    """
    table, is_deletion = TABLES.get(change.table), change.type == "DELETE"
    row_id = (change.old_record if is_deletion else change.record).get("id")
    if table is None or not (isinstance(row_id, str) and is_id(table.name, row_id)):
        return False
    if is_deletion:
        return _publish_deletion(table, row_id, change.old_record)
    return _complete_row(table, row_id, change, recounts)


def _complete_row(table: ReportedTable, row_id: str, change: RowChange, recounts: bool) -> bool:
    """Correct a row, and publish how it differs from its last event."""
    account_id, former = account_of(table.model, row_id), change.old_record.get("account_id")
    if account_id is None:
        return False
    if former not in (None, account_id):  # its former values are not this account's to see
        raise InvalidField("account_id", "A row cannot be moved to another account.", "read_only")
    corrected = _lock_corrected(table, account_id, row_id)
    if corrected is None:
        return False
    row, owner, is_corrected = corrected
    is_new = _is_new(table, account_id, row_id, is_insert=change.type == "INSERT")
    has_changed = isinstance(row, Project) and not is_saved(row)
    before, last = None, _last_event(account_id, row_id)
    if last is not None:
        before = _event_data(last)
    elif former is not None:
        before = table.reported_record(change.old_record)
    changes = _record_changes(before, table.event_record(row), has_changed) if before else {}
    is_applied = is_new or is_corrected or has_changed or bool(changes)
    if is_applied:
        row.updated_at = clock.now()
        db.session.flush()
        if has_changed:
            save_boundary_changed_by_sql(row, change.old_record.get("geometry"))
        _publish_changes(
            table, table.event_record(row), owner, {} if is_new else changes, is_new=is_new
        )
    # The counters may be wrong even if an event of the service has published the change.
    if recounts and (is_applied or change.may_change_counters()):
        recount_usage(account_id)
    return is_applied


def _publish_deletion(table: ReportedTable, row_id: str, old_record: Mapping[str, Any]) -> bool:
    """Publish the deletion of a row, as it was reported or else as it was in its last event."""
    account_id = old_record.get("account_id")
    owner = _owner_of(account_id)
    if owner is None:
        return False
    lock_counters(owner.account_id)  # there is no row for which a second report would wait
    last = _last_event(owner.account_id, row_id)
    if account_of(table.model, row_id) is not None or (last and _is_deletion(last)):
        return False
    state = table.reported_record(old_record) or (_event_data(last) if last else None)
    if state is not None and _went_with_project(table, state):
        state = None  # the event of the project covers its assets
    if state is not None:
        emit_event(f"{table.name}.deleted", state, owner)
        _log_table_change(f"{table.name}.deleted", table, state, owner)
    recount_usage(owner.account_id)
    return state is not None


def _lock_corrected(
    table: ReportedTable, account_id: str, row_id: str
) -> tuple[Any, EventActor, bool] | None:
    """Lock a row and correct its derived columns. Returns (the row, the account's owner, True if a
    column was wrong), or None if the row or the owner is gone."""
    committed = table.read_committed(account_id, row_id)
    if committed is None:
        return None
    columns = table.stored_columns(committed)  # before the locks: a large boundary takes long
    owner = _owner_of(account_id)
    row = find_locked(account_id, table.model, row_id, undefer(table.model.search_text))
    if owner is None or row is None:
        return None
    if (written := table.written_columns(row)) != committed:
        columns = table.stored_columns(written)
    set_columns(row, columns)
    return row, owner, db.session.is_modified(row)


def _owner_of(account_id: object) -> EventActor | None:
    """Return the owner of an account as the actor of events, and lock the account's plan."""
    if not (isinstance(account_id, str) and is_id("account", account_id)):
        return None
    lock = {"read": True, "key_share": True}
    account = db.session.get(Account, account_id, with_for_update=lock)
    owner = None if account is None else first_owner(account_id)
    return None if owner is None else EventActor.of(acting_for(account, owner))


def _last_event(account_id: str, row_id: str, *types: str) -> Event | None:
    """Return the last event of a row, of these types if any are given; None if none is kept."""
    own = rows_of(account_id, Event).where(Event.subject_id == row_id)
    if types:
        own = own.where(Event.type.in_(types))
    return db.session.scalars(own.order_by(Event.id.desc()).limit(1)).first()


def _is_new(table: ReportedTable, account_id: str, row_id: str, *, is_insert: bool) -> bool:
    """True if no event has published the creation of an existing row."""
    lifecycle = (f"{table.name}.created", f"{table.name}.deleted")
    last = _last_event(account_id, row_id, *lifecycle)
    return is_insert if last is None else _is_deletion(last)


def _is_deletion(event: Event) -> bool:
    return event.type.endswith(".deleted")


def _event_data(event: Event) -> Record:
    data: Record = loads_own(event.body.encode())["data"]
    return data


def _went_with_project(table: ReportedTable, state: Record) -> bool:
    return table.name == "asset" and account_of(Project, state["project_id"]) is None


def _record_changes(before: Record, after: Record, has_new_boundary: bool) -> Changes:
    """Return the differences between the fields in both records, as the events of the service have
    them."""
    changes: Changes = {
        name: {"from": before[name], "to": value}
        for name, value in after.items()
        if name in before
        and name not in _NOT_COMPARED
        and dumps(before[name]) != dumps(value)  # True equals 1, and is another value in JSON
    }
    if has_new_boundary:
        areas = {"from": before.get("area_hectares"), "to": after["area_hectares"]}
        changes |= {"geometry": {"changed": True}, "area_hectares": areas}
    return changes


def _publish_changes(
    table: ReportedTable, record: Record, owner: EventActor, changes: Changes, *, is_new: bool
) -> None:
    """Write the audit entry of a new or corrected row, and its events if it has changed."""
    name = table.name
    if is_new:
        emit_event(f"{name}.created", record, owner)
    elif changes:
        emit_event(f"{name}.updated", record, owner, changes=changes)
    if name == "asset" and "status" in changes:
        previous = changes["status"]["from"]
        emit_event("asset.status_changed", record, owner, previous_status=previous)
    _log_table_change(f"{name}.{'created' if is_new else 'updated'}", table, record, owner, changes)


def _log_table_change(
    action: str,
    table: ReportedTable,
    record: Record,
    owner: EventActor,
    changes: Changes | None = None,
) -> None:
    """Write an entry of the audit log. The actor of a change with SQL is unknown; that of a
    command's correction is its operator."""
    target = Target(table.name, record["id"], record["name"])
    actor = None if is_command() else _DATABASE
    write_entry(action, target, account_id=owner.account_id, changes=changes, actor=actor)
