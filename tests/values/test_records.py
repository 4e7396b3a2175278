"""Records of the fields that ``app.policy.fields`` lists."""

from __future__ import annotations

from types import SimpleNamespace

from app.policy import kinds
from app.policy.fields import ASSET, PROJECT, Field
from app.values.records import changed_fields, columns_of_fields, object_row, row_reader
from app.values.strict_json import Fragment, dumps

FIELDS = (
    Field("name", kinds.TEXT, writable="always"),
    Field("area_hectares", kinds.HECTARES, column="area_m2", nullable=True),
    Field("location", kinds.POINT, nullable=True, writable="always"),
    Field("geometry", kinds.BOUNDARY, nullable=True, writable="always", in_events=False),
)
MODEL = SimpleNamespace(name="N", area_m2="A", location="L", geometry="G")


def test_columns_follow_the_fields() -> None:
    assert columns_of_fields(MODEL, FIELDS) == ("N", "A", "L", "G")


def test_a_record_of_a_row() -> None:
    read = row_reader(FIELDS, "west")
    record = read("Wood", 12_345, '{"type":"Point"}', None, 9.5)
    assert dumps(record) == dumps(
        {
            "name": "Wood",
            "area_hectares": 1.2345,
            "location": {"type": "Point"},
            "geometry": None,
            "west": 9.5,
        }
    )


def test_a_row_of_an_object() -> None:
    assert object_row(MODEL, FIELDS) == ("N", "A", "L", "G")


def test_changes_are_of_what_clients_write_and_events_show() -> None:
    before = {"name": "A", "area_hectares": 1, "location": Fragment('{"x":1}'), "geometry": None}
    after = {"name": "B", "area_hectares": 2, "location": Fragment('{"x":1}'), "geometry": 1}
    assert changed_fields(FIELDS, before, after) == {"name": {"from": "A", "to": "B"}}


def test_names_and_columns_are_identifiers() -> None:
    """The readers of rows are made of them."""
    cases: list[tuple[Field, ...]] = [PROJECT, ASSET]
    for table in cases:
        names = [name for field in table for name in (field.name, field.stored_as)]
        assert all(name.isidentifier() for name in names), table
        assert len({field.name for field in table}) == len(table), table
