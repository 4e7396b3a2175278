"""Whether the EUDR Information System would take a file, by the Commission's description alone.

By chapters 9 and 10 of "EUDR Operator API Reference v1.0" (GeoJSON file description 1.3) and the
schema of due diligence statements. It imports nothing of the application, so that it can judge what
that writes. Positions are read from the text of their numbers as integers.

The system keeps six decimals. A ring must therefore be sound in each of these readings:

- ``written``: as the text says;
- ``truncated`` and ``rounded``: the decimal text cut, or rounded half up, to six decimals;
- ``binary``: ``trunc(x * 1e6) / 1e6`` of the nearest double, as a plain program truncates.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from tests.eudr.rings import (
    Positions,
    decimals,
    readings_of,
    ring_codes,
)

MAX_BYTES: Final = 25_000_000
MAX_PRODUCERS: Final = 1_000
MAX_NAME: Final = 500
POINT_HECTARES: Final = (0.0001, 4.0)
PROPERTIES: Final = ("ProducerName", "ProducerCountry", "ProductionPlace", "Area")

# What a file must not have.
FAULTS: Final = {
    "too_large": "the file has more than 25,000,000 bytes",
    "json": "not JSON in UTF-8, or a name occurs twice in an object",
    "document": "not a FeatureCollection, or a Feature, with at least one feature",
    "crs": "names another coordinate system than WGS 84",
    "feature": "a member of features is no Feature with a geometry and properties",
    "geometry_type": "no Point or Polygon: the system takes some more, which no file has to have",
    "geometry": "coordinates that do not have the form of the type",
    "point_list": "the coordinates of a point are a list of positions",
    "range": "a longitude beyond 180 or a latitude beyond 90",
    "few_positions": "a ring of fewer than four positions",
    "open_ring": "the last position of a ring is not the first",
    "hole": "a polygon of more than one ring",
    "equal_positions": "two positions in a row are equal",
    "straight_line": "all positions of a ring lie on one line",
    "sides_meet": "two sides of a ring cross, touch or lie on one another",
    "property_name": "a property of the four in other letters",
    "producer_name": "ProducerName is no text with something visible",
    "producer_name_long": "ProducerName has more than 500 characters",
    "country": "ProducerCountry is no code of ISO 3166-1, or is missing where it must be",
    "place": "ProductionPlace is no text",
    "area_type": "Area is no number",
    "area_range": "Area is not greater than 0, or for points not from 0.0001 to 4",
    "too_many_producers": "more than 1,000 producers",
    "not_grouped": "the features of a producer do not follow one another",
}
# What the system takes or passes over, but a file should not have.
NOTES: Final = {
    "decimals": "a coordinate with more than six decimals",
    "duplicate_plot": "two features have the same geometry and properties",
    "other_property": "a property that the system ignores",
    "several_producers": "several producers in a file of variant 1, which is for one",
}

_PLAIN: Final = {re.sub(r"[\W_]", "", name).lower(): name for name in PROPERTIES}
_WGS84: Final = ("urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:OGC::CRS84", "EPSG:4326")


class Fault(NamedTuple):
    """A fault or a note.

    ``feature`` is the index in the file, None for the whole file; ``readings`` are those in which
    a ring is not sound.
    """

    code: str
    feature: int | None
    message: str
    readings: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = "file" if self.feature is None else f"feature {self.feature}"
        among = f" ({', '.join(self.readings)})" if self.readings else ""
        return f"{place}: {self.code}: {self.message}{among}"


class Numeral(float):
    """A number of a JSON text, with its text."""

    text: str


Report = Callable[[str, str], None]  # code, message


def faults_of(
    data: bytes,
    *,
    variant: int = 1,
    cattle: bool = False,
    notes: bool = True,
) -> list[Fault]:
    """All faults of a file, and with ``notes`` its notes; ``str`` of one is a line to print.

    Args:
        variant: 1, of one producer, or 2, where each feature needs ProducerCountry.
        cattle: points may have more than 4 ha.
    """
    found = _Findings()
    if len(data) > MAX_BYTES:
        found.add("too_large", None, f"{len(data):,} bytes")
    features = _features(data, found)
    for index, feature in enumerate(features):
        _judge_feature(feature, index, found, variant, cattle)
    _judge_producers(features, found, variant)
    _judge_duplicates(features, found)
    return [fault for fault in found.faults if notes or fault.code in FAULTS]


def codes_of(data: bytes, **options: Any) -> set[str]:
    """The codes of the faults and notes of a file; options are those of ``faults_of``."""
    return {fault.code for fault in faults_of(data, **options)}


@cache
def countries() -> frozenset[str]:
    """The 249 codes of ISO 3166-1 alpha-2, as the time zone database lists them."""
    text = (resources.files("tzdata") / "zoneinfo" / "iso3166.tab").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return frozenset(line.split("\t")[0] for line in lines)


class _Findings:
    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def add(self, code: str, feature: int | None, message: str, *readings: str) -> None:
        assert code in FAULTS or code in NOTES, code
        self.faults.append(Fault(code, feature, message, readings))


# The document


def _features(data: bytes, found: _Findings) -> list[Any]:
    try:
        document = _parse(data)
    except (ValueError, RecursionError) as error:
        found.add("json", None, str(error)[:200])
        return []
    if not isinstance(document, dict):
        found.add("document", None, "not an object")
        return []
    _judge_crs(document, found)
    if document.get("type") == "Feature":
        return [document]
    features = document.get("features")
    if document.get("type") != "FeatureCollection" or not isinstance(features, list):
        found.add("document", None, f"type {document.get('type')!r}")
        return []
    if not features:
        found.add("document", None, "no features")
    return features


def _parse(data: bytes) -> Any:
    """Raises ValueError, RecursionError."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"a name twice: {next(x for x in names if names.count(x) > 1)!r}")
        return made

    def number(text: str) -> Numeral:
        value = Numeral(text)
        value.text = text
        return value

    def constant(text: str) -> Any:
        raise ValueError(f"{text} is no JSON")

    text = data.decode("utf-8")
    return json.loads(
        text,
        object_pairs_hook=members,
        parse_float=number,
        parse_int=number,
        parse_constant=constant,
    )


