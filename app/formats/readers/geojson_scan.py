"""The contents of a GeoJSON file: its features, their columns, its name and coordinate system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO, Final, TypeAlias

from app.formats.features import FileInvalid
from app.formats.readers.json_stream import json_events
from app.formats.readers.layer_limits import Columns, PositionCount, quoted
from app.policy.files import FEATURE_TOKENS, VALUE_BYTES

ID: Final = "id"  # the member of a Feature, and the property that it becomes

COLLECTION: Final = "FeatureCollection"
_FEATURE: Final = "Feature"
_GEOMETRIES: Final = frozenset({
    "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon",
    "GeometryCollection",
})  # fmt: skip
_ITEMS: Final = "features.item"
_ALONE: Final = ""
_ARRAY: Final = "item"
_DEEPEST: Final = 4  # FeatureCollections in one another
# Paths of values, by themselves and in an array, and then in FeatureCollections.
_PATHS: Final = {
    root: [".".join([*filter(None, [root]), *[_ITEMS] * depth]) for depth in range(1 + _DEEPEST)]
    for root in (_ALONE, _ARRAY)
}
_NAME_LENGTH: Final = 100
# Members of a FeatureCollection that are read, or say nothing of the features: of OGC API Features,
# and of GDAL.
_MEMBERS: Final = frozenset({
    "type", "features", "bbox", "crs", "name", "links", "timeStamp", "numberMatched",
    "numberReturned", "xy_coordinate_resolution", "z_coordinate_resolution",
})  # fmt: skip
_MOST_OTHERS: Final = 10
_GEOJSON: Final = "a GeoJSON FeatureCollection, or Features one after the other"
_MUST_BE_GEOJSON: Final = f"It must be {_GEOJSON}."

_Handler: TypeAlias = Callable[[str, Any], None]


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a file. ``path`` is the JSON path of its features, or of some of them and of
    collections with the others; ``crs`` is from its ``crs``, and ``crs_fault`` says why that cannot
    be used. ``others`` are unknown members of a FeatureCollection."""

    path: str
    features: int
    columns: tuple[str, ...]
    name: str
    crs: str | None
    crs_fault: str | None
    has_bare_geometries: bool
    others: tuple[str, ...]


def scan_geojson(file: BinaryIO) -> Contents:
    """Read a whole file.

    Raises:
        FileInvalid: it is not JSON to its end, has no features or something else, or exceeds a
            limit.
    """
    scan = _Scan()
    for path, event, value in json_events(file):
        scan.add(path, event, value)
    return scan.contents()


class _Features:
    """The values at a path: features and ``collections``."""

    def __init__(self) -> None:
        self.count = 0
        self.collections = 0
        self.columns = Columns()

    def start(self, event: str, _: Any) -> None:
        if event not in ("map_key", "end_map", "end_array"):
            self.count += 1

    def add_type(self, event: str, value: Any) -> None:
        self.collections += event == "string" and value == COLLECTION

    def add_property(self, event: str, value: Any) -> None:
        if event == "map_key":
            self.columns.add(value)

    def add_id(self, event: str, _: Any) -> None:
        if event in ("string", "number"):
            self.columns.add(ID)


