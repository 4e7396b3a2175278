"""Examples for the API's description, and what it says of mappings."""

from __future__ import annotations

from typing import Any, Final

MAPPING: Final[dict[str, Any]] = {
    "name": "DISTRICT",
    "external_id": "ID",
    "metadata": ["FOREST", "REGION"],
}
UPLOAD: Final[dict[str, Any]] = {"file": "districts.zip", "match": "external_id"}
CHANGE: Final[dict[str, Any]] = {"mapping": MAPPING, "match": "external_id"}
SUMMARY: Final[dict[str, Any]] = {
    "id": "imp_01k9zr2c8w4h6t0y3v7m5n1bqd",
    "kind": "projects",
    "project_id": None,
    "filename": "districts.zip",
    "format": "shp",
    "crs": "EPSG:32610",
    "status": "ready",
    "message": None,
    "layer": "districts",
    "match": "external_id",
    "close_lines": False,
    "counts": {"new": 2, "changed": 1, "same": 20, "rejected": 1, "undone": 0, "kept": 0},
    "hectares": {"before": 35692.7657, "after": 98120.1254},
    "bbox": [-124.2038, 42.8106, -121.9662, 44.3011],
    "notes": [],
    "progress": {"done": 24, "total": 24},
    "created_at": "2026-01-02T03:04:05.678Z",
    "updated_at": "2026-01-02T03:04:06.512Z",
    "created_by": {"id": "user_01k9zq1n6g5x8c2v4b7m0d3fht", "email": "ada@example.org"},
}
IMPORT: Final[dict[str, Any]] = SUMMARY | {
    "layers": [
        {
            "name": "districts",
            "features": 24,
            "columns": ["ID", "DISTRICT", "FOREST", "REGION"],
            "crs": "EPSG:32610",
            "accuracy": 0,
        }
    ],
    "mapping": {**MAPPING, "description": None},
}
FEATURE: Final[dict[str, Any]] = {
    "number": 7,
    "name": "Cottage Grove District",
    "verdict": "changed",
    "state": None,
    "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
    "area_hectares": 35701.2213,
    "previous_area_hectares": 35692.7657,
    "changes": ["geometry"],
    "problems": [],
}

MAPPING_SHAPE: Final[dict[str, Any]] = {
    "description": (
        "The column for each field. `metadata` lists the columns that become metadata; null: all "
        "that no field is read from. Fields that you leave out are guessed; null reads a field "
        "from no column."
    ),
    "type": "object",
}
