"""Completing changes made with SQL: derived columns, former boundaries, event, entry, counters.

A report says which row to look at; what it is now is read from the database. The last event of the
row says what was published of it. So no change is published twice, whoever made it and however
often it is reported.
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
from app.events.outbox import EventActor, emit
from app.http.errors import Detail, ValidationFailed
from app.models import Account, Event, Project
from app.projects.boundary_history.saving import is_saved, save_boundary_changed_by_sql
from app.usage.counters import lock_counters, recount_usage
from app.values import clock
from app.values.ids import is_id
from app.values.records import set_columns
from app.values.strict_json import dumps, loads_own

_DATABASE: Final = Actor("system", None, "Database")
_NOT_COMPARED: Final = ("id", "area_hectares", "updated_at")
_COUNTED: Final = ("status", "metadata")  # columns that counters of the account follow from

Changes = dict[str, dict[str, Any]]  # by field, as events have them


class RowChange(NamedTuple):
    """A report. The records may lack columns, and hold anything."""

    type: str
    table: str
    record: Mapping[str, Any]
    old_record: Mapping[str, Any]

    def may_change_counters(self) -> bool:
        """Return whether a column that counts has changed, or was not reported."""
        columns = (self.record, self.old_record)
        known = all(name in each for name in _COUNTED for each in columns)
        return not known or any(self.record[name] != self.old_record[name] for name in _COUNTED)


def apply_change(change: RowChange, *, recounts: bool = True) -> bool:
    """Complete a change, in the caller's transaction. False when there is nothing to do.

    Args:
        recounts: correct the counters of the account, too.

    Raises:
        ValidationFailed: the row was moved to another account, or holds what the API would reject.
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
    if former not in (None, account_id):  # what it was there is none of this account's business
        message = "A row cannot be moved to another account."
        raise ValidationFailed(details=[Detail("account_id", message)])
    found = _lock_corrected(table, account_id, row_id)
    if found is None:
        return False
    row, owner, is_corrected = found
    is_new = _is_new(table, account_id, row_id, is_insert=change.type == "INSERT")
    has_changed = isinstance(row, Project) and not is_saved(row)
    before, last = None, _last_event(account_id, row_id)
    if last is not None:
        before = _data(last)
    elif former is not None:
        before = table.reported_record(change.old_record)
    changes = _changes(before, table.record(row), has_changed) if before else {}
    is_applied = is_new or is_corrected or has_changed or bool(changes)
    if is_applied:
        row.updated_at = clock.now()
        db.session.flush()
        if has_changed:
            save_boundary_changed_by_sql(row, change.old_record.get("geometry"))
        _publish(table, table.record(row), owner, {} if is_new else changes, is_new=is_new)
    # Of a change that an event of the service has published, the counters may know nothing yet.
    if recounts and (is_applied or change.may_change_counters()):
        recount_usage(account_id)
    return is_applied


def _publish_deletion(table: ReportedTable, row_id: str, old_record: Mapping[str, Any]) -> bool:
    """Publish that a row is gone, as it was reported or else as it was in its last event."""
    account_id = old_record.get("account_id")
    owner = _owner_of(account_id)
    if owner is None:
        return False
    lock_counters(owner.account_id)  # another report of the deletion has no row to wait for
    last = _last_event(owner.account_id, row_id)
    if account_of(table.model, row_id) is not None or (last and _is_deletion(last)):
        return False
    state = table.reported_record(old_record) or (_data(last) if last else None)
    if state is not None and _went_with_project(table, state):
        state = None  # the event of the project stands for its assets too
    if state is not None:
        emit(f"{table.name}.deleted", state, owner)
        _audit(f"{table.name}.deleted", table, state, owner)
    recount_usage(owner.account_id)
    return state is not None


def _lock_corrected(
    table: ReportedTable, account_id: str, row_id: str
) -> tuple[Any, EventActor, bool] | None:
    """Lock a row and compute its derived columns again. Returns it, the account's owner, and
    whether any column was wrong; None if one of the first two is gone."""
    committed = table.read_committed(account_id, row_id)
    if committed is None:
        return None
    columns = table.complete(committed)  # before the locks: a large boundary takes long
    owner = _owner_of(account_id)
    row = find_locked(account_id, table.model, row_id, undefer(table.model.search_text))
    if owner is None or row is None:
        return None
    if (written := table.written_columns(row)) != committed:
        columns = table.complete(written)
    set_columns(row, columns)
    return row, owner, db.session.is_modified(row)


def _owner_of(account_id: object) -> EventActor | None:
    """The owner of an account, as the actor of events. The account's plan cannot change anymore."""
    if not (isinstance(account_id, str) and is_id("account", account_id)):
        return None
    shared = {"read": True, "key_share": True}
    account = db.session.get(Account, account_id, with_for_update=shared)
    owner = None if account is None else first_owner(account_id)
    return None if owner is None else EventActor.of(acting_for(account, owner))


def _last_event(account_id: str, row_id: str, *types: str) -> Event | None:
    """The last event of a row, as far as events are kept.

    Args:
        types: of the event; any, when left out.
    """
    own = rows_of(account_id, Event).where(Event.subject_id == row_id)
    if types:
        own = own.where(Event.type.in_(types))
    return db.session.scalars(own.order_by(Event.id.desc()).limit(1)).first()


def _is_new(table: ReportedTable, account_id: str, row_id: str, *, is_insert: bool) -> bool:
    """Return whether no event says yet that a row that exists was created."""
    lifecycle = (f"{table.name}.created", f"{table.name}.deleted")
    last = _last_event(account_id, row_id, *lifecycle)
    return is_insert if last is None else _is_deletion(last)


def _is_deletion(event: Event) -> bool:
    return event.type.endswith(".deleted")


def _data(event: Event) -> Record:
    data: Record = loads_own(event.body.encode())["data"]
    return data


def _went_with_project(table: ReportedTable, state: Record) -> bool:
    return table.name == "asset" and account_of(Project, state["project_id"]) is None


def _changes(before: Record, after: Record, has_new_boundary: bool) -> Changes:
    """How the fields that are known from before differ, as in the events of the service."""
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


def _publish(
    table: ReportedTable, record: Record, owner: EventActor, changes: Changes, *, is_new: bool
) -> None:
    """Write the entry of a row that is new or was corrected, and its event, if it has changed."""
    name = table.name
    if is_new:
        emit(f"{name}.created", record, owner)
    elif changes:
        emit(f"{name}.updated", record, owner, changes=changes)
    if name == "asset" and "status" in changes:
        previous = changes["status"]["from"]
        emit("asset.status_changed", record, owner, previous_status=previous)
    _audit(f"{name}.{'created' if is_new else 'updated'}", table, record, owner, changes)


def _audit(
    action: str,
    table: ReportedTable,
    record: Record,
    owner: EventActor,
    changes: Changes | None = None,
) -> None:
    """Write an entry of the audit log: nobody knows who made the change. What a command corrects,
    its operator does."""
    target = Target(table.name, record["id"], record["name"])
    actor = None if is_command() else _DATABASE
    write_entry(action, target, account_id=owner.account_id, changes=changes, actor=actor)
