"""What the values of columns of CSV files become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.formats.readers.csv_file import CsvReader
from tests.formats.readers.reading import features
from tests.formats.readers.test_csv_file import csv


def rows(folder: Path, text: str) -> list[dict[str, Any]]:
    return [one.properties for one in features(CsvReader(csv(folder, text)))]


def test_values_of_a_column(tmp_path: Path) -> None:
    for values, expected in (
        (["1", "-20", "0"], [1, -20, 0]),
        (["1.5", "2"], [1.5, 2]),
        (["12.50", "3.10"], [12.5, 3.1]),
        (["12.0", "3.55"], [12.0, 3.55]),
        (["1.5e-05", "2e+10"], [1.5e-05, 2e10]),
        (["1", " "], [1, None]),
        (["007", "12"], ["007", "12"]),
        (["3.10", "3.1"], ["3.10", "3.1"]),
        (["1.0", "1"], ["1.0", "1"]),
        (["1", "1.0"], ["1", "1.0"]),
        (["1", "x"], ["1", "x"]),
        (["+1", "2"], ["+1", "2"]),
        (["1E5", "2"], ["1E5", "2"]),
        (["-0", "2"], ["-0", "2"]),
        (["1234567890123456", "2"], ["1234567890123456", "2"]),
        (["0.1234567890123456", "2"], ["0.1234567890123456", "2"]),
        (["nan", "2"], ["nan", "2"]),
        (["1_000", "2"], ["1_000", "2"]),
        (["٣", "2"], ["٣", "2"]),
        (["true", "false"], [True, False]),
        (["true", "1"], ["true", "1"]),
        (["1", "true"], ["1", "true"]),
        (["1,5", "2"], ["1,5", "2"]),
        (["'=SUM(1)", "''@x"], ["=SUM(1)", "'@x"]),
        (["'s-Hertogenbosch", " a "], ["'s-Hertogenbosch", " a "]),
    ):
        text = "other,a\n" + "".join(f'z,"{value}"\n' for value in values)
        found = [one["a"] for one in rows(tmp_path, text)]
        assert found == expected, values
        assert list(map(type, found)) == list(map(type, expected)), values


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    for values, expected in (
        (["1,5", "2"], [1.5, 2]),
        (["12,50", "3,10"], [12.5, 3.1]),
        (["1,5", "2.5"], ["1,5", "2.5"]),
        (["1.234,5", "2"], ["1.234,5", "2"]),
    ):
        text = "other;a\n" + "".join(f"z;{value}\n" for value in values)
        assert [one["a"] for one in rows(tmp_path, text)] == expected, values


def test_columns_without_a_name_and_with_the_same(tmp_path: Path) -> None:
    assert rows(tmp_path, 'a,,a,"b\nc",\n1,2,3,4\n') == [
        {"a": 1, "column 2": 2, "a (2)": 3, "b c": 4}
    ]
