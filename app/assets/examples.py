"""What the API's description shows of assets."""

from __future__ import annotations

from typing import Any, Final

ASSET_BODY: Final[dict[str, Any]] = {
    "name": "Weather station 4",
    "type": "monitoring_station",
    "location": {"type": "Point", "coordinates": [-122.6512, 43.6638]},
    "metadata": {"serial": "WX-2041", "sensors": ["wind", "humidity"]},
}
ASSET: Final[dict[str, Any]] = {
    "id": "asset_01k9zq7c4d8r0v3nwk5t2m6xbe",
    "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
    **{name: ASSET_BODY[name] for name in ("name", "type", "location")},
    "status": "active",
    "metadata": ASSET_BODY["metadata"],
    "created_at": "2026-01-02T03:04:05.678Z",
    "updated_at": "2026-01-02T03:04:05.678Z",
}
ASSET_CHANGE: Final[dict[str, Any]] = {"status": "maintenance"}
