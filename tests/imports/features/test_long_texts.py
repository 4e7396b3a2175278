"""A small file with texts that were made to be costly is read in a moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import pytest

from app.formats.features import FileInvalid
from app.formats.readers.opening import open_file
from app.imports.features.candidates import ReadOptions, check_feature
from app.imports.features.layer_notes import TextChanges
from app.imports.features.mapping import LayerScan, guess_mapping
from tests.make import square
from tests.make.features import collection, feature
from tests.processor_time import is_within, seconds_taken

_LONG: Final = 50_000  # characters
_SECONDS: Final = 0.4  # of processor time
# A beginning, what is repeated, and an end.
TEXTS: Final = (
    ("1", " ", "x"),
    ("a", " ", "b"),
    ("a", " \t", "b"),
    ("", "1", "x"),
    ("", "1,", "x"),
    ("N", "N ", "x"),
    ("1\N{DEGREE SIGN}", " ", "x"),
    ("UTM ", " ", "x"),
    ("SRID=1", " ", "x"),
    ("POINT", " ", "("),
    ("POLYGON (", "(", ""),
    ("", "1 1;", "x"),
    ("", "[", "]"),
    ('{"type":', '"\\', ""),
    ("e\N{COMBINING ACUTE ACCENT}", "\N{COMBINING DOT BELOW}", ""),
    ("", "\N{LATIN SMALL LIGATURE FFI}", ""),
    ("", "'", "="),
    ("<b>", "<a ", ""),
    ("<b>", "<!--", ""),
    ("<b>", "<script ", ""),
    ("<b>", "<a b='", '"'),
    ("<b>", "&#1", ";"),
    ("<b>&#", "1", ";"),
)
_COLUMNS: Final = ("name", "Area", "description", "external_id", "zone", "soil")
_KML: Final = (
    "<kml><Document><Placemark><name>{0}</name><description>{0}</description><ExtendedData>"
    '<Data name="{1}"><value>{0}</value></Data></ExtendedData><Polygon><outerBoundaryIs>'
    "<LinearRing><coordinates>{0}</coordinates></LinearRing></outerBoundaryIs></Polygon>"
    "</Placemark></Document></kml>"
)
_GPX: Final = (
    '<gpx><wpt lat="1" lon="2"><name>{0}</name><desc>{0}</desc><time>{0}</time></wpt></gpx>'
)


def _geojson(text: str) -> str:
    named = feature(square(), **dict.fromkeys(_COLUMNS, text), **{text[:900]: 1})
    return collection(named).decode()


def _csv(header: str) -> Callable[[str], str]:
    def make(text: str) -> str:
        cell = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '""')
        return f"{header}\n" + ",".join([f'"{cell}"'] * (header.count(",") + 1)) + "\n"

    return make


FILES: Final[dict[str, Callable[[str], str]]] = {
    "GeoJSON": _geojson,
    "KML": lambda text: _KML.format(escape(text), escape(text[:900], {'"': "&quot;"})),
    "GPX": lambda text: _GPX.format(escape(text)),
    "CSV of degrees": _csv("name,lat,lon,Area"),
    "CSV of a zone": _csv("name,easting,northing,zone"),
    "CSV of places": _csv("wkt,gps,description"),
    "text": lambda text: text,
}


def _read(path: Path, text: str) -> None:
    """What the reader of an import does with a file."""
    path.write_text(text, "utf-8")
    try:
        reader = open_file(path)
        layer = reader.layers[0]
        scan = LayerScan()
        for each in reader.read_features(layer):
            scan.add(each)
        options = ReadOptions("projects", guess_mapping(scan, "projects", {}))
        changes = TextChanges()
        for each in reader.read_features(layer):
            changes.add(check_feature(each, options, reader.note))
    except FileInvalid:
        pass


@pytest.mark.parametrize("name", FILES)
def test_a_costly_text_is_read_in_a_moment(
    tmp_path: Path, name: str, subtests: pytest.Subtests
) -> None:
    for start, repeated, end in TEXTS:
        text = FILES[name](start + repeated * (_LONG // len(repeated)) + end)
        with subtests.test(f"{start} {repeated} {end}"):
            taken = seconds_taken(lambda text=text: _read(tmp_path / "upload", text))
            assert is_within(taken, _SECONDS), taken
