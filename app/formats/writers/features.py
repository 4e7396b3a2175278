"""Records of projects and assets as features: a geometry, and flat properties.

QGIS and GDAL make a column of each property, so each key of ``metadata`` is a property. Responses,
exports and OGC API Features use this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

import orjson

from app.policy import kinds
from app.policy.fields import ASSET, PROJECT, Field
from app.values.strict_json import Fragment, dumps
from app.values.text import display_json, display_text, may_have_control

METADATA: Final = "metadata"
_GEOMETRIES: Final = (kinds.BOUNDARY, kinds.POINT)
PREFIX: Final = "metadata_"
_PREFIXES: Final = re.compile(rf"^(?:{PREFIX})+")
_NO_COLUMNS: Final = ("", "geometry")  # names that no property can have in a file


class Feature(NamedTuple):
    """A record in two parts. The geometry is the JSON text of a GeoJSON geometry, unparsed.
    ``is_empty``: its metadata is an object without keys, which has no properties."""

    geometry: Fragment | None
    properties: dict[str, Any]
    is_empty: bool = False

    @property
    def id(self) -> str:
        return str(self.properties["id"])

    def as_geojson(self) -> dict[str, Any]:
        """The GeoJSON Feature, for ``app.values.strict_json.dumps``."""
        return {
            "type": "Feature",
            "id": self.properties["id"],
            "geometry": self.geometry,
            "properties": self.properties,
        }


class FeatureType:
    """Turns the records of a table into features.

    Args:
        name: the name of their layer.
        fields: the fields of the records, in order.
    """

    def __init__(self, name: str, fields: tuple[Field, ...]) -> None:
        self.name = name
        self.fields = fields
        self.geometry = next(field for field in fields if field.kind in _GEOMETRIES)

    @cached_property
    def property_fields(self) -> tuple[Field, ...]:
        """The fields that are properties."""
        return tuple(f for f in self.fields if f is not self.geometry and f.name != METADATA)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields if field.kind is kinds.TEXT)

    @cached_property
    def _reserved_names(self) -> frozenset[str]:
        return frozenset((*_NO_COLUMNS, *(field.name for field in self.fields)))

    def feature(self, record: Mapping[str, Any]) -> Feature:
        """A record, or some of its fields, as a feature: first the fields, then the keys of
        ``metadata``. Without the field of the geometry, the feature has none."""
        properties = dict(record)
        for name in self._texts:
            if (text := properties.get(name)) and not text.isprintable():
                properties[name] = display_text(text)
        geometry = properties.pop(self.geometry.name, None)
        metadata = properties.pop(METADATA, None)
        if metadata is None:
            return Feature(geometry, properties)
        text = dumps(metadata).decode()
        return Feature(geometry, properties | self.metadata_properties(text), text == "{}")

    def metadata_properties(self, text: str) -> dict[str, Any]:
        """The properties for the JSON text of a metadata."""
        metadata = orjson.loads(text)
        if may_have_control(text):
            metadata = display_json(metadata)
        return {self.property_name(key): value for key, value in metadata.items()}

    def property_name(self, key: str) -> str:
        """The name of the property for a key of the metadata: the key, with a prefix if it is the
        name of a field. No two keys get the same name."""
        return PREFIX + key if _PREFIXES.sub("", key) in self._reserved_names else key

    def metadata_key(self, property_name: str) -> str | None:
        """The key of the metadata that has a property name, the inverse of ``property_name``; None
        for the name of a field."""
        key = property_name.removeprefix(PREFIX)
        for candidate in (property_name, key):
            if self.property_name(candidate) == property_name:
                return candidate
        return None


PROJECTS: Final = FeatureType("projects", PROJECT)
ASSETS: Final = FeatureType("assets", ASSET)
FEATURE_TYPES: Final = {"projects": PROJECTS, "assets": ASSETS}  # by kind
