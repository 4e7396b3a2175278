"""The properties of a KML placemark, and the elements of a KML file that are read."""

from __future__ import annotations

import re
from typing import Any, Final

from app.formats.features import FileInvalid
from app.formats.kml_text import SCHEMA, from_html, shown_text
from app.formats.readers.kml_geometry import NESTED, SIMPLE
from app.formats.readers.ordinates import read_number
from app.formats.readers.xml_elements import Element, Wanted
from app.policy.files import COLUMN_NAME_LENGTH, COLUMNS, GEOMETRY_BYTES, LAYERS, VALUE_BYTES

_TEXTS: Final = ("name", "description", "address", "phoneNumber")
_TIMES: Final = {"TimeStamp": {"when": "timestamp"}, "TimeSpan": {"begin": "begin", "end": "end"}}
_CONTAINERS: Final = frozenset({"kml", "Document", "Folder"})
OVERLAYS: Final = frozenset({"GroundOverlay", "PhotoOverlay"})
_RECORDS: Final = frozenset({"Placemark", "NetworkLink", "Schema"}) | OVERLAYS
_DATA: Final = {
    "": frozenset({"kml"}),
    **dict.fromkeys(_CONTAINERS, _CONTAINERS - {"kml"} | _RECORDS | {"name"}),
    "NetworkLink": frozenset({"Link", "Url"}),
    **dict.fromkeys(("Link", "Url"), frozenset({"href"})),
    "Schema": frozenset({"SimpleField"}),
    "Placemark": frozenset({*_TEXTS, *_TIMES, "ExtendedData"}),
    **{name: frozenset(columns) for name, columns in _TIMES.items()},
    "ExtendedData": frozenset({"Data", "SchemaData"}),
    "Data": frozenset({"value"}),
    "SchemaData": frozenset({"SimpleData"}),
}
_GEOMETRIES: Final = {
    "Placemark": _DATA["Placemark"] | SIMPLE | NESTED,
    "MultiGeometry": SIMPLE | NESTED,
    "MultiTrack": frozenset({"Track"}),
    "Polygon": frozenset({"outerBoundaryIs", "innerBoundaryIs"}),
    **dict.fromkeys(("outerBoundaryIs", "innerBoundaryIs"), frozenset({"LinearRing"})),
    **dict.fromkeys(("Point", "LineString", "LinearRing"), frozenset({"coordinates"})),
    "Track": frozenset({"coord"}),
}
_VALUES: Final = dict.fromkeys(
    (*_TEXTS, "when", "begin", "end", "value", "SimpleData", "href"), VALUE_BYTES
)
WITHOUT_GEOMETRIES: Final = Wanted(_DATA, _CONTAINERS, _RECORDS, _VALUES)
WITH_GEOMETRIES: Final = Wanted(
    _DATA | _GEOMETRIES,
    _CONTAINERS,
    _RECORDS,
    {**_VALUES, "coord": VALUE_BYTES, "coordinates": GEOMETRY_BYTES},
)

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_BOOLEANS: Final = {"1": True, "true": True, "0": False, "false": False}


class PlacemarkData:
    """Reads the properties of placemarks, with the types in the schemas of the file."""

    def __init__(self) -> None:
        self._types: dict[tuple[str, str], str] = {}  # by the id of the schema and the field
        self.pictures = 0  # in the descriptions that were read

    def add_schema(self, schema: Element) -> None:
        """Raise FileInvalid when schemas have more fields than all layers could have."""
        for one in schema.named("SimpleField"):
            key = (schema.get("id") or schema.get("name") or "", one.get("name") or "")
            if max(map(len, key)) <= COLUMN_NAME_LENGTH:
                self._types[key] = one.get("type") or "string"
        if len(self._types) > COLUMNS * LAYERS:
            raise FileInvalid("The schemas of the KML file have too many fields. Remove some.")

    def properties(self, placemark: Element) -> dict[str, Any]:
        """The values of a placemark, by column name. Its own elements come before ExtendedData of
        the same name. Its attribute ``id`` is left out: programs number placemarks with it."""
        found: dict[str, Any] = {name: placemark.text_of(name) for name in _TEXTS}
        if description := found["description"]:
            if _is_ours(placemark):
                found["description"] = from_html(description)
            else:
                found["description"], pictures = shown_text(description)
                self.pictures += pictures
        for time in placemark.named(*_TIMES):
            for name, column in _TIMES[time.name].items():
                found[column] = time.text_of(name)
        found = {name: value for name, value in found.items() if value is not None}
        for data in placemark.named("ExtendedData"):
            for one in data.named("Data"):
                found.setdefault(one.get("name") or "", one.text_of("value"))
            for values in data.named("SchemaData"):
                self._add_simple_data(values, found)
        found.pop("", None)
        return found

    def _add_simple_data(self, values: Element, found: dict[str, Any]) -> None:
        schema = _schema(values)
        for one in values.named("SimpleData"):
            name, text = one.get("name") or "", one.text.strip()
            text = from_html(text) if schema.startswith(SCHEMA) else text
            found.setdefault(name, _value(text, self._types.get((schema, name))))


def _schema(values: Element) -> str:
    """The id of the schema of a SchemaData."""
    return (values.get("schemaUrl") or "").rpartition("#")[2]


def _is_ours(placemark: Element) -> bool:
    """True for a placemark of our exports, whose description and data are HTML of texts."""
    data = (each for one in placemark.named("ExtendedData") for each in one.named("SchemaData"))
    return any(_schema(each).startswith(SCHEMA) for each in data)


def _value(text: str, kind: str | None) -> Any:
    """A value of a KML type, or the text if it is not of that type."""
    if not text:
        return None
    value: object = None
    if kind in ("int", "uint", "short", "ushort"):
        value = int(text) if _INTEGER.fullmatch(text) else None
    elif kind in ("float", "double"):
        value = read_number(text)
    elif kind == "bool":
        value = _BOOLEANS.get(text.lower())
    return text if value is None else value
