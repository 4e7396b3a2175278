"""Coordinate reference systems that files and people name, and their transformation to WGS 84.

PROJ never opens a file that a text names. Only the parts of a definition that
``_horizontal_definition`` allows are used: they have numbers, and no names of files. PROJ's own
language is refused.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from pyproj import CRS, Transformer
from pyproj.exceptions import ProjError
from pyproj.network import set_network_enabled  # type: ignore[attr-defined]
from pyproj.transformer import TransformerGroup

from app.formats.crs_search import Box, find_systems, is_within
from app.formats.features import FileInvalid, FormatReader, SourceFeature
from app.formats.positions import Json, positions_of, replace_positions, unreadable_geometry
from app.geometry import GeometryInvalid
from app.policy.files import CRS_LENGTH

set_network_enabled(False)  # no grid is downloaded, whatever PROJ_NETWORK says

_WGS84: Final = CRS.from_epsg(4326)
_DECIMALS: Final = 12  # a tenth of a micrometer; with fewer, slivers cross themselves
_EXACT: Final = 1.0  # meters; a transformation that is no worse needs no note
_NAME_LENGTH: Final = 100
_LONGEST_NAME: Final = 40  # characters; a longer text is not searched as a name
_SUGGESTIONS: Final = 3  # systems in a message
_GIVE: Final = "Give its code, such as EPSG:25832, or its definition as WKT."
_CONVERT: Final = (
    "Convert the file to EPSG:4326, in QGIS with Export, Save Features As, or name another system."
)
_SWAPPED: Final = "Latitude and longitude were swapped, as you chose."
_CONFIDENCE: Final = 70  # percent: the definition is the same, its name may differ

_CODE = r"(?P<code>[A-Za-z0-9_]{1,20})"
_NAMES: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"(?P<authority>EPSG|ESRI|OGC|IGNF)::?{_CODE}",
        rf"urn:(?:x-)?ogc:def:crs:(?P<authority>EPSG|ESRI|OGC|IGNF):(?:[0-9.]{{0,10}}:)?{_CODE}",
        rf"https?://www\.opengis\.net/def/crs/(?P<authority>EPSG|ESRI|OGC|IGNF)/[0-9.]+/{_CODE}",
        rf"https?://www\.opengis\.net/gml/srs/(?P<authority>epsg)\.xml#{_CODE}",
    )
)
_ALIASES: Final = {"wgs84": "EPSG:4326", "wgs 84": "EPSG:4326", "crs84": "OGC:CRS84"}

# Web Mercator as GDAL writes it: the ellipsoid is in this extension alone.
_WEB_MERCATOR: Final = re.compile(
    r'extension\s*[\[(]\s*"PROJ4"\s*,\s*"(?:\s*+\+(?:proj=merc|[ab]=6378137(?:\.0*)?'
    r"|(?:lat_ts|lon_0|x_0|y_0)=0(?:\.0*)?|k=1(?:\.0*)?|units=m|nadgrids=@null|wktext|no_defs|over)"
    r'(?=[\s"]))*+\s*+"',
    re.IGNORECASE,
)
# Other parts of WKT that can have PROJ's own language, or the name of a file.
_FOREIGN: Final = re.compile(
    r"extension\s*[\[(]|parameterfile|proj crs string|proj-based|\+\s*(proj|init|step)|\0",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Projection:
    """A coordinate reference system, and the transformation of its coordinates to degrees on WGS
    84.

    ``name`` is its code, such as "EPSG:25832", or the name in its definition. ``accuracy`` is that
    of the transformation, in meters; 0: positions stay the same; None: unknown. ``note`` is a
    sentence for the person who imports, if the result is only approximate.

    It may be shared between threads: pyproj has a transformer for each.
    """

    name: str
    accuracy: float | None
    is_wgs84: bool
    note: str | None
    _transformer: Transformer
    _is_swapped: bool = False  # the file has y before x

    def swapped(self) -> Projection:
        """This projection for a file that has latitude or northing first."""
        return replace(self, is_wgs84=False, _is_swapped=True)

    def to_wgs84(self, geometry: Json) -> Json:
        """Return a GeoJSON geometry of any type with longitude and latitude in degrees on WGS 84.

        Coordinates are x and y: easting and northing, or longitude and latitude, whatever the order
        of the axes in the system's definition. Heights are left out. Degrees have 12 decimals.

        Raises:
            GeometryInvalid: a position is malformed, or outside the area of the system.
        """
        points = positions_of(geometry)
        if self._is_swapped:
            points = points[:, ::-1]
        degrees = points
        if not self.is_wgs84 and len(points):
            lon, lat = self._transformer.transform(points[:, 0], points[:, 1])
            degrees = np.round(np.column_stack([lon, lat]), _DECIMALS)
        finite = np.isfinite(degrees).all(axis=1)
        if not finite.all():
            x, y = points[finite.argmin()].tolist()
            message = (
                f"The position ({x:.10g}, {y:.10g}) is outside the area of {self.name}, the "
                "coordinate reference system of the file. Check the position and the system."
            )
            raise GeometryInvalid([unreadable_geometry(message, "out_of_range")])
        return replace_positions(geometry, degrees)

    @property
    def is_projected(self) -> bool:
        """True if positions are in meters, or another length, of a plane."""
        source = self._transformer.source_crs
        return source is not None and source.is_projected

    def as_degrees(self, box: Box) -> Box | None:
        """A box with the numbers of the file, if they can only be degrees, although this system has
        meters and so is the wrong one. None: they can be meters.

        Args:
            box: west, south, east and north in degrees on WGS 84, transformed from the numbers.
        """
        if not self.is_projected:
            return None
        (west, east), (south, north) = self._transformer.transform(
            box[::2], box[1::2], direction="INVERSE"
        )
        is_small = max(abs(west), abs(east)) <= 180 and max(abs(south), abs(north)) <= 90
        return (west, south, east, north) if is_small else None


@lru_cache(maxsize=32)
def read_crs(text: str) -> Projection:
    """The system that a text names or defines.

    A text is a code ("EPSG:25832", "25832"), an OGC URN or URL of one, or WKT (1, 2, or ESRI's).
    Nothing that it names is opened or fetched, and no grid is downloaded.

    Raises:
        FileInvalid: the text is none of these, or the system has no horizontal coordinates that can
            be transformed to WGS 84.
    """
    crs = _horizontal_crs(_parse_crs(text.strip()))
    is_wgs84 = crs.equals(_WGS84, ignore_axis_order=True)
    name = "EPSG:4326" if is_wgs84 else _crs_name(crs)
    try:
        return _make_projection(name, crs, is_wgs84=is_wgs84)
    except (ProjError, IndexError):
        message = f"Coordinates in {name} cannot be transformed to WGS 84. {_CONVERT}"
        raise FileInvalid(message) from None


def chosen_projection(
    reader: FormatReader, own: Projection | None, chosen: str | None
) -> Projection | None:
    """The system of a file: the one that a person has named, else its own, if it has one. x and y
    change places if a person has said so. The reader notes the differences from the file.

    Raises:
        FileInvalid: the system that the person has named is unknown.
    """
    projection = own if chosen is None else read_crs(chosen)
    if own is not None and projection is not None and own.name != projection.name:
        reader.note(f"{projection.name} was used as you chose it, though the file says {own.name}.")
    if not reader.is_swapped:
        return projection
    reader.note(_SWAPPED)
    return (projection or read_crs("EPSG:4326")).swapped()


def in_degrees(feature: SourceFeature, projection: Projection | None) -> SourceFeature:
    """The feature with longitude and latitude in degrees on WGS 84, or with the problem of its
    transformation."""
    if feature.geometry is None or projection is None or projection.is_wgs84:
        return feature
    try:
        return replace(feature, geometry=projection.to_wgs84(feature.geometry))
    except GeometryInvalid as error:
        problems = (*feature.problems, *error.problems)
        return replace(feature, geometry=None, problems=problems)


def _parse_crs(text: str) -> CRS:
    """The system that a text names or defines. Raises FileInvalid."""
    if len(text) > CRS_LENGTH:
        raise FileInvalid(
            f"The definition of the coordinate reference system has more than {CRS_LENGTH:,} "
            f"characters. {_CONVERT}"
        )
    with suppress(ProjError, UnicodeEncodeError):  # the latter: half a surrogate pair
        if code := authority_and_code(text):
            return CRS.from_authority(*code)
        if re.match(r"\A\w++\s*+[\[(]", text):
            return CRS.from_wkt(_without_files(text))
    systems = find_systems(text, (), _SUGGESTIONS) if len(text) < _LONGEST_NAME else []
    suggestions = " or ".join(f"{system.code} ({system.name})" for system in systems)
    raise FileInvalid(
        f'"{_printable_beginning(text, 60)}" is not a known coordinate reference system. '
        + (f"Do you mean {suggestions}?" if suggestions else _GIVE)
    )


def authority_and_code(text: str) -> tuple[str, str] | None:
    """The authority and code in a code, an OGC URN or an OGC URL; None for other texts."""
    text = _ALIASES.get(text.lower(), text)
    if re.fullmatch("[0-9]{4,6}", text):
        return "EPSG", text
    for pattern in _NAMES:
        if match := pattern.fullmatch(text):
            return match["authority"].upper(), match["code"].upper()
    return None


def _without_files(wkt: str) -> str:
    """Return the WKT, if it names no file and has nothing in PROJ's language but Web Mercator.
    Raises FileInvalid."""
    if _FOREIGN.search(_WEB_MERCATOR.sub("", wkt)):
        raise FileInvalid(
            "The definition of the coordinate reference system contains a PROJ string or the name "
            f"of a file, which are not read. {_CONVERT}"
        )
    return wkt


def _horizontal_crs(crs: CRS) -> CRS:
    """The horizontal part of a system, rebuilt from the parts that ``_horizontal_definition``
    allows.
    """
    try:
        definition = _horizontal_definition(crs.to_json_dict())
        return CRS.from_json_dict(definition).to_2d()
    except (ProjError, LookupError, TypeError, ValueError):  # ValueError: not even JSON
        raise FileInvalid(
            f"{_printable_beginning(crs.name, _NAME_LENGTH)} is not a projected or geographic "
            f"coordinate reference system, so there is no way from it to WGS 84. {_CONVERT}"
        ) from None


def _horizontal_definition(crs: Json) -> Json:
    """The PROJJSON of the horizontal part of a system. Raises LookupError if there is none."""
    kind = crs["type"]
    if kind == "CompoundCRS":
        return _horizontal_definition(crs["components"][0])
    if kind == "BoundCRS":
        _check_numeric(crs["transformation"])
        target = _horizontal_definition(crs["target_crs"])
        crs = {**crs, "source_crs": _horizontal_definition(crs["source_crs"]), "target_crs": target}
    elif kind == "ProjectedCRS":
        _check_numeric(crs["conversion"])
        crs = {
            **crs,
            "base_crs": _horizontal_definition({"type": "GeographicCRS", **crs["base_crs"]}),
        }
    elif kind != "GeographicCRS":
        raise LookupError(kind)
    return {name: value for name, value in crs.items() if name not in ("remarks", "$schema")}


def _check_numeric(operation: Json) -> None:
    """Reject methods and parameters that PROJ could take for its language or the name of a file.

    Raises:
        LookupError: the operation has one of them.
    """
    if operation["method"]["name"].upper().startswith("PROJ"):
        raise LookupError("method")
    for parameter in operation.get("parameters", ()):
        if not isinstance(parameter["value"], int | float):
            raise LookupError("parameter")


def _crs_name(crs: CRS) -> str:
    """The code of a system, or its name if it has no code, or that of another system."""
    if crs.is_bound and crs.source_crs:
        crs = crs.source_crs
    own_id = crs.to_json_dict().get("id")
    if own_id and _has_definition_of(crs, str(own_id["authority"]), str(own_id["code"])):
        return f"{own_id['authority']}:{own_id['code']}"
    for authority in ("EPSG", "ESRI"):
        if code := crs.to_authority(authority, min_confidence=_CONFIDENCE):
            return ":".join(code)
    return _printable_beginning(str(crs.name), _NAME_LENGTH)


def _has_definition_of(crs: CRS, authority: str, code: str) -> bool:
    """True if a code names this system, but for the order of its axes."""
    try:
        official = CRS.from_authority(authority, code)
    except (ProjError, UnicodeEncodeError):
        return False
    return bool(
        official.geodetic_crs
        and official.geodetic_crs.equals(crs.geodetic_crs, ignore_axis_order=True)
        and official.coordinate_operation == crs.coordinate_operation
        and _axis_units(official) == _axis_units(crs)
    )


def _axis_units(crs: CRS) -> set[float]:
    return {axis.unit_conversion_factor for axis in crs.axis_info}


def _make_projection(name: str, crs: CRS, *, is_wgs84: bool) -> Projection:
    """The projection of a system. Raises ProjError or IndexError if PROJ cannot compute it.

    PROJ uses the operation that fits best at each position; the first one covers most of the area.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a grid is missing: the note says so
        group = TransformerGroup(crs, _WGS84, always_xy=True, allow_ballpark=False)
    accuracy, note = None, None
    if not group.transformers:
        note = (
            f"No transformation from {name} to WGS 84 is known: coordinates are taken as if both "
            "had the same datum, and can be off by a meter or by hundreds, depending on the datum."
        )
    else:
        best = group.transformers[0]
        # PROJ 9.8 reports no accuracy for pure projections.
        is_pure = best.operations and not _datum_shifts(best)
        accuracy = 0.0 if is_pure else best.accuracy if best.accuracy >= 0 else None
        if accuracy is None or accuracy > _EXACT:
            note = _operation_note(name, group, accuracy)
    transformer = Transformer.from_crs(
        crs, _WGS84, always_xy=True, allow_ballpark=not group.transformers, only_best=False
    )
    return Projection(name, accuracy, is_wgs84, note, transformer)


def _datum_shifts(transformer: Transformer) -> list[str]:
    """The names of the steps that lead from one datum to another."""
    steps = transformer.operations or ()
    return [step.name for step in steps if step.type_name != "Conversion"]


def note_on_area(name: str, places: Iterable[tuple[object, float, float]]) -> str | None:
    """A sentence if no place lies where a system is used; None if one does, or it has no area.

    Args:
        name: that of a ``Projection``.
        places: as in ``LayerScan``; the last two are longitude and latitude.
    """
    positions = [(longitude, latitude) for _, longitude, latitude in places]
    try:
        area = _parse_crs(name).area_of_use
    except FileInvalid:
        return None
    if area is None or not positions or any(is_within(at, area.bounds) for at in positions):
        return None
    return (
        f"All features lie outside the area of {name} ({_printable_beginning(area.name, 60)}), so "
        "they may be far less accurate. Perhaps the file has another coordinate system."
    )


def _operation_note(name: str, group: TransformerGroup, accuracy: float | None) -> str:
    """A sentence about the operation that is used, its accuracy, and a better one."""
    shifts = _printable_beginning(" + ".join(_datum_shifts(group.transformers[0])), 300)
    quality = f"accurate to about {accuracy:g} m" if accuracy is not None else "of unknown accuracy"
    note = f"{name} is transformed to WGS 84 by “{shifts}”, {quality}."
    if any(
        operation.grids and (accuracy is None or 0 <= operation.accuracy < accuracy)
        for operation in group.unavailable_operations
    ):
        note += " A local grid would be more accurate; none is installed."
    return note


def _printable_beginning(text: str, length: int) -> str:
    """The printable beginning of a text, for a message."""
    text = "".join(character for character in text[: length + 1] if character.isprintable())
    return f"{text[:length]}…" if len(text) > length else text
