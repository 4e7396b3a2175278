"""The operations on assets."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam

from app.api.immutable import check_fixed
from app.api.uniqueness import UniqueField, naming_conflicts
from app.assets.derived import location_columns, search_columns, stored_bytes
from app.assets.record import COLUMNS, asset_data, asset_record, row_record
from app.audit.entries import Changes, changes_of_new, write_entry
from app.audit.targets import Target
from app.auth.principal import Principal
from app.auth.tenant import columns_of, find_locked
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import insert_row
from app.events.outbox import EventActor, emit_event
from app.geometry import Point
from app.http.errors import NotFound
from app.http.etags import ANY, IfMatch
from app.models import Asset
from app.policy.fields import ASSET
from app.projects.lookup import hold_project
from app.usage.counters import count_bytes
from app.values import clock
from app.values.ids import is_id, new_id
from app.values.records import changed_fields, mapped_row, set_columns

_EXTERNAL_ID: Final = UniqueField(
    "external_id", "asset", Asset, ("account_id", "external_id", "project_id")
)
_WRITTEN = ("project_id", *(field.name for field in ASSET if field.writable != "never"))
_ONE = CompiledQuery(
    columns_of(Asset, *COLUMNS).where(
        Asset.id == bindparam("asset_id"), Asset.project_id == bindparam("project_id")
    )
)


def read_asset(account_id: str, project_id: str, asset_id: str) -> dict[str, Any]:
    """The record of an asset. Raises NotFound if the project has no such asset."""
    if not (is_id("project", project_id) and is_id("asset", asset_id)):
        raise _not_found()
    rows = _ONE.tuples(account_id=account_id, project_id=project_id, asset_id=asset_id)
    if not rows:
        raise _not_found()
    return row_record(*rows[0])


def check_asset(principal: Principal, project_id: str, asset_id: str) -> None:
    """Raise NotFound if the account has no such project, or the project no such asset."""
    read_asset(principal.account_id, project_id, asset_id)


def create_asset(
    principal: Principal,
    project_id: str,
    *,
    location: Point | None = None,
    **values: Any,
) -> dict[str, Any]:
    """Add an asset to a project, active unless ``values`` say otherwise. Returns its record.

    Args:
        values: the values of other fields, ``name`` among them, by column.

    Raises:
        NotFound: the account has no such project.
        Conflict: another asset of the project has this external id.
        Forbidden: the account would store more bytes than allowed, or its history is full.
    """
    hold_project(principal.account_id, project_id)
    moment = clock.now()
    row = {
        "id": new_id("asset"),
        "account_id": principal.account_id,
        "project_id": project_id,
        "status": "active",
        "created_at": moment,
        "updated_at": moment,
        **values,
        **search_columns(values["name"], values.get("external_id")),
        **location_columns(location),
    }
    with naming_conflicts((_EXTERNAL_ID,), row):
        insert_row(Asset, row)
    asset = row_record(*mapped_row(row, ASSET))
    emit_event("asset.created", asset, EventActor.of(principal))
    _log_asset_change("asset.created", asset, principal, changes_of_new(asset, *_WRITTEN))
    size = stored_bytes(row.get("metadata_json"))
    count_bytes(principal.account_id, size, is_bounded=True)
    return asset


def update_asset(
    principal: Principal,
    project_id: str,
    asset_id: str,
    values: dict[str, Any],
    if_match: IfMatch = ANY,
    *,
    is_bounded: bool = True,
) -> Asset:
    """Change the fields in ``values``; without a real change nothing happens.

    Args:
        is_bounded: the account's history must have room for the change.

    Raises:
        NotFound: the project has no such asset.
        PreconditionFailed: ``if_match`` does not hold.
        ValidationFailed: ``values`` has another id or project.
        Conflict: another asset of the project has this external id.
        Forbidden: the account would store more bytes than allowed, or its history is full.
    """
    asset = _lock_asset(principal, project_id, asset_id, if_match)
    before, size = asset_record(asset), stored_bytes(asset.metadata_json)
    columns = check_fixed(values, id=asset.id, project_id=project_id)
    if "location" in values:
        columns |= location_columns(values["location"])
    set_columns(asset, columns)
    changes = changed_fields(ASSET, before, asset_record(asset))
    if not changes:
        return asset
    set_columns(asset, search_columns(asset.name, asset.external_id))
    asset.updated_at = clock.now()
    names = ("account_id", "external_id", "project_id")
    with naming_conflicts((_EXTERNAL_ID,), {name: getattr(asset, name) for name in names}):
        db.session.flush()
    updated, actor = asset_record(asset), EventActor.of(principal)
    emit_event("asset.updated", updated, actor, changes=changes)
    if "status" in changes:
        emit_event("asset.status_changed", updated, actor, previous_status=before["status"])
    _log_asset_change("asset.updated", updated, principal, changes)
    more = stored_bytes(asset.metadata_json) - size
    count_bytes(asset.account_id, more, is_bounded=is_bounded)
    return asset


def delete_asset(
    principal: Principal, project_id: str, asset_id: str, if_match: IfMatch = ANY
) -> None:
    """Delete an asset. Raises NotFound, PreconditionFailed."""
    asset = _lock_asset(principal, project_id, asset_id, if_match)
    deleted = asset_record(asset)
    emit_event("asset.deleted", deleted, EventActor.of(principal))
    _log_asset_change("asset.deleted", deleted, principal)
    count_bytes(asset.account_id, -stored_bytes(asset.metadata_json))
    db.session.delete(asset)


def lock_asset(account_id: str, project_id: str, asset_id: str) -> Asset:
    """The asset, locked until the end of the transaction. Raises NotFound."""
    hold_project(account_id, project_id)
    asset = find_locked(account_id, Asset, asset_id) if is_id("asset", asset_id) else None
    if asset is None or asset.project_id != project_id:
        raise _not_found()
    return asset


def _not_found() -> NotFound:
    return NotFound("This asset does not exist in this project.")


def _lock_asset(principal: Principal, project_id: str, asset_id: str, if_match: IfMatch) -> Asset:
    asset = lock_asset(principal.account_id, project_id, asset_id)
    if_match.check(asset_data(asset))
    return asset


def _log_asset_change(
    action: str, asset: dict[str, Any], principal: Principal, changes: Changes | None = None
) -> None:
    """Write an entry about an asset, given by its record."""
    target = Target("asset", asset["id"], asset["name"])
    write_entry(
        action, target, account_id=principal.account_id, changes=changes, principal=principal
    )
