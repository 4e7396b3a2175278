"""/v1/exports."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api.blueprint import ApiBlueprint
from app.auth.principal import Principal
from app.eudr.records import check_points
from app.exports.responses import export_response
from app.exports.schemas import AssetExportQuerySchema, ProjectExportQuerySchema
from app.exports.service import FORMATS, export_of
from app.policy.files import EUDR_FORMATS, FORMATS_OUT

bp = ApiBlueprint("exports", "/v1", "All projects or all assets as one file.")


def _media_types(kind: str) -> dict[str, str]:
    return {FORMATS_OUT[name][0]: "" for name in FORMATS[kind]}


@bp.operation(
    "GET /exports/projects",
    needs="projects:read",
    of_some_projects=True,
    query=ProjectExportQuerySchema,
    gives=(200, None),
    files=_media_types("projects"),
)
def export_projects(principal: Principal, values: dict[str, Any]) -> Response:
    """Export projects to a file.

    The oldest comes first. A response that ends early has failed, and its file is incomplete. While
    another export runs, the response is 503.
    """
    if values["format"] in EUDR_FORMATS:
        check_points(principal, values)
    return _export_response("projects", principal, values)


@bp.operation(
    "GET /exports/assets",
    needs="assets:read",
    of_some_projects=True,
    query=AssetExportQuerySchema,
    gives=(200, None),
    files=_media_types("assets"),
)
def export_assets(principal: Principal, values: dict[str, Any]) -> Response:
    """Export assets to a file.

    The oldest comes first. A response that ends early has failed, and its file is incomplete. While
    another export runs, the response is 503.
    """
    return _export_response("assets", principal, values)


def _export_response(kind: str, principal: Principal, values: dict[str, Any]) -> Response:
    values["within"] = principal.project_ids
    export = export_of(kind, principal.account_id, values)
    return export_response(export, principal.account_name)
