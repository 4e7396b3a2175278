"""Opening a file of any format, which its content tells. Its name, which the sender chooses, is
ignored."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn, cast

import orjson

from app.formats.features import AS_IT_SAYS, AsRead, FileInvalid, FormatReader
from app.formats.readers.archive import Archive
from app.formats.readers.csv_file import CsvReader, has_header
from app.formats.readers.csv_rows import REGULAR, CsvRows
from app.formats.readers.geojson import GeoJsonReader
from app.formats.readers.geometry_text import is_geometry
from app.formats.readers.geopackage import GeoPackageReader
from app.formats.readers.gpx import GpxReader
from app.formats.readers.kml import KmlReader, KmzReader
from app.formats.readers.shapefile import ShapefileReader
from app.formats.readers.signatures import CONVERT, MEMBERS, ROOTS, SIGNATURES
from app.formats.readers.text_files import FoundEncoding, RecodedFile, find_encoding
from app.formats.readers.xml_elements import root_name
from app.policy.files import FORMATS_IN

_READERS: Final[dict[str, Callable[[Path], FormatReader]]] = {
    "geojson": GeoJsonReader,
    "geojsonl": GeoJsonReader,
    "kml": KmlReader,
    "kmz": KmzReader,
    "gpkg": GeoPackageReader,
    "gpx": GpxReader,
}
_TEXTS: Final = frozenset({"geojson", "geojsonl", "kml", "gpx"})
# Formats whose texts can be in any encoding.
_ENCODED: Final = {"shp": ShapefileReader, "csv": CsvReader}
_GUESSED: Final = (
    "The file does not say the encoding of its texts, and was read as {name}. If letters such as ö "
    "or é are wrong, choose another encoding."
)

_START: Final = 64 * 1024
_NAMES: Final = ", ".join(dict.fromkeys(FORMATS_IN.values()))
_JSON: Final = re.compile(r"[\x1e{]|\[\s*[{\[\]]")
_ESRI: Final = re.compile(r'"(?:wkid|rings|paths)"\s*:')
_GEOJSON: Final = re.compile(r'"type"\s*:\s*"(?:Feature|(?:Multi)?(?:Point|LineString|Polygon))')
_TOPOLOGY: Final = re.compile(r'"type"\s*:\s*"Topology"')


def open_file(path: Path, how: AsRead = AS_IT_SAYS) -> FormatReader:
    """Open a file of any supported format.

    Raises:
        FileInvalid: it is of another format, broken, or has no features.
    """
    format_name = recognize_format(path, how)
    if format_name in _ENCODED:
        reader: FormatReader = _ENCODED[format_name](path, how)
    else:
        is_text, is_xml = format_name in _TEXTS, format_name in ("kml", "gpx")
        found = find_encoding(path, how) if is_text else FoundEncoding("utf-8")
        reader = _READERS[format_name](_in_unicode(path, found, is_xml=is_xml))
        reader.unknown = list(found.unknown)
        if found.name != "utf-8":
            reader.layers = tuple(
                replace(layer, encoding=found.name, is_guessed=found.is_guessed)
                for layer in reader.layers
            )
    reader.format = format_name
    for layer in reader.layers:
        reader.note(_GUESSED.format(name=layer.encoding) if layer.is_guessed else None)
    return reader


def _in_unicode(path: Path, found: FoundEncoding, *, is_xml: bool) -> Path:
    """The path, or a file in its place that expat, or the reader of JSON, can read."""
    if found.name == "utf-8" or (is_xml and found.name == "utf-16"):
        return path
    return cast("Path", RecodedFile(path, found.name))


def recognize_format(path: Path, how: AsRead = AS_IT_SAYS) -> str:
    """The format of a file, one of FORMATS_IN.

    Raises:
        FileInvalid: it is of another format; the message names it if it is a common one.
    """
    with path.open("rb") as file:
        start = file.read(_START)
    if not start:
        raise FileInvalid("The file is empty.")
    if start.startswith((b"PK\3\4", b"PK\5\6", b"PK\7\x08")):
        return _zip_format(path)
    if start.startswith(b"SQLite format 3\0"):
        return "gpkg"
    for pattern, kind, advice in SIGNATURES:
        if re.match(pattern, start, re.DOTALL):
            _refuse_format(kind, advice)
    text = _beginning_text(start).lstrip("\ufeff \t\r\n")
    if text.startswith("<"):
        return _xml_format(path, text, how)
    if _JSON.match(text):
        return _json_format(text)
    return _text_format(path, text, how)


def _refuse_format(kind: str, advice: str) -> NoReturn:
    raise FileInvalid(f"The file is {kind} and cannot be imported. {advice}")


def _unknown_format() -> FileInvalid:
    return FileInvalid(f"The format of the file is not known. {_NAMES} can be imported.")


def _beginning_text(start: bytes) -> str:
    """The beginning of a file as text. Raises FileInvalid when it is not text."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start.decode("utf-16", "replace")
    for first, encoding in ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be")):
        if start.startswith(first):
            return start.decode(encoding, "replace")
    if b"\0" in start:
        raise _unknown_format()
    return start.decode(errors="replace")


def _zip_format(path: Path) -> str:
    with closing(Archive(path)) as archive:
        names = [name.lower() for name in archive.members]
    if any(name.endswith(".shp") for name in names):
        return "shp"
    if any(name.endswith(".kml") for name in names):
        return "kmz"
    for endings, kind, advice in MEMBERS:
        if any(name.endswith(endings) for name in names):
            _refuse_format(kind, advice)
    raise FileInvalid("The zip file has neither a shapefile (.shp) nor a KML file in it.")


def _xml_format(path: Path, text: str, how: AsRead) -> str:
    if re.match(r"(<\?xml[^<>]*>\s*)?(<!DOCTYPE\s+html|<html)\b", text, re.IGNORECASE):
        _refuse_format(*ROOTS["html"])
    with _in_unicode(path, find_encoding(path, how), is_xml=True).open("rb") as file:
        root = root_name(file)
    if root in ("kml", "gpx"):
        return root
    if root in ROOTS:
        _refuse_format(*ROOTS[root])
    if "opengis.net/gml" in text:
        _refuse_format("a GML file", CONVERT)
    raise _unknown_format()


def _json_format(text: str) -> str:
    if _TOPOLOGY.search(text):
        _refuse_format("a TopoJSON file", CONVERT)
    if "esriGeometry" in text or (_ESRI.search(text) and not _GEOJSON.search(text)):
        _refuse_format("an Esri JSON file", CONVERT)
    first, _, rest = text.partition("\n")
    return (
        "geojsonl" if first.startswith("\x1e") or (rest and _is_feature_line(first)) else "geojson"
    )


def _is_feature_line(text: str) -> bool:
    """True if a line is a whole Feature."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.get("type") == "Feature"


def _text_format(path: Path, text: str, how: AsRead) -> str:
    if is_geometry(text):
        raise FileInvalid(
            "The file has a geometry as text and no header. Write “geometry” in a line above it, "
            "so that it becomes a CSV file."
        )
    rows = CsvRows(path, how)
    _, header = next(iter(rows), (0, []))
    if not has_header(header):
        raise _unknown_format()
    if rows.regularity < REGULAR:
        raise FileInvalid(
            f"{_unknown_format()} If it is CSV: too many of its rows have another number of fields "
            "than the first one. Perhaps values with commas in them lack their quotes."
        )
    return "csv"