class _Scan:
    def __init__(self) -> None:
        self._features = {path: _Features() for paths in _PATHS.values() for path in paths}
        self._types: set[str] = set()
        self._is_array = False
        self._others: dict[str, None] = {}  # members of the outermost object
        self._name = ""
        self._crs = _Crs()
        self._positions = PositionCount()
        self._tokens = 0  # in the current feature
        self._last = ""  # event
        self._handlers: dict[str, _Handler] = {
            "name": self._add_name,
            **self._crs.handlers,
            **{f"{_ARRAY}.{path}": add for path, add in self._crs.handlers.items()},
        }
        for path, features in self._features.items():
            start = f"{path}." if path else ""
            self._handlers |= {
                path: features.start,
                f"{start}type": features.add_type,
                f"{start}id": features.add_id,
                f"{start}properties": features.add_property,
            }
        self._handlers |= {_ALONE: self._start, "type": self._add_type, "item.type": self._add_type}

    def add(self, path: str, event: str, value: Any) -> None:
        """Process the next token. Raises FileInvalid."""
        self._tokens = 0 if path in self._features else self._tokens + 1
        if self._tokens > FEATURE_TOKENS:
            raise FileInvalid(
                f"A feature has more than {FEATURE_TOKENS:,} values and brackets. Simplify it, or "
                "divide it."
            )
        if event == "number" and self._last == "start_array":
            self._positions.add(1)
        elif event == "string" and len(value) > VALUE_BYTES:
            raise FileInvalid(f"A text is longer than {VALUE_BYTES // 2**20} MiB. Shorten it.")
        self._last = event
        if handler := self._handlers.get(path):
            handler(event, value)

    def contents(self) -> Contents:
        """The contents, at the end of the file. Raises FileInvalid."""
        if not self._types:
            raise FileInvalid(f"The file is JSON, but not GeoJSON. {_MUST_BE_GEOJSON}")
        if len(self._types) > 1:
            names = " and ".join(sorted(self._types))
            raise FileInvalid(f"The file mixes {names}. {_MUST_BE_GEOJSON}")
        if self._is_array and self._features[_ALONE].count > 1:
            raise FileInvalid(
                f"The file has an array that is not one of features. {_MUST_BE_GEOJSON}"
            )
        root = _ARRAY if self._is_array else _ALONE
        found = {path: self._features[path] for path in _PATHS[root]}
        filled = [path for path, values in found.items() if values.count > values.collections]
        if not filled:
            raise FileInvalid("The file has no features.")
        columns = Columns()
        for column in chain.from_iterable(found[path].columns.names() for path in filled):
            columns.add(column)
        return Contents(
            path=filled[0],
            features=sum(values.count - values.collections for values in found.values()),
            columns=columns.names() if "geometry" not in self._types else (),
            name=self._name if COLLECTION in self._types else "",
            crs=self._crs.text,
            crs_fault=self._crs.fault(found[root].count),
            has_bare_geometries="geometry" in self._types,
            others=tuple(self._others) if COLLECTION in self._types else (),
        )

    def _start(self, event: str, value: Any) -> None:
        self._is_array = self._is_array or event == "start_array"
        if event == "map_key" and value not in _MEMBERS and len(self._others) < _MOST_OTHERS:
            self._others[value] = None
        self._features[_ALONE].start(event, value)

    def _add_type(self, event: str, value: Any) -> None:
        self._features[_ARRAY if self._is_array else _ALONE].add_type(event, value)
        if event == "map_key":
            return
        if value in _GEOMETRIES:
            self._types.add("geometry")
        elif value in (COLLECTION, _FEATURE):
            self._types.add(value)
        else:
            raise FileInvalid(
                f"The file contains a value of the type {quoted(str(value))}. {_MUST_BE_GEOJSON}"
            )

    def _add_name(self, event: str, value: Any) -> None:
        if event == "string":
            self._name = "".join(filter(str.isprintable, value[:_NAME_LENGTH])).strip()


class _Crs:
    """The ``crs`` members of the values in a file, which must all be the same."""

    def __init__(self) -> None:
        self.text: str | None = None
        self._fault: str | None = None
        self._named = 0  # values with a crs
        self._is_named = False  # the current value has one
        self.handlers: Mapping[str, _Handler] = {
            "crs": self._add,
            "crs.type": self._check_type,
            "crs.properties.name": self._add_name,
            "crs.properties.code": self._add_code,
        }

    def fault(self, values: int) -> str | None:
        """The reason why the file has no single coordinate reference system, or None.

        Args:
            values: the number of values in the file.
        """
        if not self._fault and self._named not in (0, values):
            return "Only some parts of the file name a coordinate system (crs)."
        return self._fault

    def _add(self, event: str, value: Any) -> None:
        if event == "string":
            self._set(value)
        elif event == "start_map":
            self._is_named = False
        elif event == "end_map" and self._is_named:
            return
        elif event not in ("null", "map_key"):
            self._fault = self._fault or "The crs of the file names no coordinate system."

    def _check_type(self, event: str, value: Any) -> None:
        if value == "link":
            self._fault = "The crs of the file is a link, which is not followed."

    def _add_name(self, event: str, value: Any) -> None:
        if event == "string":
            self._set(value)

    def _add_code(self, event: str, value: Any) -> None:
        if event in ("string", "number"):
            self._set(f"EPSG:{value}")

    def _set(self, text: str) -> None:
        if self.text not in (None, text):
            self._fault = "The file names several coordinate systems (crs)."
        self.text = text
        self._named += 1
        self._is_named = True
