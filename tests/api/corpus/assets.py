"""Bodies of assets."""

from __future__ import annotations

from typing import Any

from app.policy.request_limits import METADATA_BYTES, METADATA_LEVELS
from tests.api.corpus.case import ASSET, Bad, create_asset

GOOD = {"name": "A", "type": "equipment"}


def _with(what: str, fields: str, **values: Any) -> Bad:
    return create_asset(what, fields, GOOD | values)


def _point(what: str, fields: str, coordinates: Any) -> Bad:
    location = {"type": "Point", "coordinates": coordinates}
    return create_asset(what, fields, GOOD | {"location": location})


def _put(what: str, fields: str, body: Any) -> Bad:
    return Bad(f"change: {what}", "PUT", ASSET, 422, fields, body)


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


CASES = [
    create_asset("nothing", "name type", {}),
    _with("type in capitals", "type", type="Equipment"),
    _with("status with a line feed inside", "status", status="act\nive"),
    _with("location a string", "location", location="50.1,8.2"),
    _with("location without coordinates", "location.coordinates", location={"type": "Point"}),
    _with("location a polygon", "location.type", location={"type": "Polygon", "coordinates": []}),
    _with("location a feature", "location.type", location={
        "type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
    }),
    _point("location of no numbers", "location.coordinates", []),
    _point("location of four numbers", "location.coordinates", [1, 2, 3, 4]),
    _point("location of strings", "location.coordinates", ["1", "2"]),
    _point("location nested", "location.coordinates", [[1, 2]]),
    _point("location past the east", "location.coordinates", [180.0001, 0]),
    _point("latitude first", "location.coordinates", [8.2, 150.1]),
    _with("metadata false", "metadata", metadata=False),
    _with("metadata too large", "metadata", metadata={"k": "x" * METADATA_BYTES}),
    _with("metadata large in UTF-8 only", "metadata", metadata={"k": "ü" * 8190}),
    _with("metadata with NUL", "metadata", metadata={"k": "a\x00b"}),
    _with("metadata with NUL deep inside", "metadata", metadata={"k": [{"x": ["\x00"]}]}),
    _with("metadata a level too deep", "metadata", metadata=_deep(METADATA_LEVELS + 1)),
    _with("metadata 900 deep", "metadata", metadata=_deep(900)),
    _with("the column behind a field", "metadata_json", metadata_json="{}"),
    create_asset("everything wrong", "name type status location metadata x", {
        "name": 1, "type": 2, "status": 3, "location": 4, "metadata": 5, "x": 6,
    }),
    _put("another type in capitals", "type", {"type": "TOWER"}),
]  # fmt: skip
