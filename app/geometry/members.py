"""The members of a GeoJSON geometry: its type, its coordinate system, unknown ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from app.geometry.problems import (
    MAX_PROBLEMS,
    GeometryInvalid,
    Problem,
    describe_json_value,
    whole_problem,
)

# RFC 7946 section 5 allows `bbox`; `crs` is from GeoJSON 2008 and is checked separately.
_MEMBERS = frozenset({"type", "coordinates", "bbox", "crs"})

_WGS84_NAMES = frozenset(
    {
        "crs84",
        "ogc:crs84",
        "epsg:4326",
        "urn:ogc:def:crs:ogc:1.3:crs84",
        "urn:ogc:def:crs:ogc::crs84",
        "urn:ogc:def:crs:epsg::4326",
        "http://www.opengis.net/def/crs/ogc/1.3/crs84",
        "https://www.opengis.net/def/crs/ogc/1.3/crs84",
        "http://www.opengis.net/def/crs/epsg/0/4326",
        "https://www.opengis.net/def/crs/epsg/0/4326",
    }
)

_LONGEST_NAME: Final = 100  # characters; a longer type or system is unknown

_TYPE_HINTS = {
    "Feature": "Send the geometry of the Feature, not the Feature.",
    "FeatureCollection": "Send the geometry of one of its Features.",
    "GeometryCollection": "Send one geometry of the collection.",
}


def read_members(
    value: object, types: tuple[str, ...], field: str
) -> tuple[str, object, list[Problem]]:
    """Read a geometry object: its type, its coordinates, and the problems of its other members.

    Raises GeometryInvalid when the type is not one of ``types``, or there are no coordinates. In
    the first case the other members are not checked: they may belong to another type of object.
    """
    if not isinstance(value, dict):
        message = f"{field} must be a GeoJSON object, not {describe_json_value(value)}."
        raise GeometryInvalid([whole_problem("not_an_object", message, field)])
    if "type" not in value:
        message = f"{field} has no `type`; send {_types_text(types)}."
        raise GeometryInvalid([whole_problem("missing_member", message, f"{field}.type")])
    if value["type"] not in types:
        raise GeometryInvalid([_wrong_type(value["type"], types, field)])
    problems = list(islice(_other_problems(value, field), MAX_PROBLEMS))
    if "coordinates" not in value:
        message = f"{field} has no `coordinates`. Add them."
        missing = whole_problem("missing_member", message, f"{field}.coordinates")
        raise GeometryInvalid([missing, *problems])
    return value["type"], value["coordinates"], problems


def _other_problems(value: dict[object, object], field: str) -> Iterator[Problem]:
    """Yield the problems of ``crs`` and of unknown members."""
    if "crs" in value and not is_wgs84(value["crs"]):
        message = (
            f"{field}.crs names a coordinate system other than WGS84. Send longitude and latitude "
            "in WGS84 (CRS84) and leave `crs` out."
        )
        yield whole_problem("wrong_crs", message, f"{field}.crs")
    for name in value:
        if name not in _MEMBERS:
            message = f"A GeoJSON geometry has no member {describe_json_value(name)}. Leave it out."
            yield whole_problem("unknown_member", message, f"{field}.{str(name)[:64]}")


def _wrong_type(sent: object, types: tuple[str, ...], field: str) -> Problem:
    """Return the problem of a ``type`` that is not accepted, with what to send instead."""
    message = f"{field}.type must be {_types_text(types)}, not {describe_json_value(sent)}."
    if isinstance(sent, str) and len(sent) <= _LONGEST_NAME:
        same = [name for name in types if name.lower() == sent.strip().lower()]
        hint = f'Write it "{same[0]}".' if same else _TYPE_HINTS.get(sent, "")
        message = f"{message} {hint}".rstrip()
    return whole_problem("wrong_type", message, f"{field}.type")


def _types_text(types: tuple[str, ...]) -> str:
    return " or ".join(f'"{name}"' for name in types)


def is_wgs84(crs: object) -> bool:
    """True if a ``crs`` member is WGS84: a name, or the named CRS object of GeoJSON 2008."""
    if isinstance(crs, dict) and crs.get("type") == "name":
        properties = crs.get("properties")
        crs = properties.get("name") if isinstance(properties, dict) else None
    return (
        isinstance(crs, str) and len(crs) <= _LONGEST_NAME and crs.strip().lower() in _WGS84_NAMES
    )
