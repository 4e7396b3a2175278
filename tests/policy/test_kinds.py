"""Values of the kinds of fields, from the text of a form or a cell of a file, and in a query."""

from __future__ import annotations

import pytest
from marshmallow import ValidationError

from app.api.resource_schemas import filter_fields
from app.policy import kinds
from app.policy.fields import Field
from app.values.kind_schemas import value_field


def test_a_cell_is_read() -> None:
    for kind, cell, value in (
        (kinds.TEXT, 7, "7"),
        (kinds.TEXT, "7", "7"),
        (kinds.INTEGER, " 1998 ", 1998),
        (kinds.INTEGER, 1998.0, 1998),
        (kinds.NUMBER, "12.5", 12.5),
        (kinds.NUMBER, 12, 12.0),
        (kinds.BOOLEAN, "Yes", True),
        (kinds.BOOLEAN, 0, False),
        (kinds.DATE, "2026-01-31", "2026-01-31"),
        (kinds.DATE, "2026-01-31T00:00:00Z", "2026-01-31"),
    ):
        assert kind.read is not None, cell
        found = value_field(Field("x", kind, longest=9)).deserialize(kind.read(cell))
        assert (found, type(found)) == (value, type(value)), cell


def test_what_is_no_value_is_rejected() -> None:
    for kind, cell in (
        (kinds.TEXT, True),
        *((kinds.INTEGER, cell) for cell in ("12.5", "x", 12.5, True, "1" * 19)),
        *((kinds.NUMBER, cell) for cell in ("x", "nan", "inf", True)),
        *((kinds.BOOLEAN, cell) for cell in ("perhaps", 2)),
        *((kinds.DATE, cell) for cell in ("2026-02-30", "31.1.2026", "20260131", "2026-W05-6", 7)),
    ):
        assert kind.read is not None, cell
        with pytest.raises((ValueError, ValidationError)):
            value_field(Field("x", kind, longest=9)).deserialize(kind.read(cell))


def test_a_filter_is_read_from_a_query_string_or_json() -> None:
    for kind, text, value in (
        (kinds.INTEGER, "7", 7),
        (kinds.INTEGER, 7, 7),
        (kinds.NUMBER, "7.5", 7.5),
        (kinds.BOOLEAN, "false", False),
        (kinds.BOOLEAN, True, True),
        (kinds.DATE, "2026-01-31", "2026-01-31"),
    ):
        field = filter_fields((Field("x", kind, filters=("equals",)),))["x"]
        assert field.deserialize(text) == value, text


def test_a_wrong_filter_is_rejected() -> None:
    for kind, text in (
        (kinds.INTEGER, "7.5"),
        (kinds.NUMBER, "x"),
        (kinds.BOOLEAN, "1"),
        *((kinds.DATE, text) for text in ("today", "2026-W05-6")),
    ):
        field = filter_fields((Field("x", kind, filters=("equals",)),))["x"]
        with pytest.raises(ValidationError):
            field.deserialize(text)


def test_the_bounds_of_a_number_hold() -> None:
    field = value_field(Field("x", kinds.INTEGER, lowest=1800, highest=2100))
    assert field.deserialize(1800) == 1800
    for value in (1799, 2101, "1800", 1800.0, True):
        with pytest.raises(ValidationError):
            field.deserialize(value)
