"""CSV: quoting, formulas, the order of its columns, and geometries as well-known text."""

from __future__ import annotations

import csv
import io
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import shapely

from app.formats.formulas import guard, unguard
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


@pytest.mark.parametrize("name", ['say "hi"', "a,b", "two\nlines", " spaces ", "شجرة", "🌲", "x"])
def test_names_come_back(name: str) -> None:
    assert _rows(project(name=name))[0]["name"] == name


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "=cmd|' /C calc'!A0",
    "'=1",
    "''@x",
    "\n=1",
    "＝1",
    " =1",
]
# With a formula where another program than ours may begin a cell.
WITHIN = [
    "x;=1+1;y",
    "x|-1",
    "x;'=1",
    "x; @SUM(A1)",
    "x\t+1",
    "x\n=1",
    "x\n＝1",
    'x;"=1+1;y',
    '";=1',
    '\n;=1"',
    '["-1"]',
    "'\t;'=1",
]


@pytest.mark.parametrize("name", FORMULAS)
def test_a_text_that_could_be_a_formula_gets_an_apostrophe(name: str) -> None:
    assert _rows(project(name=name))[0]["name"].startswith(f"'{name[0]}")


@pytest.mark.parametrize("name", FORMULAS + WITHIN)
@pytest.mark.parametrize(
    ("delimiter", "quoting"),
    [(",", csv.QUOTE_MINIMAL), *product(";\t|", (csv.QUOTE_MINIMAL, csv.QUOTE_NONE))],
)
def test_no_cell_begins_a_formula_whatever_splits_the_line(
    name: str, delimiter: str, quoting: Any
) -> None:
    text = _text(project(name=name, description=name, metadata={"x": [name]}))
    lines = io.StringIO(text, newline="")
    cells = [
        cell.strip()
        for row in csv.reader(lines, delimiter=delimiter, quoting=quoting)
        for cell in row
    ]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@＝"))]


@pytest.mark.parametrize("name", FORMULAS + WITHIN)
def test_our_reader_gives_the_same_texts(name: str, tmp_path: Path) -> None:
    key = " ".join(name.split())
    record = project(name=name, geometry=square(-3), metadata={"t": name, "l": [name], key: "x"})
    (feature,) = features(CsvReader(write(source(record), "csv", tmp_path)))
    read = feature.properties
    assert (read["name"], read["t"], read[key]) == (name, name, "x")
    assert json.loads(read["l"]) == [name]
    assert feature.geometry == square(-3)


@pytest.mark.parametrize("text", [";", "; ", " ", "'", "\n'"])
def test_time_grows_with_the_length_of_a_text_only(text: str) -> None:
    long, short = text * 2**17, text * 2**13
    assert takes_at_most(64, lambda: unguard(guard(long)), lambda: unguard(guard(short)))


@pytest.mark.parametrize("name", ["'tis", "a=b", "1-2", "'", ""])
def test_other_texts_stay_as_they_are(name: str) -> None:
    assert _rows(project(name=name))[0]["name"] == name


@pytest.mark.parametrize("value", [-5, -0.25, 1e300, 2**63 - 1])
def test_a_negative_number_is_no_formula(value: Any) -> None:
    written = _rows(project(metadata={"x": value}))[0]["x"]
    assert json.loads(written) == value
    assert not written.startswith("'")


def test_headings_are_guarded_too() -> None:
    assert "'=1+1" in _text(project(metadata={"=1+1": 1})).partition("\r\n")[0].split(",")


def test_an_empty_text_differs_from_none() -> None:
    _, line, _ = _text(project(external_id=None, description="")).split("\r\n")
    assert line.split(",")[3:5] == ["", '""']


def test_without_records_there_are_headings() -> None:
    assert _text().count("\r\n") == 1


def _wkt(geometry: Any) -> str:
    return write_wkt(Fragment(json.dumps(geometry)))


@pytest.mark.parametrize("geometry", [square(), multi_square((1, 2), (3, 4)), point(1e-7, -90)])
def test_shapely_reads_the_same_geometry(geometry: Any) -> None:
    read = shapely.from_wkt(_wkt(geometry))
    assert shapely.equals_exact(read, shapely.geometry.shape(geometry), 0)


def test_heights_are_kept() -> None:
    assert _wkt({"type": "Point", "coordinates": [1, 2, 3.5]}) == "POINT Z (1 2 3.5)"


def test_heights_of_some_positions_are_left_out() -> None:
    ring = [[0, 0, 5], [1, 0], [1, 1], [0, 0, 5]]
    written = _wkt({"type": "Polygon", "coordinates": [ring]})
    assert written == "POLYGON ((0 0, 1 0, 1 1, 0 0))"
