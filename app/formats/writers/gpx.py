"""GPX 1.1 (https://www.topografix.com/GPX/1/1/): a waypoint for each asset that has a location.

A waypoint has a name, a type, a description and a symbol; the last two come from the metadata,
``desc`` or ``description`` and ``sym`` or ``symbol``. All fields of an asset are also in
``extensions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from app.formats.writers.columns import as_text
from app.formats.writers.features import METADATA, Feature
from app.formats.writers.shapes import read_shape
from app.formats.writers.source import FeatureSource
from app.formats.writers.xml import xml_element
from app.values.strict_json import Fragment

_NAMESPACE: Final = "urn:canopy:gpx"
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="Canopy" xmlns="http://www.topografix.com/GPX/1/1"'
    f' xmlns:canopy="{_NAMESPACE}">\n'
)
# The names that the description and the symbol of a waypoint can have in the metadata.
_DESCRIPTIONS: Final = ("desc", "description")
_SYMBOLS: Final = ("sym", "symbol")


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
    properties = feature.properties
    elevation = xml_element("ele", _decimal_text(height[0])) if height else ""
    return (
        f'<wpt lat="{_decimal_text(latitude)}" lon="{_decimal_text(longitude)}">{elevation}'
        f"{xml_element('name', properties.get('name'))}"
        f"{xml_element('desc', _first_text(feature, _DESCRIPTIONS))}"
        f"{xml_element('sym', _first_text(feature, _SYMBOLS))}"
        f"{xml_element('type', properties.get('type'))}"
        f"<extensions>{_extensions_element(feature, fields)}</extensions></wpt>\n"
    )


def _decimal_text(number: float) -> str:
    """A number with all digits and no exponent, which the schema does not allow."""
    return format(Decimal(repr(number)), "f")


def _first_text(feature: Feature, names: tuple[str, ...]) -> str | None:
    values = (feature.properties.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), None)


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
