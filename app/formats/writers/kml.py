"""KML 2.2 (OGC 07-147r2): a Placemark for each feature, with data typed by a Schema.

Viewers show the description and data as HTML, the name as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from app.formats.kml_text import SCHEMA, as_html
from app.formats.writers.columns import Column, Table, as_text, unique_names
from app.formats.writers.shapes import Part, Ring, positions_text, read_shape
from app.formats.writers.source import FeatureSource
from app.formats.writers.xml import escaped_xml, xml_element
from app.values.strict_json import Fragment

_INT_DIGITS: Final = 9  # numbers of this length fit into the 32 bits of an int
_DOUBLE_DIGITS: Final = 15  # and of this length into a double
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">'
)
_TIME: Final = re.compile(
    r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})?)?)?)?"
)
# Keys of the metadata that are elements, too.
_METADATA: Final = ("address", "phoneNumber", "snippet", "timestamp", "begin", "end")
_SHOWN: Final = ("name", "address", "phoneNumber", "Snippet", "description")  # as in the schema
# Fields that are elements of a Placemark instead of data, and how each is written.
_ELEMENTS: Final[dict[str, Callable[[str], str]]] = {"name": str, "description": as_html}


def write_kml(source: FeatureSource) -> Iterator[bytes]:
    """Yield a Document with a Schema of all columns."""
    table, name = Table(source), source.type.name
    fields = [field.name for field in source.type.property_fields if field.name in _ELEMENTS]
    names = unique_names(column.name for column in table.columns)
    data = [(index, column) for index, column in enumerate(names) if column not in fields]
    schema = "".join(
        f'<SimpleField type="{_column_type(table.columns[index])}" name="{escaped_xml(column)}"/>'
        for index, column in data
    )
    head = f'{_HEAD}<Document id="{name}">{xml_element("name", name)}'
    yield f'{head}<Schema name="{name}" id="{SCHEMA}{name}">{schema}</Schema>\n'.encode()
    for feature in source.features():
        texts = {
            field: _ELEMENTS[field](text)
            for field in fields
            if (text := feature.properties.get(field)) is not None
        }
        elements = _element_texts(texts, feature.properties)
        yield (
            f'<Placemark id="{escaped_xml(feature.id)}">{elements}<ExtendedData>'
            f'<SchemaData schemaUrl="#{SCHEMA}{name}">{_data_element(table.row(feature), data)}'
            f"</SchemaData></ExtendedData>{_geometry_element(feature.geometry)}</Placemark>\n"
        ).encode()
    yield b"</Document></kml>\n"


def _element_texts(fields: dict[str, str], values: dict[str, Any]) -> str:
    """The elements of a Placemark, in the order of the schema: fields, and what the metadata has
    for the others."""
    texts = {
        name: text
        for name in _METADATA
        if isinstance(text := values.get(name), str) and text == as_html(text.strip())
    }
    times = {name: text for name, text in texts.items() if _TIME.fullmatch(text)}
    span = "".join(xml_element(name, times.get(name)) for name in ("begin", "end"))
    stamp = xml_element("when", times.get("timestamp"))
    shown = {**texts, "Snippet": texts.get("snippet"), **fields}
    elements = "".join(xml_element(name, shown.get(name)) for name in _SHOWN)
    time = f"<TimeStamp>{stamp}</TimeStamp>" if stamp else ""
    return elements + (f"<TimeSpan>{span}</TimeSpan>" if span else time)


def _column_type(column: Column) -> str:
    if column.type == "integer" and column.longest <= _DOUBLE_DIGITS:
        return "int" if column.longest <= _INT_DIGITS else "double"
    return {"number": "double", "boolean": "bool"}.get(column.type, "string")


def _data_element(row: list[Any], data: list[tuple[int, str]]) -> str:
    """The values of a row; ``data`` has their indices and names."""
    return "".join(
        f'<SimpleData name="{escaped_xml(name)}">{_value_text(row[index])}</SimpleData>'
        for index, name in data
        if row[index] is not None
    )


def _value_text(value: Any) -> str:
    return escaped_xml(as_html(as_text(value)))


def _geometry_element(geometry: Fragment | None) -> str:
    if geometry is None:
        return ""
    shape = read_shape(geometry)
    if shape.type == "Point":
        return f"<Point>{_coordinates_text([shape.position])}</Point>"
    polygons = "".join(map(_polygon_element, shape.parts))
    return f"<MultiGeometry>{polygons}</MultiGeometry>" if len(shape.parts) > 1 else polygons


def _polygon_element(part: Part) -> str:
    exterior, *holes = (f"<LinearRing>{_coordinates_text(ring)}</LinearRing>" for ring in part)
    inner = "".join(f"<innerBoundaryIs>{hole}</innerBoundaryIs>" for hole in holes)
    return f"<Polygon><outerBoundaryIs>{exterior}</outerBoundaryIs>{inner}</Polygon>"


def _coordinates_text(ring: Ring) -> str:
    return f"<coordinates>{positions_text(ring).replace('],[', ' ')}</coordinates>"
