"""The columns of tables: names, types, and what has no column."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.formats.writers import columns
from app.formats.writers.columns import Table, unique_names
from app.formats.writers.features import PROJECTS
from app.formats.writers.source import FeatureSource
from tests.formats.writers.sources import Record, changing_source, project, source


def _table(*metadata: Any) -> Table:
    return Table(source(*(project(n, metadata=each) for n, each in enumerate(metadata))))


def _types(*metadata: Any) -> dict[str, str]:
    own = [*(field.name for field in PROJECTS.property_fields), "metadata"]
    return {each.name: each.type for each in _table(*metadata).columns if each.name not in own}


def _row(table: Table, record: Record) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    return dict(zip(names, table.row(PROJECTS.feature(record)), strict=True))


def test_the_type_of_a_column_is_that_of_all_its_values() -> None:
    for values, expected in (
        ([1, -2], "integer"),
        ([1.5], "number"),
        ([1, 1.5], "number"),
        ([True, False], "boolean"),
        (["a"], "text"),
        ([[1], {"a": 2}], "json"),
        ([1, "a"], "text"),
        ([True, 1], "text"),
        (["a", [1]], "text"),
        ([None, 3], "integer"),
        ([None], "text"),
    ):
        assert _types(*({"x": value} for value in values)) == {"x": expected}, values


def test_values_of_a_row() -> None:
    metadata = {"n": 1, "f": 2.5, "b": True, "t": "x", "j": [1, None]}
    record = project(metadata=metadata)
    row = _row(Table(source(record)), record)
    assert {name: row[name] for name in metadata} == {
        "n": 1, "f": 2.5, "b": True, "t": "x", "j": "[1,null]",
    }  # fmt: skip
    assert (row["id"], row["external_id"], row["metadata"]) == (record["id"], None, None)


def test_an_integer_that_no_float_is_goes_to_the_rest() -> None:
    records = [project(metadata={"x": 2**53 + 1}), project(2, metadata={"x": 0.5})]
    table = Table(source(*records))
    first, second = (_row(table, record) for record in records)
    assert (first["x"], first["metadata"]) == (None, '{"x":9007199254740993}')
    assert (second["x"], second["metadata"]) == (0.5, None)


def test_keys_beyond_the_bound_share_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "COLUMNS_OUT", 2)
    record = project(metadata={"a": 1, "b": 2, "c": 3, "d": "é"})
    table = Table(source(record))
    assert [column.name for column in table.columns][-3:] == ["a", "b", "metadata"]
    rest = _row(table, record)["metadata"]
    assert json.loads(rest) == {"c": 3, "d": "é"}
    assert table.rest == table.columns[-1].longest == len(rest.encode())


def test_a_key_that_is_no_heading_shares_that_column() -> None:
    for key in ("x" * 101, "two\nlines", " led", "\u202eright to left"):
        record = project(metadata={key: 1})
        table = Table(source(record))
        assert json.loads(_row(table, record)["metadata"]) == {key: 1}, key
        assert table.rest, key


def test_what_came_after_the_columns_were_known_is_in_the_rest() -> None:
    after = project(metadata={"region": "west", "new": 1})
    table = Table(changing_source([project(metadata={"region": 6})], [after]))
    row = _row(table, after)
    assert row["region"] is None
    assert json.loads(row["metadata"]) == {"region": "west", "new": 1}


def test_the_memory_for_columns_is_bounded() -> None:
    """Each record has keys of its own."""
    texts = (json.dumps({f"key {n} {m}": n for m in range(40)}) for n in range(1_000))
    table = Table(FeatureSource(PROJECTS, lambda: iter(()), lambda: texts))
    assert len(table.columns) == len(PROJECTS.property_fields) + columns.COLUMNS_OUT + 1


def test_names_that_differ_in_case_get_a_number() -> None:
    names = ["Fid", "region", "Region", "REGION", "region_2"]
    assert unique_names(names, ["fid"]) == ["Fid_2", "region", "Region_2", "REGION_3", "region_2_2"]
