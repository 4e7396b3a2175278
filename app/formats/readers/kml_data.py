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

_TIMES: Final = frozenset({"TimeStamp", "TimeSpan"})
# The columns of the elements with text in a placemark and in its times.
_COLUMNS: Final = {
    **{name: name for name in ("name", "description", "address", "phoneNumber", "snippet")},
    "Snippet": "snippet", "when": "timestamp", "begin": "begin", "end": "end",
}  # fmt: skip
_CONTAINERS: Final = frozenset({"kml", "Document", "Folder"})
OVERLAYS: Final = frozenset({"GroundOverlay", "PhotoOverlay"})
_RECORDS: Final = frozenset({"Placemark", "NetworkLink", "Schema"}) | OVERLAYS
_ABOUT: Final = frozenset({"name", "description", "ExtendedData"})  # of a container
# What says how a placemark is shown, by KML 2.2 and Google's extensions.
_SHOWN: Final = frozenset({
    "Style", "StyleMap", "styleUrl", "LookAt", "Camera", "Region", "open", "visibility",
    "balloonVisibility",
})  # fmt: skip
KNOWN: Final = _TIMES | _SHOWN | SIMPLE | NESTED | {*_COLUMNS, "ExtendedData"}
_VALUES: Final = dict.fromkeys(
    (*_COLUMNS, "longitude", "latitude", "value", "SimpleData", "href"), VALUE_BYTES
)
WITHOUT_GEOMETRIES: Final = ElementFilter(
    _CONTAINERS, _RECORDS, _VALUES, _ABOUT, _SHOWN | OVERLAYS | SIMPLE | NESTED
)
WITH_GEOMETRIES: Final = ElementFilter(
    _CONTAINERS,
    _RECORDS,
    {**_VALUES, "coord": VALUE_BYTES, "coordinates": GEOMETRY_BYTES},
    _ABOUT,
    _SHOWN | OVERLAYS,
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
        values: dict[str, Any] = {}
        times = (element for time in placemark.named(*_TIMES) for element in time.children)
        for element in (*placemark.children, *times):
            if (column := _COLUMNS.get(element.name)) and (text := element.text.strip()):
                values.setdefault(column, text)
        if description := values.get("description"):
            if _is_from_canopy(placemark):
                values["description"] = from_html(description)
            else:
                values["description"], pictures = visible_text(description)
                self.pictures += pictures
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
