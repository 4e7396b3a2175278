"""GPX 1.1 (https://www.topografix.com/GPX/1/1/): a waypoint for each asset that has a location.

A waypoint has the name and the type of the asset, and of its metadata what GPX has an element for,
such as ``ele``, ``desc`` or ``description``, and ``link1_href``. All fields of an asset are also in
``extensions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from app.formats.gpx_elements import ELEMENTS, LINK, element_text
from app.formats.writers.columns import as_text
from app.formats.writers.features import METADATA, Feature
from app.formats.writers.shapes import read_shape
from app.formats.writers.source import FeatureSource
from app.formats.writers.xml import escaped_xml, xml_element
from app.values.strict_json import Fragment

_NAMESPACE: Final = "urn:canopy:gpx"
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="Canopy" xmlns="http://www.topografix.com/GPX/1/1"'
    f' xmlns:canopy="{_NAMESPACE}">\n'
)


def write_gpx(source: FeatureSource) -> Iterator[bytes]:
    """Yield a waypoint for each feature with a point; the others are left out."""
    fields = [field.name for field in source.type.property_fields]
    yield f"{_HEAD}<metadata><name>{source.type.name}</name></metadata>\n".encode()
    for feature in source.features():
        if feature.geometry is not None:
            yield _waypoint_element(feature, feature.geometry, fields).encode()
    yield b"</gpx>\n"


def _waypoint_element(feature: Feature, geometry: Fragment, fields: list[str]) -> str:
    """A waypoint, with its elements in the order of the schema of GPX."""
    longitude, latitude, *height = read_shape(geometry).position
    values = feature.properties | ({"ele": height[0]} if height else {})
    elements = "".join(
        _link_elements(values)
        if name == "link"
        else xml_element(name, element_text(name, values)[0])
        for name in ELEMENTS
    )
    return (
        f'<wpt lat="{_decimal_text(latitude)}" lon="{_decimal_text(longitude)}">{elements}'
        f"<extensions>{_extensions_element(feature, fields)}</extensions></wpt>\n"
    )


def _link_elements(values: dict[str, Any]) -> str:
    """The links of a waypoint; GDAL reads two."""
    links = ""
    for number in (1, 2):
        href, text, kind = (element_text(name.format(number), values)[0] for name in LINK)
        inner = f"{xml_element('text', text)}{xml_element('type', kind)}"
        links += f'<link href="{escaped_xml(href)}">{inner}</link>' if href else ""
    return links


def _decimal_text(number: float) -> str:
    """A number with all digits and no exponent, which the schema does not allow."""
    return format(Decimal(repr(number)), "f")


def _extensions_element(feature: Feature, fields: list[str]) -> str:
    """An element for each field, and one with the JSON of the metadata."""
    values = {name: feature.properties[name] for name in fields}
    metadata = {name: value for name, value in feature.properties.items() if name not in values}
    values |= {METADATA: metadata} if metadata else {}
    return "".join(
        xml_element(f"canopy:{name}", as_text(value))
        for name, value in values.items()
        if value is not None
    )
