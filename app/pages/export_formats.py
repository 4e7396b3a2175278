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
    "eudr_simplified": "EUDR simplified (CSV)",
}


def format_names(kind: str) -> dict[str, str]:
    """Return the names of the formats for projects or assets, by the value of ``format``."""
    return {name: _NAMES[name] for name in FORMATS[kind]}
