"""Completes a change made with SQL: derived columns, counters, an event.

While a row exists, nothing that was reported of it is believed: it is locked and read. Its last
event says what was published of it. So a change that was published already, by the service itself
or after an earlier report, is not published again, however often it is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy.exc import DataError
from sqlalchemy.orm import undefer
from sqlalchemy.orm.attributes import flag_modified

from app.auth.tenant import account_of, find_locked
from app.database_webhook import last_published
from app.database_webhook.assets import AssetAdapter
from app.database_webhook.auditing import record_entry
from app.database_webhook.change import Change, in_utc
from app.database_webhook.leaving import (
    is_complete,
    known_account,
    last_state,
    owner_of,
    publish_deletion,
    publish_move,
)
from app.database_webhook.projects import ProjectAdapter
from app.database_webhook.reported import reported_fields
from app.database_webhook.table_adapter import TableAdapter
from app.db.extensions import db
from app.events.outbox import EventActor, emit
from app.http.errors import Detail, ValidationFailed
from app.models import Project
from app.usage.counters import lock_counters, recount
from app.values import clock
from app.values.ids import is_id
from app.values.strict_json import dumps, loads_own

APPLIED: Final = "applied"
IGNORED: Final = "ignored"

_TABLES: Final[dict[str, TableAdapter]] = {"projects": ProjectAdapter(), "assets": AssetAdapter()}
_NOT_COMPARED: Final = ("id", "area_hectares", "updated_at")


def apply_change(change: Change) -> str:
    """Complete a change, in the caller's transaction. Returns APPLIED or IGNORED.

    Raises:
        ValidationFailed: the row holds what the service would reject.
    """
    rows = _TABLES.get(change.table)
    if rows is None or not is_id(rows.name, change.row_id):
        return IGNORED
    done = (
        _publish_deletion(rows, change) if change.type == "DELETE" else _complete_row(rows, change)
    )
    return APPLIED if done else IGNORED


def _complete_row(rows: TableAdapter, change: Change) -> bool:
    """Correct a row and publish how it differs from its last event. False when all is right."""
    account_id = account_of(rows.model, change.row_id)
    if account_id is None:
        return False
    boundaries = rows.read_boundary(account_id, change.row_id)
    actor, former_id = owner_of(account_id), known_account(change)
    former = None if former_id == account_id else owner_of(former_id)
    locked = _lock(rows, account_id, change.row_id)
    if actor is None or locked is None:
        return False
    row, created_at = locked
    known = last_published.last(account_id, change.row_id)
    corrected, boundary_changed = rows.recompute_derived(row, boundaries)
    if row.created_at.tzinfo is None or row.created_at != created_at:
        row.created_at, corrected = created_at, True
    record: dict[str, Any] = loads_own(dumps(rows.record(row)))
    is_moved = former is not None and publish_move(rows, change, former, record)
    is_new = known.is_deleted if known is not None else is_moved
    if change.type == "INSERT":  # the service may have changed it since, before this report
        is_new = is_new or not last_published.was_created(rows, account_id, change.row_id)
    if known is None:
        before = reported_fields(rows.fields, change.old_record)
        boundary_changed = boundary_changed or rows.boundary_differs(change.old_record, row)
    else:
        before = known.data
        boundary_changed = boundary_changed or before.get("area_hectares") != record.get(
            "area_hectares"
        )
    changes = {} if is_new else _changes(before, record, boundary_changed)
    if not (is_new or is_moved or changes or corrected):
        if change.may_count(rows.counted):  # likewise
            _recount(change, actor)
        return False
    row.updated_at = clock.now()
    flag_modified(row, "created_at")  # in the form that SQLite's texts of moments have
    db.session.flush()
    rows.keep_history(row, change.old_record, boundary_changed=boundary_changed)
    _publish(rows, rows.record(row), actor, changes, is_new=is_new)
    _recount(change, actor, former)
    return True


def _publish_deletion(rows: TableAdapter, change: Change) -> bool:
    """Publish that a row is gone. False when it exists, or that was published before."""
    row_id, actor = change.row_id, owner_of(known_account(change))
    if actor is None:
        return False
    lock_counters(actor.account_id)  # a report of the same deletion has no row to wait for
    known = last_published.last(actor.account_id, row_id)
    if account_of(rows.model, row_id) is not None or (known and known.is_deleted):
        return False
    state = last_state(rows, change, known.data if known else {})
    if not is_complete(rows, state):
        recount(actor.account_id)  # an event would lack fields; counts and pages need none
        return False
    if rows.name == "asset" and not _has_project(state["project_id"]):
        return False  # it was deleted with its project, whose event stands for both
    publish_deletion(rows, state, actor)
    recount(actor.account_id)
    return True


def _recount(change: Change, *owners: EventActor | None) -> None:
    """Recount the accounts of a row, and the one that was reported."""
    reported = change.old_record.get("account_id")
    ids = {reported} if isinstance(reported, str) and is_id("account", reported) else set()
    for account_id in sorted(ids | {owner.account_id for owner in owners if owner}):
        recount(account_id)


def _has_project(project_id: str) -> bool:
    return is_id("project", project_id) and account_of(Project, project_id) is not None


def _lock(rows: TableAdapter, account_id: str, row_id: str) -> tuple[Any, datetime] | None:
    """The row with all its columns, locked, and when it was created, in UTC; or None.

    Raises ValidationFailed for a time that Python cannot read: SQLite keeps any text, and
    PostgreSQL has years before 1 and after 9999, and infinity.
    """
    try:
        row = find_locked(account_id, rows.model, row_id, undefer(rows.model.search_text))
        return None if row is None else (row, in_utc(row.created_at))
    except (ValueError, OverflowError, DataError):
        message = "Must be a time such as 2026-01-02T03:04:05.678Z, and so must updated_at."
        raise ValidationFailed(details=[Detail("created_at", message)]) from None


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], boundary_changed: bool
) -> dict[str, dict[str, Any]]:
    """How the fields that are known from before differ, as in the events of the service."""
    changes = {
        name: {"from": before[name], "to": value}
        for name, value in after.items()
        if name in before
        and name not in _NOT_COMPARED
        and dumps(before[name]) != dumps(value)  # True is 1, and no other value in JSON
    }
    if boundary_changed:
        areas = {"from": before.get("area_hectares"), "to": after["area_hectares"]}
        changes |= {"geometry": {"changed": True}, "area_hectares": areas}
    return changes


def _publish(
    rows: TableAdapter,
    record: dict[str, Any],
    actor: EventActor,
    changes: dict[str, dict[str, Any]],
    *,
    is_new: bool,
) -> None:
    action = f"{rows.name}.{'created' if is_new else 'updated'}"
    record_entry(action, rows, record, actor.account_id, changes)
    if is_new:
        emit(f"{rows.name}.created", record, actor)
    elif changes:
        emit(f"{rows.name}.updated", record, actor, changes=changes)
        if rows.name == "asset" and "status" in changes:
            previous = changes["status"]["from"]
            emit("asset.status_changed", record, actor, previous_status=previous)
