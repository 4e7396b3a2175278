"""The examples of boundaries in the API's description."""

from __future__ import annotations

from typing import Any, Final

OPEN_RING: Final[dict[str, Any]] = {
    "type": "Polygon",
    "coordinates": [[[8.1, 48.1], [8.2, 48.1], [8.2, 48.2], [8.1, 48.2]]],
}
REPORT: Final[dict[str, Any]] = {
    "valid": False,
    "area_hectares": None,
    "problems": [
        {
            "code": "not_closed",
            "message": "Ring 0, position 3 differs from the first position. "
            "Close the ring: repeat the first position as the last.",
            "part": None,
            "ring": 0,
            "position": 3,
            "coordinates": [8.1, 48.2],
        }
    ],
}

BOUNDARY_GEOMETRY: Final[dict[str, Any]] = {
    "type": "Polygon",
    "coordinates": [[[8.1, 48.1], [8.2, 48.1], [8.2, 48.2], [8.1, 48.1]]],
}
BOUNDARY: Final[dict[str, Any]] = {
    "id": "bnd_01k9zr2c6hw4v8n1mx5t7d3qbe",
    "area_hectares": 35692.7657,
    "added_hectares": 112.4051,
    "removed_hectares": 3.0216,
    "source": "dashboard",
    "created_at": "2026-01-03T10:20:30.456Z",
    "created_by": {"id": "user_01k9zq1b5c7x2m4v8n6t3w0qfd", "email": "ada@example.org"},
    "replaced_at": None,
}

OVERLAP: Final[dict[str, Any]] = {
    "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
    "name": "Cottage Grove District",
    "overlap_hectares": 12.3456,
    "share": 0.080512,
}
