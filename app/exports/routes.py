"""/v1/exports."""

from __future__ import annotations

from typing import Any, Final

from flask import Response

from app.api.blueprint import ApiBlueprint
from app.auth.principal import Principal
from app.eudr.records import check_points
from app.exports.responses import export_response
from app.exports.schemas import AssetExportQuerySchema, ProjectExportQuerySchema
from app.exports.service import FORMATS, export_of
from app.policy.files import EUDR_FORMATS, FORMATS_OUT

bp = ApiBlueprint("exports", "/v1", "All projects or all assets as one file.")

# The first bytes of each format, as examples in the API description.
_BEGINNINGS: Final[dict[str, str]] = {
    "geojson": '{"type":"FeatureCollection","features":[',
    "geojsonl": '{"type":"Feature","id":"proj_01k9zq3mgse2j7tbyw5c4r8nhd",',
    "csv": "id,name,",
    "kml": '<?xml version="1.0" encoding="UTF-8"?>',
    "gpkg": "SQLite format 3",
    "shp": "PK",
    "gpx": '<?xml version="1.0" encoding="UTF-8"?>',
}


def _example_files(kind: str) -> dict[str, str]:
    return {
        FORMATS_OUT[name][0]: _BEGINNINGS[name]
        for name in FORMATS[kind]
        if name not in EUDR_FORMATS
    }


@bp.operation(
    "GET /exports/projects",
    needs="projects:read",
    of_some_projects=True,
    query=ProjectExportQuerySchema,
    gives=(200, None),
    files=_example_files("projects"),
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
    files=_example_files("assets"),
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
