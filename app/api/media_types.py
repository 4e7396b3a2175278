"""The requested format of resources with a geometry: the JSON envelope, or GeoJSON."""

from __future__ import annotations

from typing import Final

from flask import g, request

from app.api.openapi.geojson import FORMATS, GEOJSON
from app.api.parsing import INVALID_QUERY
from app.formats.writers.features import FeatureType
from app.http.errors import BadRequest, Detail

JSON: Final = "application/json"
PARAMETER: Final = "format"


def wanted_features() -> FeatureType | None:
    """Return how records become Features if this request asks for GeoJSON and the operation has it;
    else None. A client that accepts both equally gets JSON.

    Raises:
        BadRequest: there is no such format.
    """
    features: FeatureType | None = g.get("features")
    return features if features is not None and _wants_geojson() else None


def _wants_geojson() -> bool:
    format_name = request.args.get(PARAMETER)
    if format_name is None:
        if GEOJSON not in request.environ.get("HTTP_ACCEPT", "").lower():
            return False
        return request.accept_mimetypes.best_match((JSON, GEOJSON)) == GEOJSON
    if format_name not in FORMATS:
        detail = Detail(PARAMETER, f"Must be one of: {', '.join(FORMATS)}.", "not_one_of")
        raise BadRequest(INVALID_QUERY, details=[detail])
    return format_name == "geojson"
