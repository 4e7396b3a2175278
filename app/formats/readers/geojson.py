"""GeoJSON (RFC 7946, and the `crs` of GeoJSON 2008) and sequences of it (RFC 8142).

A file has a FeatureCollection, or Features or geometries one after the other. It is read twice:
first ``GeoJsonScan`` reads all of it, and rejects a file that is incomplete or exceeds a limit;
then the features are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson

from app.formats.crs import Projection, chosen_projection, read_crs
from app.formats.features import FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.positions import ordinates, unreadable_geometry
from app.formats.readers.geojson_scan import COLLECTION, ID, GeoJsonScan
from app.formats.readers.json_stream import json_values, null_for_nan
from app.formats.readers.layer_limits import quoted, value_too_long
from app.geometry import GeometryInvalid
from app.geometry.problems import whole_problem
from app.policy.files import VALUE_BYTES

_NO_GEOMETRIES: Final = (COLLECTION, "Feature")
_MEMBERS: Final = frozenset({
    "type", "geometry", "properties", ID, "bbox", "crs", "geometry_name",
})  # fmt: skip
_NAMES_IN_NOTE: Final = 5
# What togeojson makes of a track, with a value for each of its positions.
_OF_POSITIONS: Final = frozenset({"coordTimes", "coordinateProperties"})
_OF_POSITIONS_NOTE: Final = "Times and other values of track points were left out."
_HEIGHTS: Final = "Heights were left out."
_NAN: Final = "The file has numbers such as NaN, which were read as empty."


class GeoJsonReader(FormatReader):
    """One layer, with the name in the file or of the file. Heights are kept if nothing is
    transformed. A Feature's ``id`` becomes a property, unless it has one of that name."""

    def __init__(self, path: Path) -> None:
        """Raise FileInvalid when the file is broken, has something other than features, or exceeds
        a limit."""
        super().__init__()
        self._path = path
        with path.open("rb") as file:
            finite = null_for_nan(file)
            self._contents = GeoJsonScan(finite or file)
        self._has_nan = finite is not None
        self.note(_NAN if self._has_nan else None)
        self._projection: Projection | None = None
        self._has_others = False
        if others := self._contents.others:
            self.note(f"What the file has beside its features was left out: {_listed([*others])}.")
        name, columns = self._contents.name or path.stem, self._contents.columns
        layer = Layer(name, self._contents.features, columns)
        try:
            self._projection = _file_projection(self._contents)
        except FileInvalid as error:
            self.note(str(error))
            layer = replace(layer, crs=None, accuracy=None)
        if projection := self._projection:
            layer = replace(layer, crs=projection.name, accuracy=projection.accuracy)
            self.note(projection.note)
        self.layers = (layer,)

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``. A file without ``crs`` is in degrees on WGS 84."""
        chosen = chosen_projection(self, self._projection, crs)
        projection = None if chosen is None or chosen.is_wgs84 else chosen
        with self._path.open("rb") as file:
            source = null_for_nan(file) if self._has_nan else file
            for number, value in enumerate(self._values(source or file), start=1):
                bare = self._contents.has_bare_geometries
                feature = {"type": "Feature", "geometry": value} if bare else value
                yield self._feature(number, feature, projection)

    def _values(self, file: BinaryIO) -> Iterator[Any]:
        """Yield the features, also from collections beside them."""
        for value in json_values(file, self._contents.path):
            yield from _features_in(value)

    def _feature(self, number: int, value: Any, projection: Projection | None) -> SourceFeature:
        if not isinstance(value, dict) or value.get("type") != "Feature":
            problem = whole_problem("not_a_feature", "This is not a GeoJSON Feature.", "type")
            return SourceFeature(number, None, {}, (problem,))
        self._note_members(value)
        properties = _feature_properties(number, value)
        if properties.keys() & _OF_POSITIONS:
            self.note(_OF_POSITIONS_NOTE)
            properties = {k: v for k, v in properties.items() if k not in _OF_POSITIONS}
        try:
            geometry = self._geometry(value, projection)
        except GeometryInvalid as error:
            return SourceFeature(number, None, properties, tuple(error.problems))
        return SourceFeature(number, geometry, properties)

    def _note_members(self, feature: dict[str, Any]) -> None:
        """Note the unknown members of a Feature, once for a file."""
        names = [name for name in feature if name not in _MEMBERS]
        if names and not self._has_others:
            self._has_others = True
            self.note(f"What features have beside their properties was left out: {_listed(names)}.")

    def _geometry(
        self, feature: dict[str, Any], projection: Projection | None
    ) -> dict[str, Any] | None:
        """The geometry of a Feature on WGS 84; raises GeometryInvalid."""
        geometry = feature.get("geometry")  # the standard has null where there is none
        if geometry is not None and not isinstance(geometry, dict):
            message = "The geometry is not an object of GeoJSON."
            raise GeometryInvalid([unreadable_geometry(message, "not_an_object")])
        if geometry is not None and geometry.get("type") in _NO_GEOMETRIES:
            message = (
                f"The geometry is a {geometry['type']}. Put what is in it beside this feature."
            )
            raise GeometryInvalid([unreadable_geometry(message, "wrong_type")])
        heights = ordinates(geometry) - 2
        # Heights are kept where positions stay as they are, unless one may be missing.
        if projection is None and (heights < 1 or (heights == 1 and not self._has_nan)):
            return geometry
        if geometry is None:
            return None
        self.note(_HEIGHTS if heights > 0 else None)
        return (projection or read_crs("EPSG:4326")).to_wgs84(geometry)


def _listed(names: Sequence[str]) -> str:
    more = " and more" if len(names) > _NAMES_IN_NOTE else ""
    return ", ".join(map(quoted, names[:_NAMES_IN_NOTE])) + more


def _features_in(value: Any) -> Iterator[Any]:
    """Yield a value, or the features of a collection and of those in it."""
    if not isinstance(value, dict) or value.get("type") != COLLECTION:
        yield value
        return
    members = value.get("features")
    for member in members if isinstance(members, list) else ():
        yield from _features_in(member)


def _feature_properties(number: int, feature: dict[str, Any]) -> dict[str, Any]:
    """The properties of a Feature, and its id.

    Raises:
        FileInvalid: one is too large.
    """
    value = feature.get("properties")
    properties: dict[str, Any] = value if isinstance(value, dict) else {}
    if isinstance(feature.get(ID), str | int | float) and ID not in properties:
        properties = {ID: feature[ID], **properties}
    for name, value in properties.items():
        if isinstance(value, dict | list) and len(orjson.dumps(value)) > VALUE_BYTES:
            raise value_too_long(name, number)
    return properties


def _file_projection(contents: GeoJsonScan) -> Projection | None:
    """The coordinate reference system that a file names; None: degrees on WGS 84.

    Raises:
        FileInvalid: it is unknown.
    """
    if contents.crs_fault:
        raise FileInvalid(contents.crs_fault)
    projection = read_crs(contents.crs) if contents.crs else None
    return None if projection is None or projection.is_wgs84 else projection
