"""Bodies of assets."""

from __future__ import annotations

from typing import Any

from app.policy import bounds
from tests.api.corpus.case import ASSET, Bad, create_asset

GOOD = {"name": "A", "type": "equipment"}
WORD = "w" * 51


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
    create_asset("no type", "type", {"name": "A"}),
    create_asset("no name", "name", {"type": "equipment"}),
    _with("name empty", "name", name=""),
    _with("name a number", "name", name=1.5),
    _with("name too long", "name", name="x" * (bounds.NAME_LENGTH + 1)),
    _with("type null", "type", type=None),
    _with("type empty", "type", type=""),
    _with("type a number", "type", type=1),
    _with("type in capitals", "type", type="Equipment"),
    _with("type with a space", "type", type="fire tower"),
    _with("type that begins with a digit", "type", type="4x4"),
    _with("type that begins with a line", "type", type="_x"),
    _with("type of other letters", "type", type="gerät"),
    _with("type of other digits", "type", type="tower٣"),
    _with("type too long", "type", type=WORD),
    _with("status null", "status", status=None),
    _with("status empty", "status", status=""),
    _with("status in capitals", "status", status="Active"),
    _with("status with a line feed inside", "status", status="act\nive"),
    _with("status too long", "status", status=WORD),
    _with("status an object", "status", status={}),
    _with("location a string", "location", location="50.1,8.2"),
    _with("location an array", "location", location=[8.2, 50.1]),
    _with("location empty", "location.type", location={}),
    _with("location without coordinates", "location.coordinates", location={"type": "Point"}),
    _with("location of no type", "location.type", location={"coordinates": [1, 2]}),
    _with("location a polygon", "location.type", location={"type": "Polygon", "coordinates": []}),
    _with("location a feature", "location.type", location={
        "type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
    }),
    _point("location of no numbers", "location.coordinates", []),
    _point("location of one number", "location.coordinates", [1]),
    _point("location of four numbers", "location.coordinates", [1, 2, 3, 4]),
    _point("location of strings", "location.coordinates", ["1", "2"]),
    _point("location of nulls", "location.coordinates", [None, None]),
    _point("location of booleans", "location.coordinates", [True, False]),
    _point("location nested", "location.coordinates", [[1, 2]]),
    _point("location null inside", "location.coordinates", None),
    _point("location past the east", "location.coordinates", [180.0001, 0]),
    _point("location past the pole", "location.coordinates", [0, -90.5]),
    _point("latitude first", "location.coordinates", [8.2, 150.1]),
    _with("metadata a string", "metadata", metadata="{}"),
    _with("metadata an array", "metadata", metadata=[1]),
    _with("metadata a number", "metadata", metadata=0),
    _with("metadata false", "metadata", metadata=False),
    _with("metadata of 51 keys", "metadata", metadata={f"k{n}": n for n in range(51)}),
    _with("metadata too large", "metadata", metadata={"k": "x" * bounds.METADATA_BYTES}),
    _with("metadata large in UTF-8 only", "metadata", metadata={"k": "ü" * 8190}),
    _with("metadata with NUL", "metadata", metadata={"k": "a\x00b"}),
    _with("metadata with NUL in a name", "metadata", metadata={"\x00": 1}),
    _with("metadata with NUL deep inside", "metadata", metadata={"k": [{"x": ["\x00"]}]}),
    _with("metadata a level too deep", "metadata", metadata=_deep(bounds.METADATA_LEVELS + 1)),
    _with("metadata 300 deep", "metadata", metadata=_deep(300)),
    _with("metadata 900 deep", "metadata", metadata=_deep(900)),
    _with("an unknown field", "serial", serial="A-1"),
    _with("the column behind a field", "metadata_json", metadata_json="{}"),
    _with("a coordinate by itself", "longitude", longitude=5),
    create_asset("everything wrong", "name type status location metadata x", {
        "name": 1, "type": 2, "status": 3, "location": 4, "metadata": 5, "x": 6,
    }),
    _put("name null", "name", {"name": None}),
    _put("type null", "type", {"type": None}),
    _put("status null", "status", {"status": None}),
    _put("location a number", "location", {"location": 0}),
    _put("metadata a string", "metadata", {"metadata": "x"}),
    _put("an unknown field", "owner", {"owner": "x"}),
    _put("another type in capitals", "type", {"type": "TOWER"}),
]  # fmt: skip
