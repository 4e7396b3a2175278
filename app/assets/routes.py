"""/v1/assets and /v1/projects/{project_id}/assets."""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.merge_patch import merge_metadata
from app.api.schemas import page_of, single_of
from app.assets import listing, service
from app.assets.listing import asset_query
from app.assets.record import asset_record
from app.assets.schemas import (
    AccountAssetQuerySchema,
    AssetCreateSchema,
    AssetQuerySchema,
    AssetSchema,
    AssetUpdateSchema,
)
from app.auth.principal import Principal
from app.formats.writers.features import ASSETS
from app.http.etags import IfMatch
from app.projects.lookup import check_project

bp = ApiBlueprint("assets", "/v1", "Equipment, stations and points of interest in a project.")
_ALL = "/projects/<project_id>/assets"
_ONE = f"{_ALL}/<asset_id>"


@bp.operation(
    "GET /assets",
    needs="assets:read",
    of_some_projects=True,
    query=AccountAssetQuerySchema,
    gives=(200, page_of(AssetSchema, some_fields=True)),
    features=ASSETS,
)
def list_all_assets(principal: Principal, values: dict[str, Any]) -> Response:
    """List the assets of all projects."""
    project_id = values.pop("project_id", None)
    query = asset_query(**values, within=principal.project_ids)
    records, total = listing.list_assets(principal.account_id, project_id, query)
    return envelope.page_response(records, total=total, number=query.page, size=query.per_page)


@bp.operation(
    f"GET {_ALL}",
    needs="assets:read",
    precheck=check_project,
    query=AssetQuerySchema,
    gives=(200, page_of(AssetSchema, some_fields=True)),
    features=ASSETS,
)
def list_assets(principal: Principal, values: dict[str, Any], project_id: str) -> Response:
    """List the assets of a project."""
    query = asset_query(**values)
    records, total = listing.list_assets(principal.account_id, project_id, query)
    return envelope.page_response(records, total=total, number=query.page, size=query.per_page)


@bp.operation(
    f"GET {_ONE}", needs="assets:read", gives=(200, single_of(AssetSchema)), features=ASSETS
)
def read_asset(principal: Principal, project_id: str, asset_id: str) -> Response:
    """Read an asset."""
    return envelope.record_response(service.read_asset(principal.account_id, project_id, asset_id))


@bp.operation(
    f"POST {_ALL}",
    needs="assets:write",
    precheck=check_project,
    takes=AssetCreateSchema,
    gives=(201, single_of(AssetSchema)),
    conflicts=True,
)
def create_asset(principal: Principal, values: dict[str, Any], project_id: str) -> Response:
    """Create an asset.

    `type` is any word, such as `equipment`, `monitoring_station` or `point_of_interest`. If another
    asset of the project has the same `external_id`, the response is 409 and names that asset.
    """
    asset = service.create_asset(principal, project_id, **values)
    location = f"/v1/projects/{project_id}/assets/{asset['id']}"
    return envelope.record_response(asset, status=201, location=location)


@bp.operation(
    f"PUT {_ONE}",
    needs="assets:write",
    precheck=service.check_asset,
    takes=AssetUpdateSchema,
    gives=(200, single_of(AssetSchema)),
    conditional=True,
    conflicts=True,
)
def update_asset(
    principal: Principal,
    values: dict[str, Any],
    project_id: str,
    asset_id: str,
    if_match: IfMatch,
) -> Response:
    """Update an asset."""
    lock = partial(service.lock_asset, principal.account_id, project_id, asset_id)
    merge_metadata(values, lock)
    asset = service.update_asset(principal, project_id, asset_id, values, if_match)
    return envelope.record_response(asset_record(asset))


@bp.operation(
    f"DELETE {_ONE}",
    needs="assets:write",
    precheck=service.check_asset,
    gives=(204, None),
    conditional=True,
)
def delete_asset(
    principal: Principal, project_id: str, asset_id: str, if_match: IfMatch
) -> Response:
    """Delete an asset."""
    service.delete_asset(principal, project_id, asset_id, if_match)
    return envelope.empty_response()
