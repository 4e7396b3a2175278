"""CQL2 as text: what is read, and what is said of the rest."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.geometry.shapes import CRS84
from app.lists.cql.nodes import (
    And,
    Comparison,
    Constant,
    FilterInvalid,
    In,
    Intersects,
    IsNull,
    Like,
    Node,
    Not,
    Or,
    ValueKind,
    conjuncts,
    shapes_in,
)
from app.lists.cql.text import parse_text

PROPERTIES: dict[str, ValueKind] = {
    "name": "text", "status": "text", "area": "number", "at": "time", "geometry": "geometry",
}  # fmt: skip


def parse(text: str) -> Node:
    return parse_text(text, PROPERTIES, CRS84)


A, B, C = (Comparison("name", "=", value) for value in "abc")
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DAY = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_filter_is_read() -> None:
    for text, node in [
        ("name='a'", A),
        ("'a'=name", A),
        ("  name  =\n'a'  ", A),
        ("((name = 'a'))", A),
        ("name='a' OR name='b' AND name='c'", Or((A, And((B, C))))),
        ("(name='a' OR name='b') and name='c'", And((Or((A, B)), C))),
        ("NOT name='a' AND name='b'", And((Not(A), B))),
        ("not not name='a'", Not(Not(A))),
        ("name='it''s'", Comparison("name", "=", "it's")),
        (r"name='it\'s'", Comparison("name", "=", "it's")),
        (r"name='a\b'", Comparison("name", "=", r"a\b")),
        ("name=''", Comparison("name", "=", "")),
        ('"name"=\'a\'', A),
        ("area > -1.5e3", Comparison("area", ">", -1500.0)),
        ("5 <= area", Comparison("area", ">=", 5.0)),
        ("area BETWEEN 1 AND 2", And((Comparison("area", ">=", 1), Comparison("area", "<=", 2)))),
        ("area NOT BETWEEN 1 AND 2 OR name='a'",
         Or((Not(And((Comparison("area", ">=", 1), Comparison("area", "<=", 2)))), A))),
        ("name LIKE 'a%'", Like("name", "a%")),
        ("name NOT LIKE 'a%'", Not(Like("name", "a%"))),
        ("name IN ('a','b')", In("name", ("a", "b"))),
        ("area IN (1)", In("area", (1.0,))),
        ("name IS NULL", IsNull("name")),
        ("name IS NOT NULL", Not(IsNull("name"))),
        ("geometry IS NULL", IsNull("geometry")),
        ("at = TIMESTAMP('2026-01-02T04:04:05+01:00')", Comparison("at", "=", MOMENT)),
        ("at >= DATE('2026-01-02')", Comparison("at", ">=", DAY)),
        ("TRUE", Constant(True)),
        ("false OR name='a'", Or((Constant(False), A))),
    ]:  # fmt: skip
        assert parse(text) == node


def test_geometries_are_read() -> None:
    for text, bounds, is_box in [
        ("S_INTERSECTS(geometry, BBOX(1,2,3,4))", (1, 2, 3, 4), True),
        ("s_intersects(BBOX(1,2,3,4), geometry)", (1, 2, 3, 4), True),
        ("S_INTERSECTS(geometry, BBOX(170,2,-170,4))", (170, 2, 190, 4), True),
        ("S_INTERSECTS(geometry,POINT(1 2))", (1, 2, 1, 2), False),
        ("S_INTERSECTS(geometry,point z (1 2 3))", (1, 2, 1, 2), False),
        ("S_INTERSECTS(geometry,MULTIPOLYGON(((0 0,1 0,1 1,0 0))))", (0, 0, 1, 1), False),
        ("S_INTERSECTS(geometry,GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(3 4,5 6)))", (1, 2, 5, 6),
         False),
    ]:  # fmt: skip
        node = parse(text)
        assert isinstance(node, Intersects)
        assert (node.shape.bounds, node.shape.is_box) == (bounds, is_box)


def test_what_is_wrong_is_said() -> None:
    for text, message in [
        ("", "it has 'the end' where a property or a value should be"),
        ("name", "it has 'the end' where a comparison should be"),
        ("name = ", "character 8"),
        ("name = 'a' x", "it has 'x' where AND, OR or the end should be"),
        ("(name = 'a'", "where ) should be"),
        ("name = 'a", "cannot be read from character 7 on"),
        ("name ~ 'a'", "cannot be read from character 5 on"),
        ("AND", "it has 'AND' where a property or a value should be"),
        ("5 = 5", "needs a property on one side"),
        ("name = status", "Two properties cannot be compared"),
        ("name = 5", "compared with a text"),
        ("area = 'a'", "compared with a number"),
        ("area = TRUE", "compared with a number"),
        ("at = '2026-01-02T03:04:05Z'", "compared with a time"),
        ("at = TIMESTAMP('x')", "A TIMESTAMP must be"),
        ("at = TIMESTAMP(5)", "A TIMESTAMP must be"),
        ("at = TIMESTAMP('a', 'b')", "TIMESTAMP has the wrong arguments"),
        ("at = DATE('2026-1-2')", "A DATE must be a day such as 2026-01-02"),
        ("at = DATE('2026-02-30')", "A DATE must be"),
        ("at = DATE(20260102)", "A DATE must be"),
        ("at = DATE()", "a property or a value"),
        ("at = DATE('a', 'b')", "DATE has the wrong arguments"),
        ("area LIKE 'a'", "LIKE compares a text"),
        ("name LIKE 5", "LIKE compares a text"),
        ("bees = 1", "'bees' cannot be filtered by"),
        ("ACCENTI(name) = 'a'", "The function ACCENTI is not supported"),
        ("S_INTERSECTS(name, POINT(1 2))", "S_INTERSECTS compares the property geometry"),
        ("S_INTERSECTS(geometry, 'x')", "S_INTERSECTS compares the property geometry"),
        ("S_INTERSECTS(geometry, POINT(1 2)", "where ) should be"),
        ("S_INTERSECTS(geometry, POINT(1 2", "parenthesis of a geometry is not closed"),
        ("S_INTERSECTS(geometry, POINT(a b))", "no geometry in WKT"),
        ("S_INTERSECTS(geometry, POLYGON((0 0,1 1,1 0,0 1,0 0)))", "is not valid"),
        ("S_INTERSECTS(geometry, GEOMETRYCOLLECTION(POINT(1 2)", "parenthesis of a geometry"),
        ("S_INTERSECTS(geometry, GEOMETRYCOLLECTION(POLYGON((0 0,1 1,1 0,0 1,0 0))))", "not valid"),
        ("S_INTERSECTS(geometry, GEOMETRYCOLLECTION(POINT EMPTY))", "is empty"),
        ("S_INTERSECTS(geometry, BBOX(1,2,3))", "four numbers"),
        ("S_INTERSECTS(geometry, BBOX('1',2,3,4))", "BBOX has the wrong arguments"),
        ("name = 'a\x00'", "NUL"),
        ("(" * 21 + "name='a'" + ")" * 21, "nested more than 20"),
        ("NOT " * 21 + "name='a'", "nested more than 20"),
        (" OR ".join(["name='a'"] * 201), "more than 200 values"),
        ("area IN (" + ",".join("1" * 1 for _ in range(201)) + ")", "more than 200 values"),
        (" OR ".join(["name LIKE 'a%'"] * 11), "at most 10 patterns of 200 characters"),
        ("name LIKE '" + "a" * 201 + "'", "at most 10 patterns of 200 characters"),
        (" OR ".join(["S_INTERSECTS(geometry,POINT(1 2))"] * 6), "more than 5 geometries"),
        ("name='" + "a" * 8_000 + "'", "longer than 8,000 characters"),
    ]:
        with pytest.raises(FilterInvalid) as caught:
            parse(text)
        assert message in str(caught.value)
        assert len(str(caught.value)) < 500


_WORDS = [*"(),'=<>\\\" a5.-+%_", " AND ", " OR ", "NOT ", " LIKE ", " IN ", " IS NULL", "BBOX(",
          "POINT(1 2)", "name", "area", "geometry", "S_INTERSECTS(", "'x'"]  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.sampled_from(_WORDS), max_size=30))
def test_any_text_is_read_or_refused(words: list[str]) -> None:
    try:
        parse("".join(words))
    except FilterInvalid as error:
        assert str(error)  # noqa: PT017


def test_what_must_hold_is_found_in_a_filter() -> None:
    node = parse("name='a' AND (status='x' AND area > 5) AND (name='b' OR name='c')")
    assert [type(part).__name__ for part in conjuncts(node)] == [
        "Comparison", "Comparison", "Comparison", "Or",
    ]  # fmt: skip
    node = parse("NOT (S_INTERSECTS(geometry,POINT(1 2)) OR S_INTERSECTS(geometry,POINT(3 4)))")
    assert [shape.bounds[:2] for shape in shapes_in(node)] == [(1, 2), (3, 4)]
