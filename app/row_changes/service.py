"""What a change made with SQL is followed by: derived columns, counters, an event.

Nothing that was told of a row is believed while the row is there: it is locked and looked at. What
was announced of it is in its last event. So a change that was announced already, by the service
itself or when it was told before, is not announced again, however often it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy.exc import DataError
from sqlalchemy.orm import undefer
from sqlalchemy.orm.attributes import flag_modified

from app.auth.operator import acting_for, first_owner
from app.auth.tenant import account_of, find_locked
from app.db.extensions import db
from app.http.errors import Detail, ValidationFailed
from app.models import Account, Project
from app.outbox import Actor, emit
from app.policy.events import EVENTS
from app.row_changes import last_published
from app.row_changes.assets import AssetAdapter
from app.row_changes.change import Change, in_utc
from app.row_changes.projects import ProjectAdapter
from app.row_changes.table_adapter import TableAdapter
from app.usage.service import lock_counters, recount
from app.values import clock
from app.values.ids import is_id
from app.values.strict_json import dumps, loads

APPLIED: Final = "applied"
IGNORED: Final = "ignored"

_TABLES: Final[dict[str, TableAdapter]] = {"projects": ProjectAdapter(), "assets": AssetAdapter()}
_NOT_COMPARED: Final = ("id", "area_hectares", "updated_at")
_NULLS: Final = dict.fromkeys(("description", "area_hectares", "location", "metadata"))


def take(change: Change) -> str:
    """Do what a change asks for, in the transaction at hand. Returns APPLIED or IGNORED.

    Raises:
        ValidationFailed: the row holds what the service would refuse.
    """
    rows = _TABLES.get(change.table)
    if rows is None or not is_id(rows.name, change.row_id):
        return IGNORED
    done = _take_away(rows, change) if change.type == "DELETE" else _take_over(rows, change)
    return APPLIED if done else IGNORED


def _take_over(rows: TableAdapter, change: Change) -> bool:
    """Mend a row and announce how it differs from what was announced. False when all is right."""
    account_id = account_of(rows.model, change.row_id)
    if account_id is None:
        return False
    looked_at = rows.look_at(account_id, change.row_id)
    origin = _origin(account_id)
    locked = _lock(rows, account_id, change.row_id)
    if origin is None or locked is None:
        return False
    row, created_at = locked
    known = last_published.last(account_id, change.row_id)
    mended, moved = rows.recompute_derived(row, looked_at)
    if row.created_at.tzinfo is None or row.created_at != created_at:
        row.created_at, mended = created_at, True
    record: dict[str, Any] = loads(dumps(rows.record(row)))
    is_new = known.is_deleted if known is not None else False
    if change.type == "INSERT":  # the service may have changed it since, before this was told
        is_new = is_new or not last_published.was_created(rows, account_id, change.row_id)
    if known is None:
        before = rows.shown(change.old_record)
        moved = moved or rows.has_moved(change.old_record, row)
    else:
        before = known.data
        moved = moved or before.get("area_hectares") != record.get("area_hectares")
    changes = {} if is_new else _changes(before, record, moved)
    if not (is_new or changes or mended):
        if change.may_count:  # likewise
            _count(rows, account_id)
        return False
    row.updated_at = clock.now()
    flag_modified(row, "created_at")  # in the form that SQLite's texts of moments have
    db.session.flush()
    _announce(rows, rows.record(row), origin, changes, is_new=is_new)
    _count(rows, account_id)
    return True


def _take_away(rows: TableAdapter, change: Change) -> bool:
    """Announce that a row is gone. False when it is there, or that was announced before."""
    row_id = change.row_id
    last = last_published.account_of_subject(row_id)
    origin = _origin(change.old_record.get("account_id") if last is None else last.account_id)
    if origin is None:
        return False
    lock_counters(origin.account_id)  # there is no row to wait at for who tells of the same
    known = last_published.last(origin.account_id, row_id)
    if account_of(rows.model, row_id) is not None or (known and known.is_deleted):
        return False
    state: dict[str, Any] = _NULLS | (known.data if known else {}) | rows.shown(change.old_record)
    state["id"] = row_id
    if not state.keys() >= set(EVENTS[f"{rows.name}.deleted"].fields):
        return False
    if rows.name == "asset" and not _has_project(state["project_id"]):
        return False  # it went with its project, whose event tells of both
    emit(f"{rows.name}.deleted", state, origin)
    _count(rows, origin.account_id)
    return True


def _has_project(project_id: str) -> bool:
    return is_id("project", project_id) and account_of(Project, project_id) is not None


def _origin(account_id: object) -> Actor | None:
    """The account, whose plan cannot change from here on, and the owner as who changed the row."""
    if not isinstance(account_id, str) or not is_id("account", account_id):
        return None
    shared = {"read": True, "key_share": True}
    account = db.session.get(Account, account_id, with_for_update=shared)
    owner = None if account is None else first_owner(account_id)
    return None if owner is None else Actor.of(acting_for(account, owner))


def _lock(rows: TableAdapter, account_id: str, row_id: str) -> tuple[Any, datetime] | None:
    """The row with all its columns, locked, and when it was created, in UTC; or None.

    Raises ValidationFailed for a moment that is none: SQLite keeps any text, and PostgreSQL has
    years before 1 and after 9999, and infinity.
    """
    try:
        row = find_locked(account_id, rows.model, row_id, undefer(rows.model.search_text))
        return None if row is None else (row, in_utc(row.created_at))
    except (ValueError, OverflowError, DataError):
        told = "Must be a moment such as 2026-01-02T03:04:05.678Z, and so must updated_at."
        raise ValidationFailed(details=[Detail("created_at", told)]) from None


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], moved: bool
) -> dict[str, dict[str, Any]]:
    """What differs of the fields that are known from before, as in the events of the service."""
    changes = {
        name: {"from": before[name], "to": value}
        for name, value in after.items()
        if name in before
        and name not in _NOT_COMPARED
        and dumps(before[name]) != dumps(value)  # True is 1, and no other value in JSON
    }
    if moved:
        areas = {"from": before.get("area_hectares"), "to": after["area_hectares"]}
        changes |= {"geometry": {"changed": True}, "area_hectares": areas}
    return changes


def _announce(
    rows: TableAdapter,
    record: dict[str, Any],
    origin: Actor,
    changes: dict[str, dict[str, Any]],
    *,
    is_new: bool,
) -> None:
    if is_new:
        emit(f"{rows.name}.created", record, origin)
    elif changes:
        emit(f"{rows.name}.updated", record, origin, changes=changes)
        if rows.name == "asset" and "status" in changes:
            previous = changes["status"]["from"]
            emit("asset.status_changed", record, origin, previous_status=previous)


def _count(rows: TableAdapter, account_id: str) -> None:
    """Count anew after the event; assets are not counted."""
    if rows.name == "project":
        recount(account_id)
