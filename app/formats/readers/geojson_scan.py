"""The contents of a GeoJSON file: its features, their columns, its name and coordinate system."""

from __future__ import annotations

from collections import Counter
from typing import Any, BinaryIO, Final

from ijson.common import ObjectBuilder

from app.formats.features import FileInvalid
from app.formats.readers.json_stream import json_events
from app.formats.readers.layer_limits import Columns, PositionCount, quoted
from app.policy.files import COLUMNS, FEATURE_TOKENS, VALUE_BYTES

ID: Final = "id"  # the member of a Feature, and the property that it becomes

COLLECTION: Final = "FeatureCollection"
_FEATURE: Final = "Feature"
_GEOMETRIES: Final = frozenset({
    "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon",
    "GeometryCollection",
})  # fmt: skip
_NAME_LENGTH: Final = 100
# Members of a FeatureCollection that are read, or say nothing of the features: of OGC API Features,
# and of GDAL.
_MEMBERS: Final = frozenset({
    "type", "features", "bbox", "crs", "name", "links", "timeStamp", "numberMatched",
    "numberReturned", "xy_coordinate_resolution", "z_coordinate_resolution",
})  # fmt: skip
_MOST_OTHERS: Final = 10
_MUST_BE_GEOJSON: Final = "It must be a GeoJSON FeatureCollection, or Features one after the other."
_NO_CRS: Final = "The crs of the file names no coordinate system."
_ENDS: Final = ("end_map", "end_array")
_STARTS: Final = ("start_map", "start_array")


class GeoJsonScan:
    """The contents of a file, read value by value.

    ``path`` is the JSON path of its features, or of some of them and of collections with the
    others; ``crs`` is from its ``crs``, and ``crs_fault`` says why that cannot be used. ``others``
    are unknown members of a FeatureCollection.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read a whole file.

        Raises:
            FileInvalid: it is not JSON to its end, has no features or something else, or exceeds a
                limit.
        """
        self.name = ""
        self.crs: str | None = None
        self.crs_fault: str | None = None
        self.others: dict[str, None] = {}
        self._tokens = json_events(file)
        self._positions = PositionCount()
        self._types: set[str] = set()  # of the outermost values, or of those in an outermost array
        self._values = self._named = 0  # such values, and those of them with a crs
        self._is_array = False
        self._features = Counter[int]()  # by the number of collections that they are in
        self._columns = Columns()
        self._read_all()
        self.path = ".".join(["item"] * self._is_array + ["features.item"] * min(self._features))
        self.features = self._features.total()
        self.has_bare_geometries = "geometry" in self._types
        self.columns = () if self.has_bare_geometries else self._columns.names()

    def _read_all(self) -> None:
        roots = 0
        for event, value in self._tokens:
            roots += 1
            if event == "start_array":
                self._is_array = True
                self._read_array(0)
            else:
                self._read_value(event, value, 0)
        if not self._types:
            raise FileInvalid(f"The file is JSON, but not GeoJSON. {_MUST_BE_GEOJSON}")
        if len(self._types) > 1:
            names = " and ".join(sorted(self._types))
            raise FileInvalid(f"The file mixes {names}. {_MUST_BE_GEOJSON}")
        if self._is_array and roots > 1:
            raise FileInvalid(
                f"The file has an array that is not one of features. {_MUST_BE_GEOJSON}"
            )
        if not self._features:
            raise FileInvalid("The file has no features.")
        if not self.crs_fault and self._named not in (0, self._values):
            self.crs_fault = "Only some parts of the file name a coordinate system (crs)."
        if COLLECTION not in self._types:
            self.name, self.others = "", {}

    def _read_array(self, depth: int) -> None:
        for event, value in self._tokens:
            if event == "end_array":
                return
            self._read_value(event, value, depth)

    def _read_value(self, event: str, value: Any, depth: int) -> None:
        """Read a feature, or a collection, that lies in ``depth`` collections."""
        self._values += depth == 0
        kind: Any = None
        columns: dict[str, None] = {}
        if event != "start_map":
            self._skip(event, value)
        else:
            for event, name in self._tokens:
                if event == "end_map":
                    break
                event, value = next(self._tokens)
                self._read_member(name, event, value, depth, columns)
                kind = value if name == "type" else kind
        if kind != COLLECTION:
            self._features[depth] += 1
            for column in columns:
                self._columns.add(column)

    def _read_member(
        self, name: str, event: str, value: Any, depth: int, columns: dict[str, None]
    ) -> None:
        if name == "features" and event == "start_array":
            self._read_array(depth + 1)
        elif name == "properties" and event == "start_map":
            self._read_columns(columns)
        elif name == "crs" and depth == 0:
            self._read_crs(event, value)
        else:
            self._skip(event, value)
        if name == ID and event in ("string", "number"):
            columns[ID] = None
        elif name == "type" and depth == 0:
            self._add_type(value)
        elif depth == 0 and not self._is_array:
            self._note_member(name, value)

    def _read_columns(self, columns: dict[str, None]) -> None:
        for event, name in self._tokens:
            if event == "end_map":
                return
            if len(columns) <= COLUMNS:  # more are refused
                columns[name] = None
            self._skip(*next(self._tokens))

    def _add_type(self, value: Any) -> None:
        kind = "geometry" if value in _GEOMETRIES else value
        if kind not in ("geometry", COLLECTION, _FEATURE):
            raise FileInvalid(
                f"The file contains a value of the type {quoted(str(value))}. {_MUST_BE_GEOJSON}"
            )
        self._types.add(kind)

    def _note_member(self, name: str, value: Any) -> None:
        if name == "name" and isinstance(value, str):
            self.name = "".join(filter(str.isprintable, value[:_NAME_LENGTH])).strip()
        elif name not in _MEMBERS and len(self.others) < _MOST_OTHERS:
            self.others[name] = None

    def _read_crs(self, event: str, value: Any) -> None:
        builder = ObjectBuilder()
        self._skip(event, value, builder)
        crs, text = builder.value, None
        if crs is None:
            return
        if isinstance(crs, dict):
            properties = crs.get("properties")
            named = properties if isinstance(properties, dict) else {}
            code = named.get("code")
            text = named.get("name", None if code is None else f"EPSG:{code}")
        elif isinstance(crs, str):
            text = crs
        if not isinstance(text, str):
            self.crs_fault = _NO_CRS
            return
        if self.crs not in (None, text):
            self.crs_fault = "The file names several coordinate systems (crs)."
        self.crs = text
        self._named += 1

    def _skip(self, event: str, value: Any, builder: ObjectBuilder | None = None) -> None:
        """Read to the end of a value, within the limits of one. Raises FileInvalid."""
        depth = tokens = 0
        last = ""
        while True:
            if event in _STARTS:
                depth += 1
            elif event in _ENDS:
                depth -= 1
            elif event == "number" and last == "start_array":
                self._positions.add(1)
            elif event == "string" and len(value) > VALUE_BYTES:
                raise FileInvalid(f"A text is longer than {VALUE_BYTES // 2**20} MiB. Shorten it.")
            if builder is not None:
                builder.event(event, value)
            if depth == 0:
                return
            tokens += 1
            if tokens > FEATURE_TOKENS:
                raise FileInvalid(
                    f"A feature has more than {FEATURE_TOKENS:,} values and brackets. Simplify it, "
                    "or divide it."
                )
            last = event
            event, value = next(self._tokens)
