"""GeoJSON features and files of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

DISTRICTS: Final = Path(__file__).parents[1] / "data" / "districts.geojson"


def feature(geometry: Any = None, **properties: Any) -> dict[str, Any]:
    """A GeoJSON Feature."""
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def collection(*features: Any, **members: Any) -> bytes:
    """The text of a FeatureCollection; ``members`` stand before its features."""
    document = {"type": "FeatureCollection", **members, "features": list(features)}
    return json.dumps(document).encode()
