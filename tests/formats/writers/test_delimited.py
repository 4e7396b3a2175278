"""CSV: quoting, formulas, the order of its columns, and geometries as well-known text."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import shapely

from app.formats.formulas import guard_formulas, unguard_formulas
from app.formats.readers.csv_file import CsvReader
from app.formats.writers.delimited import write_csv, write_wkt
from app.values.strict_json import Fragment
from tests.formats.readers.reading import features
from tests.formats.writers.sources import Record, asset, project, source, write
from tests.make.geometry import multi_square, point, square
from tests.processor_time import takes_at_most


def _text(*records: Record) -> str:
    return b"".join(write_csv(source(*records))).decode()


def _rows(*records: Record) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(*records), newline="")))


def test_a_row_has_the_fields_the_metadata_and_the_geometry() -> None:
    (row,) = _rows(project(geometry=square(), metadata={"region": 6, "wet": True}))
    assert list(row)[:2] == ["id", "name"]
    assert list(row)[-4:] == ["region", "wet", "metadata", "geometry"]
    assert (row["region"], row["wet"], row["metadata"]) == ("6", "true", "")
    assert row["geometry"].startswith("POLYGON ((10.0 50.0, 10.1 50.0,")
    assert row["created_at"] == "2026-01-02T03:04:05.678Z"


def test_assets_have_a_column_geometry_too() -> None:
    (row,) = _rows(asset(location=point(), metadata={"geometry": "round"}))
    assert (row["geometry"], row["metadata_geometry"]) == ("POINT (10.0 50.0)", "round")


def test_names_come_back() -> None:
    for name in ('say "hi"', "a,b", "two\nlines", " spaces ", "شجرة", "🌲", "x"):
        assert _rows(project(name=name))[0]["name"] == name, name


FORMULAS = [
    *("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "=cmd|' /C calc'!A0"),
    *("'=1", "''@x", "\n=1", "＝1", " =1"),
]
# With a formula where another program than ours may begin a cell.
WITHIN = [
    *("x;=1+1;y", "x|-1", "x;'=1", "x; @SUM(A1)", "x\t+1", "x\n=1", "x\n＝1"),
    *('x;"=1+1;y', '";=1', '\n;=1"', '["-1"]', "'\t;'=1"),
]


def test_a_text_that_could_be_a_formula_gets_an_apostrophe() -> None:
    for name in FORMULAS:
        assert _rows(project(name=name))[0]["name"].startswith(f"'{name[0]}"), name


def test_no_cell_begins_a_formula_whatever_splits_the_line() -> None:
    ways = [(",", csv.QUOTE_MINIMAL), *product(";\t|", (csv.QUOTE_MINIMAL, csv.QUOTE_NONE))]
    for name in FORMULAS + WITHIN:
        text = _text(project(name=name, description=name, metadata={"x": [name]}))
        for delimiter, quoting in ways:
            lines = io.StringIO(text, newline="")
            rows = csv.reader(lines, delimiter=delimiter, quoting=quoting)
            cells = [cell.strip() for row in rows for cell in row]
            assert not [cell for cell in cells if cell.startswith(tuple("=+-@＝"))]


def test_our_reader_gives_the_same_texts(tmp_path: Path) -> None:
    for name in FORMULAS + WITHIN:
        key = " ".join(name.split())
        record = project(
            name=name, geometry=square(-3), metadata={"t": name, "l": [name], key: "x"}
        )
        (feature,) = features(CsvReader(write(source(record), "csv", tmp_path)))
        read = feature.properties
        assert (read["name"], read["t"], read[key]) == (name, name, "x"), name
        assert json.loads(read["l"]) == [name], name
        assert feature.geometry == square(-3), name


def test_time_grows_with_the_length_of_a_text_only() -> None:
    def there_and_back(text: str) -> None:
        unguard_formulas(guard_formulas(text))

    for text in (";", "; ", " ", "'", "\n'"):
        long, short = (partial(there_and_back, text * 2**power) for power in (17, 13))
        assert takes_at_most(64, long, short), text


def test_other_texts_stay_as_they_are() -> None:
    for name in ("'tis", "a=b", "1-2", "'", ""):
        assert _rows(project(name=name))[0]["name"] == name, name


def test_a_negative_number_is_no_formula() -> None:
    cases: list[Any] = [-5, -0.25, 1e300, 2**63 - 1]
    for value in cases:
        written = _rows(project(metadata={"x": value}))[0]["x"]
        assert json.loads(written) == value, value
        assert not written.startswith("'"), value


def test_texts_that_look_like_numbers_are_quoted() -> None:
    for text in ("007", "1.10", "1e-5", "1 000", "12:30", "1/2", "1234567890123456789", "٧"):
        assert f',"{text}",' in _text(project(metadata={"x": text})), text
    for value in ("2026-01-02", "7b", "e", 1234567890123456789):
        assert f",{value}," in _text(project(metadata={"x": value})), value


def test_an_empty_text_differs_from_none() -> None:
    _, line, _ = _text(project(external_id=None, description="")).split("\r\n")
    assert line.split(",")[3:5] == ["", '""']


def _wkt(geometry: Any) -> str:
    return write_wkt(Fragment(json.dumps(geometry)))


def test_shapely_reads_the_same_geometry() -> None:
    cases: list[Any] = [square(), multi_square((1, 2), (3, 4)), point(1e-7, -90)]
    for geometry in cases:
        read = shapely.from_wkt(_wkt(geometry))
        assert shapely.equals_exact(read, shapely.geometry.shape(geometry), 0), geometry


def test_heights_of_some_positions_are_left_out() -> None:
    ring = [[0, 0, 5], [1, 0], [1, 1], [0, 0, 5]]
    written = _wkt({"type": "Polygon", "coordinates": [ring]})
    assert written == "POLYGON ((0 0, 1 0, 1 1, 0 0))"
