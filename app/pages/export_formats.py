"""The formats of files, as people know them."""

from __future__ import annotations

from typing import Final

from app.exports.service import FORMATS

_NAMES: Final[dict[str, str]] = {
    "geojson": "GeoJSON",
    "geojsonl": "GeoJSON, one feature a line",
    "csv": "CSV (spreadsheet)",
    "kml": "KML (Google Earth)",
    "gpkg": "GeoPackage (QGIS)",
    "shp": "Shapefile, zipped",
    "gpx": "GPX (GPS devices)",
    "eudr": "EUDR (GeoJSON)",
}


def format_names(kind: str) -> dict[str, str]:
    """The formats that projects or assets can be exported in: the name of each, by its word."""
    return {name: _NAMES[name] for name in FORMATS[kind]}
