"""The properties of a KML placemark, and the elements of a KML file that are read."""

from __future__ import annotations

import re
from typing import Any, Final

from app.formats.features import FileInvalid
from app.formats.kml_text import SCHEMA, from_html, visible_text
from app.formats.readers.kml_geometry import NESTED, SIMPLE
from app.formats.readers.ordinates import read_number
from app.formats.readers.xml_elements import Element, ElementFilter
from app.policy.files import COLUMN_NAME_LENGTH, COLUMNS, GEOMETRY_BYTES, LAYERS, VALUE_BYTES

_TEXTS: Final = ("name", "description", "address", "phoneNumber", "Snippet", "snippet")
_TIMES: Final = {"TimeStamp": {"when": "timestamp"}, "TimeSpan": {"begin": "begin", "end": "end"}}
_CONTAINERS: Final = frozenset({"kml", "Document", "Folder"})
OVERLAYS: Final = frozenset({"GroundOverlay", "PhotoOverlay"})
_RECORDS: Final = frozenset({"Placemark", "NetworkLink", "Schema"}) | OVERLAYS
_DATA: Final = {
    "": frozenset({"kml"}),
    **dict.fromkeys(
        _CONTAINERS, _CONTAINERS - {"kml"} | _RECORDS | {"name", "description", "ExtendedData"}
    ),
    "NetworkLink": frozenset({"Link", "Url"}),
    **dict.fromkeys(("Link", "Url"), frozenset({"href"})),
    "Schema": frozenset({"SimpleField"}),
    "Placemark": frozenset({*_TEXTS, *_TIMES, "ExtendedData"}),
    **{name: frozenset(columns) for name, columns in _TIMES.items()},
    "ExtendedData": frozenset({"Data", "SchemaData"}),
    "Data": frozenset({"value"}),
    "SchemaData": frozenset({"SimpleData"}),
}


class _AllBut(frozenset[str]):
    """All names except these."""

    def __contains__(self, name: object) -> bool:
        return not super().__contains__(name)


# What says how a placemark is shown, by KML 2.2 and Google's extensions.
_UNREAD: Final = _AllBut({
    *("Style", "StyleMap", "styleUrl", "LookAt", "Camera", "Region", "open", "visibility"),
    "balloonVisibility",
})  # fmt: skip
_GEOMETRIES: Final = {
    "Placemark": _UNREAD,
    **dict.fromkeys(NESTED, SIMPLE | NESTED),
    "Model": frozenset({"Location"}),
    "Location": frozenset({"longitude", "latitude"}),
    "Polygon": frozenset({"outerBoundaryIs", "innerBoundaryIs", "LinearRing", "coordinates"}),
    **dict.fromkeys(
        ("outerBoundaryIs", "innerBoundaryIs"), frozenset({"LinearRing", "coordinates"})
    ),
    **dict.fromkeys(("Point", "LineString", "LinearRing"), frozenset({"coordinates"})),
    "Track": frozenset({"coord"}),
}
_VALUES: Final = dict.fromkeys(
    (*_TEXTS, "longitude", "latitude", "when", "begin", "end", "value", "SimpleData", "href"),
    VALUE_BYTES,
)
WITHOUT_GEOMETRIES: Final = ElementFilter(_DATA, _CONTAINERS, _RECORDS, _VALUES)
KNOWN: Final = _DATA["Placemark"] | SIMPLE | NESTED
WITH_GEOMETRIES: Final = ElementFilter(
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
        self._types: dict[tuple[str, str], str] = {}  # by the id of a schema and a field
        self.pictures = 0  # in the descriptions that were read

    def add_schema(self, schema: Element) -> None:
        """Add the types of a schema. Raises FileInvalid if schemas have more fields than all layers
        could have columns."""
        schema_id = schema.get("id") or schema.get("name") or ""
        for field in schema.named("SimpleField"):
            key = schema_id, field.get("name") or ""
            if max(map(len, key)) <= COLUMN_NAME_LENGTH:
                self._types[key] = field.get("type") or "string"
        if len(self._types) > COLUMNS * LAYERS:
            raise FileInvalid("The schemas of the KML file have too many fields. Remove some.")

    def properties(self, placemark: Element) -> dict[str, Any]:
        """The values of a placemark, by column name. An element of the placemark wins over
        ExtendedData of the same name. The attribute ``id`` is left out: it is a number that
        programs give to placemarks."""
        if not placemark.children:  # of hundreds of thousands, perhaps
            return {}
        values: dict[str, Any] = {name: placemark.text_of(name) for name in _TEXTS}
        values["snippet"] = values.pop("Snippet") or values["snippet"]
        if description := values["description"]:
            if _is_from_canopy(placemark):
                values["description"] = from_html(description)
            else:
                values["description"], pictures = visible_text(description)
                self.pictures += pictures
        for time in placemark.named(*_TIMES):
            for name, column in _TIMES[time.name].items():
                values[column] = time.text_of(name)
        values = {name: value for name, value in values.items() if value is not None}
        for extended in placemark.named("ExtendedData"):
            for data in extended.named("Data"):
                values.setdefault(data.get("name") or "", data.text_of("value"))
            for schema_data in extended.named("SchemaData"):
                self._add_simple_data(schema_data, values)
        values.pop("", None)
        return values

    def _add_simple_data(self, schema_data: Element, values: dict[str, Any]) -> None:
        schema = _schema_id(schema_data)
        for data in schema_data.named("SimpleData"):
            name, text = data.get("name") or "", data.text.strip()
            text = from_html(text) if schema.startswith(SCHEMA) else text
            values.setdefault(name, _typed_value(text, self._types.get((schema, name))))


def _schema_id(schema_data: Element) -> str:
    """The id of the schema of a SchemaData."""
    return (schema_data.get("schemaUrl") or "").rpartition("#")[2]


def _is_from_canopy(placemark: Element) -> bool:
    """True if Canopy exported a placemark, so that its description and data are texts as HTML."""
    return any(
        _schema_id(schema_data).startswith(SCHEMA)
        for extended in placemark.named("ExtendedData")
        for schema_data in extended.named("SchemaData")
    )


def _typed_value(text: str, kind: str | None) -> Any:
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
