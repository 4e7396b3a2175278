"""The verdict on what Canopy says of a file, by what GDAL reads of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import shapely

from app.formats.readers.kml import ALL_FOLDERS
from trials.others.by_gdal import Read
from trials.others.table import Entry, Imported

_REFUSED: Final = ("refused rightly", "refused badly")
_UNJUDGED: Final = "not judged yet: GDAL reads it"
_SHARE: Final = 0.001  # of an area by which two may differ
_SQUARE_METERS: Final = 1.0  # likewise, of a small one
_DEGREES: Final = 1e-5
_WALL: Final = 10  # faults that a person reads
_SAYS: Final = 200  # characters
_LONGEST_KEY: Final = 60  # likewise, of a text that is a name
_BROKEN: Final = "error in the service"
_OF_THE_API: Final = re.compile(r"`|\bnull\b|geometry\.type|\bmember\b|properties\.")
_MULTIPOINT: Final = "MultiPoint"
_CONVERTED: Final = re.compile(
    r"cannot be imported(?: by itself)?\. (?:Convert|Save|Unpack|Send|Export)"
)
_OF_KINDS: Final = {"geometry_type", "open_lines"}  # questions
_METERS: Final = ("look like meters", "cannot be degrees")
_ASKS_POINTS: Final = "What are the points?"
_ASKS_CRS: Final = "which coordinate system"
_OVERLAYS: Final = "overlays"  # which GDAL takes for features
_OF_COLUMNS: Final = "The places are those of"
_CURVES: Final = "Curves were made of straight lines"  # of other ones than GDAL's
_NAMELESS: Final = re.compile(r"field_\d+|name2")  # how GDAL calls some columns
_WORLD: Final = (-180.0, 180.0)
# What GDAL adds to the columns of some formats, or calls otherwise.
_OF_GDAL: Final = frozenset({
    "Name", "description", "Description", "timestamp", "begin", "end", "altitudeMode", "tessellate",
    "extrude", "visibility", "drawOrder", "icon", "snippet", "id", "id2", "ID2", "fid", "FID",
    "OGR_STYLE",
})  # fmt: skip
_OF_GPX: Final = "gpx"


class Found(NamedTuple):
    """A verdict, what Canopy said, and the reason."""

    verdict: str
    says: str
    reason: str


def judge(entry: Entry, imported: Imported, read: Read | None) -> Found:
    """The verdict on a file. Where only a person can tell whether a refusal is right, it is that of
    the table, as long as Canopy says the same."""
    says = told(imported)
    if imported.error or _BROKEN in says:
        return Found("crash", says, says)
    lost = list(differences(imported, read)) if read and _is_ready(imported) else []
    if lost:
        return Found("loses", says, "; ".join(lost))
    record = imported.record
    if len(record["faults"]) > _WALL:
        return Found("refused badly", says, f"a wall of {len(record['faults'])} faults")
    if found := _OF_THE_API.search(says):
        return Found("refused badly", says, f"for programs: {found[0]}")
    if _is_ready(imported) and not record["counts"]["rejected"]:
        return Found("fine", says, "")
    is_judged = entry.verdict in _REFUSED and entry.reason != _UNJUDGED
    if says == entry.says and is_judged:
        return Found(entry.verdict, says, entry.reason)
    if reason := _right(imported, read, says):
        return Found("refused rightly", says, reason)
    return Found("refused badly", says, _UNJUDGED)


def _right(imported: Imported, read: Read | None, says: str) -> str:
    """The reason why a refusal is surely right; empty: a person has to judge it."""
    if _is_ready(imported):
        return _rejects_rightly(imported, read)
    if _CONVERTED.search(says):
        return "another format, with advice"
    if not (read and read.shapes):
        return "GDAL reads no features either"
    return _asks_rightly(imported.record, read, says)


def _rejects_rightly(imported: Imported, read: Read | None) -> str:
    record = imported.record
    others = [fault for fault in record["faults"] if fault["code"] != "wrong_type"]
    if not others:
        return "what was rejected is no area, or no point"
    if all(fault["code"] == "antimeridian" for fault in others):
        return "what was rejected crosses the antimeridian"
    if read and record["layer"] == ALL_FOLDERS:  # in another order
        invalid = sum(shape is None or not shape.is_valid for shape in read.shapes)
        is_right = sum(fault["features"] for fault in others) <= invalid
    else:
        is_right = read is not None and not list(sound(imported, read))
    return "what was rejected is not valid" if is_right else ""


def _asks_rightly(record: dict[str, Any], read: Read, says: str) -> str:
    questions = {each["code"] for each in record.get("questions", ())}
    if questions & _OF_KINDS and not any("Polygon" in kind for kind in read.kinds()):
        return "what its points or lines are is asked"
    if _ASKS_POINTS in says and "Point" in read.kinds():
        return "what its points are is asked"
    if "geometry" in questions and not any(read.shapes):
        return "where its places are is asked"
    if _ASKS_CRS in says and not read.crs:
        return "the file does not say its coordinate system"
    if any(words in says for words in _METERS) and any(map(_is_far, read.shapes)):
        return "the positions are not degrees"
    return ""


def _is_far(shape: Any) -> bool:
    if shape is None:
        return False
    west, south, east, north = shape.bounds
    return max(abs(west), abs(east)) > 180 or max(abs(south), abs(north)) > 90


def told(imported: Imported) -> str:
    """What a person reads, in short."""
    if imported.error:
        return imported.error
    record = imported.record
    if record["message"]:
        return f"{record['status']}: {record['message']}"[:_SAYS]
    counts = record["counts"]
    read = sum(counts[name] for name in ("new", "changed", "same"))
    text = f"{read} read"
    if counts["without_boundary"]:
        text += f", {counts['without_boundary']} without a place"
    if counts["rejected"]:
        faults = [f"{each['features']} × {each['message']}" for each in record["faults"]]
        text += f", {counts['rejected']} rejected: {' | '.join(faults)}"
    return text[:_SAYS]


def _is_ready(imported: Imported) -> bool:
    return imported.record["status"] == "ready" and not imported.record["message"]


def differences(imported: Imported, read: Read) -> Iterator[str]:
    """What Canopy does not have, or has otherwise, and does not tell."""
    record = imported.record
    counts, notes = record["counts"], " ".join(record["notes"])
    number = sum(counts[name] for name in ("new", "changed", "same", "rejected"))
    divided = _MULTIPOINT in read.kinds() and record["kind"] == "assets"
    expected = _points(read) if divided else len(read.shapes)
    if number < expected and _OVERLAYS not in notes:
        yield f"{number} features, GDAL has {expected}"
    if number != expected:
        return
    placed = sum(shape is not None for shape in read.shapes)
    missing = number - counts["rejected"] - counts["without_boundary"]
    if not divided and missing + counts["rejected"] < placed and "No column has" not in notes:
        yield f"{missing} places, GDAL has {placed}"
    if not divided and number <= len(imported.features):
        yield from _of_features(imported, read)
    yield from _columns(record, read, notes)


def _of_features(imported: Imported, read: Read) -> Iterator[str]:
    record, features = imported.record, imported.features
    are_read = [each["verdict"] != "rejected" for each in features]
    # Their system is in a column, or they are those of other columns, which a note says.
    are_others = not read.crs and any(map(_is_far, read.shapes))
    are_others = are_others or _OF_COLUMNS in " ".join(record["notes"])
    if not are_others and (read.crs or record["format"] not in ("shp", "gpkg")):
        yield from _areas(record, features, read, are_read)
        yield from _box(record, read, are_read)
        yield from _places(imported, read)
    yield from _names(record, features, read)


def _areas(
    record: dict[str, Any], features: list[dict[str, Any]], read: Read, are_read: list[bool]
) -> Iterator[str]:
    if record["kind"] == "assets":
        return
    if any(each["verdict"] == "same" for each in features) and record["layer"] == ALL_FOLDERS:
        return
    areas = read.areas()
    if record["layer"] == ALL_FOLDERS:  # in another order
        if all(are_read):
            ours = sum((each["area_hectares"] or 0) * 10_000 for each in features)
            if _differ(ours, sum(areas)):
                yield f"{ours:.0f} m² in all, GDAL has {sum(areas):.0f}"
        return
    for each, is_read, area in zip(features, are_read, areas, strict=True):
        ours = (each["area_hectares"] or 0) * 10_000
        is_repeated = each["verdict"] == "same"
        if is_read and area and not is_repeated and _differ(ours, area):
            yield f"feature {each['number']} has {ours:.1f} m², with GDAL {area:.1f}"
            return


def _differ(ours: float, area: float) -> bool:
    return abs(ours - area) > max(_SQUARE_METERS, _SHARE * area)


def _box(record: dict[str, Any], read: Read, are_read: list[bool]) -> Iterator[str]:
    kept = read.shapes if all(are_read) else []
    if not all(are_read) and record["layer"] != ALL_FOLDERS:
        kept = [shape for shape, is_read in zip(read.shapes, are_read, strict=True) if is_read]
    kept = [_area_of(shape) for shape in kept if shape is not None]
    if not kept or not record["bbox"]:
        return
    box = shapely.total_bounds(shapely.GeometryCollection(kept))
    west, _, east, _ = record["bbox"]
    if (
        west <= east
        and (west, east) != _WORLD
        and _CURVES not in " ".join(record["notes"])
        and any(abs(a - b) > _DEGREES for a, b in zip(record["bbox"], box, strict=True))
    ):
        yield f"lies at {record['bbox']}, with GDAL at {[round(float(each), 6) for each in box]}"


def _places(imported: Imported, read: Read) -> Iterator[str]:
    record = imported.record
    if record["layer"] == ALL_FOLDERS or _CURVES in " ".join(record["notes"]):
        return
    for each, shape in zip(imported.features, read.shapes, strict=True):
        text = imported.geometries.get(each["number"])
        if each["verdict"] == "rejected" or text is None or shape is None:
            continue
        ours, box = shapely.from_geojson(text).bounds, _area_of(shape).bounds
        if (ours[0], ours[2]) != _WORLD and not np.allclose(ours, box, rtol=0, atol=_DEGREES):
            yield f"feature {each['number']} lies at {ours}, with GDAL at {box}"
            return


def _area_of(shape: Any) -> Any:
    """The areas of a collection, which are what is read of it."""
    if shape.geom_type != "GeometryCollection":
        return shape
    areas = [each for each in shape.geoms if "Polygon" in each.geom_type]
    return shapely.GeometryCollection(areas) if areas else shape


def _names(record: dict[str, Any], features: list[dict[str, Any]], read: Read) -> Iterator[str]:
    column = (record["mapping"] or {}).get("name") or "name"
    values = next((each for name, each in read.columns.items() if _same(name, column)), [])
    if (
        column.casefold() != "name"
        and _is_coarse(values)
        and any(map(_is_key, read.columns.values()))
    ):
        yield f"features are called by {column!r}, of which few values differ"
    for each, value in zip(features, values, strict=False):
        text = "" if _is_nothing(value) else str(value).strip()
        is_text = text and not isinstance(value, float | list | np.ndarray)
        if is_text and not _begins(each["name"], text):
            yield f"feature {each['number']} is called {each['name']!r}, with GDAL {text!r}"
            return


def _is_coarse(values: list[Any]) -> bool:
    return len(values) > 2 and 2 * len(set(map(str, values))) <= len(values)


def _is_key(values: list[Any]) -> bool:
    texts = {value for value in values if isinstance(value, str) and value}
    return len(texts) == len(values) and max(map(len, texts), default=0) <= _LONGEST_KEY


def _begins(name: str, text: str) -> bool:
    """True if a name is the text, perhaps with a number behind it, or cut off."""
    plain = " ".join(name.rstrip("…").split())
    for each in (text, _misread(text)):
        whole = " ".join(each.split())
        if plain.startswith(whole[:100]) or whole.startswith(plain):
            return True
    return False


def _misread(text: str) -> str:
    """A text in UTF-8 that GDAL has taken for Latin-1."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _columns(record: dict[str, Any], read: Read, notes: str) -> Iterator[str]:
    if record["format"] == _OF_GPX:
        return
    layer = next(each for each in record["layers"] if each["name"] == record["layer"])
    ours = {_folded(name) for name in layer["columns"]}
    lost = [
        name
        for name, values in read.columns.items()
        if name not in _OF_GDAL and _folded(name) not in ours and _has_values(values)
    ]
    lost = [name for name in lost if name not in notes and not _NAMELESS.fullmatch(name)]
    if lost and not re.search(r"olumns? .*left out|beside their properties|Skipped columns", notes):
        yield f"columns are missing: {', '.join(lost[:5])}"


def _has_values(values: list[Any]) -> bool:
    return not all(map(_is_nothing, values))


def _is_nothing(value: Any) -> bool:
    is_not_a_number = isinstance(value, float) and value != value
    return value is None or is_not_a_number or str(value) in ("", "NaT")


def _same(name: str, column: str) -> bool:
    return _folded(name) == _folded(column)


def _folded(name: str) -> str:
    """The letters by which names are compared: only those of ASCII, as GDAL misreads others."""
    return re.sub(r"[^a-z0-9]+", "", name.casefold())


def _points(read: Read) -> int:
    return sum(
        len(shape.geoms) if shape is not None and shape.geom_type == _MULTIPOINT else 1
        for shape in read.shapes
    )


def sound(imported: Imported, read: Read) -> Iterator[int]:
    """The numbers of features that Canopy rejects and GEOS takes for valid areas, or for a point if
    it is an asset."""
    for each, shape in zip(imported.features, read.shapes, strict=False):
        if each["verdict"] != "rejected" or shape is None:
            continue
        is_area = shape.geom_type in ("Polygon", "MultiPolygon")
        wanted = shape.geom_type == "Point" if imported.record["kind"] == "assets" else is_area
        if wanted and shape.is_valid:
            yield each["number"]