def _judge_crs(document: dict[str, Any], found: _Findings) -> None:
    if (crs := document.get("crs")) is None:
        return
    properties = crs.get("properties") if isinstance(crs, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if name not in _WGS84:
        found.add("crs", None, f"{name!r}")


# Features and their properties


def _judge_feature(feature: Any, index: int, found: _Findings, variant: int, cattle: bool) -> None:
    is_feature = isinstance(feature, dict) and feature.get("type") == "Feature"
    if not is_feature or not {"geometry", "properties"} <= feature.keys():
        found.add("feature", index, "no Feature with geometry and properties")
        return
    geometry, properties = feature["geometry"], feature["properties"]
    is_point = _judge_geometry(geometry, index, found) == "Point"
    properties = {} if properties is None else properties
    if not isinstance(properties, dict):
        found.add("feature", index, "properties are no object")
        return

    def report(code: str, message: str) -> None:
        found.add(code, index, message)

    for name in properties:
        if name not in PROPERTIES:
            meant = _PLAIN.get(re.sub(r"[\W_]", "", name).lower())
            report("property_name" if meant else "other_property", repr(name)[:80])
    _judge_texts(properties, variant, report)
    if "Area" in properties:
        _judge_area(properties["Area"], is_point, cattle, report)


def _judge_texts(properties: dict[str, Any], variant: int, report: Report) -> None:
    if "ProducerName" in properties:
        name = properties["ProducerName"]
        if not isinstance(name, str) or not name.strip():
            report("producer_name", repr(name)[:80])
        elif len(name) > MAX_NAME:
            report("producer_name_long", f"{len(name)} characters")
    if "ProducerCountry" in properties or variant == 2:
        country = properties.get("ProducerCountry")
        if not isinstance(country, str) or country not in countries():
            report("country", repr(country)[:80])
    if "ProductionPlace" in properties and not isinstance(properties["ProductionPlace"], str):
        report("place", repr(properties["ProductionPlace"])[:80])


def _judge_area(area: Any, is_point: bool, cattle: bool, report: Report) -> None:
    if not isinstance(area, Numeral):
        report("area_type", repr(area)[:80])
        return
    least, most = POINT_HECTARES
    is_low = area < least if is_point else area <= 0
    is_high = is_point and not cattle and area > most
    if is_low or is_high or not math.isfinite(area):
        report("area_range", area.text[:40])


def _producer(feature: Any) -> tuple[str, str] | None:
    """The texts by which features are grouped; None for what is no feature."""
    if not isinstance(feature, dict):
        return None
    properties = feature.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    return str(properties.get("ProducerName")), str(properties.get("ProducerCountry"))


def _judge_producers(features: list[Any], found: _Findings, variant: int) -> None:
    seen, last = set(), None
    for index, feature in enumerate(features):
        if (producer := _producer(feature)) is None:
            continue
        if producer != last and producer in seen:
            found.add("not_grouped", index, f"{producer[0][:60]!r}, {producer[1][:10]!r} again")
        seen.add(producer)
        last = producer
    if len(seen) > MAX_PRODUCERS:
        found.add("too_many_producers", None, f"{len(seen):,} producers")
    if variant == 1 and len(seen) > 1:
        found.add("several_producers", None, f"{len(seen):,} producers")


def _judge_duplicates(features: list[Any], found: _Findings) -> None:
    first: dict[str, int] = {}
    for index, feature in enumerate(features):
        if isinstance(feature, dict):
            same = {name: feature.get(name) for name in ("geometry", "properties")}
            before = first.setdefault(json.dumps(same, sort_keys=True), index)
            if before != index:
                found.add("duplicate_plot", index, f"as feature {before}")


# Geometries


def _judge_geometry(geometry: Any, index: int, found: _Findings) -> str | None:
    """Report the faults of a geometry. Returns its type."""

    def report(code: str, message: str) -> None:
        found.add(code, index, message)

    if not isinstance(geometry, dict):
        report("geometry", f"{geometry!r}"[:80])
        return None
    kind, coordinates = geometry.get("type"), geometry.get("coordinates")
    if kind not in ("Point", "Polygon"):
        report("geometry_type", repr(kind)[:80])
        return None
    if not isinstance(coordinates, list) or not coordinates:
        report("geometry", f"{kind} without coordinates")
    elif kind == "Point" and all(isinstance(position, list) for position in coordinates):
        report("point_list", "positions in a Point")
    else:
        with suppress(_OutOfRangeError):  # reported
            try:
                if kind == "Point":
                    _positions([coordinates], report)
                else:
                    _judge_ring(_exterior(coordinates, report), index, found)
            except _MalformedError as error:
                report("geometry", f"{kind}: {error}")
    return str(kind)


class _MalformedError(ValueError):
    """Coordinates of another form than their type has."""


class _OutOfRangeError(ValueError):
    """Reported; the positions are not judged further."""


def _exterior(part: Any, report: Report) -> Positions:
    if not isinstance(part, list) or not part:
        raise _MalformedError("a polygon without rings")
    exterior, *holes = (_positions(ring, report) for ring in part)
    if holes:
        report("hole", f"{len(part)} rings")
    return exterior


def _positions(values: Any, report: Report) -> Positions:
    """Read positions, and report what is out of range or has too many decimals."""
    if not isinstance(values, list) or not values:
        raise _MalformedError("no list of positions")
    texts, doubles, codes = [], [], {}
    for value in values:
        is_list = isinstance(value, list) and len(value) >= 2
        if not is_list or not all(isinstance(number, Numeral) for number in value):
            raise _MalformedError("a position is a list of at least two numbers")
        longitude, latitude = value[:2]
        if not (abs(longitude) <= 180 and abs(latitude) <= 90):
            codes["range"] = f"[{longitude.text[:20]}, {latitude.text[:20]}]"
            continue
        pair = (_plain(longitude), _plain(latitude))
        if max(decimals(pair[0]), decimals(pair[1])) > 6:
            codes["decimals"] = f"[{longitude.text[:30]}, {latitude.text[:30]}]"
        texts.append(pair)
        doubles.append((float(longitude), float(latitude)))
    for code, message in codes.items():
        report(code, message)
    if "range" in codes:
        raise _OutOfRangeError
    return Positions(texts, doubles)


def _plain(number: Numeral) -> str:
    """The text of a number in range without an exponent."""
    text = number.text
    if "e" not in text and "E" not in text:
        return text
    if abs(number) < 1e-30:
        return "0.0000000"  # not written out: the exponent may be of any size
    return format(Decimal(text), "f")


def _judge_ring(ring: Positions, index: int, found: _Findings) -> None:
    readings: dict[str, list[str]] = {}
    for name, positions in readings_of(ring).items():
        for code in ring_codes(positions):
            readings.setdefault(code, []).append(name)
    for code, names in readings.items():
        found.add(code, index, FAULTS[code], *names)
