"""Boundaries that are refused: every problem code, with the place that it names."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pytest

from app.core.geometry import MAX_PROBLEMS, PROBLEM_CODES, GeometryInvalid, Problem, read_boundary

Ring = list[list[float]]
NAN, INFINITE = float("nan"), float("inf")
NO_NUMBERS: list[Any] = ["1", "", True, False, None, [], [1], {}, NAN, INFINITE, -INFINITE]


def box(west: float, south: float, east: float, north: float) -> Ring:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def polygon(*rings: Any, **members: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings), **members}


def multipolygon(*parts: Any) -> dict[str, Any]:
    return {"type": "MultiPolygon", "coordinates": list(parts)}


def problems_of(value: object) -> list[Problem]:
    with pytest.raises(GeometryInvalid) as refused:
        read_boundary(value)
    return refused.value.problems


class Told(NamedTuple):
    """What a problem must say: its code, indices from 0, coordinates and field."""

    code: str
    part: int | None = None
    ring: int | None = None
    position: int | None = None
    coordinates: list[float] | None = None
    field: str = "geometry.coordinates"


BOWTIE = [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]
UNIT = box(0, 0, 1, 1)
TEN = box(0, 0, 10, 10)

MEMBERS: dict[str, tuple[Any, list[Told]]] = {
    "null": (None, [Told("not_an_object", field="geometry")]),
    "array": ([UNIT], [Told("not_an_object", field="geometry")]),
    "text": ("POLYGON", [Told("not_an_object", field="geometry")]),
    "empty object": ({}, [Told("missing_member", field="geometry.type")]),
    "no type": ({"coordinates": [UNIT]}, [Told("missing_member", field="geometry.type")]),
    "no coordinates": ({"type": "Polygon"}, [Told("missing_member")]),
    "feature": (
        {"type": "Feature", "properties": {}, "geometry": polygon(UNIT)},
        [Told("wrong_type", field="geometry.type")],
    ),
    "lower case type": (
        {"type": "polygon", "coordinates": [UNIT]},
        [Told("wrong_type", field="geometry.type")],
    ),
    "type is an array": (
        {"type": ["Polygon"], "coordinates": [UNIT]},
        [Told("wrong_type", field="geometry.type")],
    ),
    "point": (
        {"type": "Point", "coordinates": [0, 0]},
        [Told("wrong_type", field="geometry.type")],
    ),
    "unknown members, all told": (
        polygon(UNIT, properties={}, id=1),
        [
            Told("unknown_member", field="geometry.properties"),
            Told("unknown_member", field="geometry.id"),
        ],
    ),
    "projected crs": (
        polygon(UNIT, crs={"type": "name", "properties": {"name": "EPSG:25832"}}),
        [Told("wrong_crs", field="geometry.crs")],
    ),
    "null crs": (polygon(UNIT, crs=None), [Told("wrong_crs", field="geometry.crs")]),
    "linked crs": (
        polygon(UNIT, crs={"type": "link", "properties": {"name": "EPSG:4326"}}),
        [Told("wrong_crs", field="geometry.crs")],
    ),
    "crs without properties": (
        polygon(UNIT, crs={"type": "name", "properties": []}),
        [Told("wrong_crs", field="geometry.crs")],
    ),
    "members and coordinates at once": (
        polygon([[0, 0], [1, 0], [1, 1], [0, 1]], id=1),
        [
            Told("unknown_member", field="geometry.id"),
            Told("not_closed", None, 0, 3, [0, 1]),
        ],
    ),
    "members and a crossing at once": (
        polygon(BOWTIE, id=1),
        [
            Told("unknown_member", field="geometry.id"),
            Told("self_intersection", None, 0, 0, [0.5, 0.5]),
        ],
    ),
    "members and no coordinates at once": (
        {"type": "Polygon", "id": 1},
        [Told("missing_member"), Told("unknown_member", field="geometry.id")],
    ),
}

STRUCTURE: dict[str, tuple[Any, list[Told]]] = {
    "coordinates null": ({"type": "Polygon", "coordinates": None}, [Told("not_an_array")]),
    "coordinates object": ({"type": "MultiPolygon", "coordinates": {}}, [Told("not_an_array")]),
    "coordinates empty": (polygon(), [Told("empty")]),
    "no parts": (multipolygon(), [Told("empty")]),
    "part without rings": (multipolygon([UNIT], []), [Told("empty", 1)]),
    "part is a number": (multipolygon([UNIT], 5), [Told("not_an_array", 1)]),
    "ring empty": (polygon(TEN, []), [Told("empty", None, 1)]),
    "ring empty in a part": (multipolygon([UNIT], [TEN, []]), [Told("empty", 1, 1)]),
    "ring is text": (polygon(TEN, "hole"), [Told("not_an_array", None, 1)]),
    "a ring's positions in place of the rings": (polygon(*UNIT), [Told("wrong_nesting")]),
    "a position in place of the rings": (polygon(0, 0), [Told("wrong_nesting")]),
    "Polygon nested as a MultiPolygon": (polygon([UNIT]), [Told("wrong_nesting")]),
    "MultiPolygon nested as a Polygon": (multipolygon(UNIT), [Told("wrong_nesting")]),
    "position is an object": (
        polygon([[0, 0], [1, 0], {"lon": 1, "lat": 1}, [0, 0]]),
        [Told("not_an_array", None, 0, 2)],
    ),
    "positions of one and of four numbers": (
        polygon([[0, 0], [1], [1, 1, 1, 1], [0, 0]]),
        [Told("wrong_position", None, 0, 1), Told("wrong_position", None, 0, 2)],
    ),
    "ordinates that are no numbers": (
        polygon([[0, 0], [1, "0"], [True, 1], [None, 1], [[1], 1], [1, 1, {}], [0, 0]]),
        [Told("not_a_number", None, 0, index) for index in range(1, 6)],
    ),
    "ordinates that are not finite": (
        polygon([[NAN, 0], [1, INFINITE], [1, 1, -INFINITE], [1, 2, NAN], [NAN, 0]]),
        [Told("not_a_number", None, 0, index) for index in range(5)],
    ),
    "out of range": (
        polygon([[0, 0], [180.5, 0], [1, -90.5], [1, 1, 1e300], [0, 0]]),
        [
            Told("out_of_range", None, 0, 1, [180.5, 0]),
            Told("out_of_range", None, 0, 2, [1, -90.5]),
            Told("out_of_range", None, 0, 3, [1, 1]),
        ],
    ),
    "integers past 64 bits": (
        polygon([[0, 0], [2**64, 0], [10**400, 1], [1, 1, 2**64], [0, 0]]),
        [
            Told("out_of_range", None, 0, 1, [2.0**64, 0]),
            Told("out_of_range", None, 0, 2),
            Told("out_of_range", None, 0, 3, [1, 1]),
        ],
    ),
    "some nested too deep, some not enough": (
        polygon([0, 0], [[[0, 0]]]),
        [
            Told("not_an_array", None, 0, 0),
            Told("not_an_array", None, 0, 1),
            Told("too_few_positions", None, 0),
            Told("wrong_position", None, 1, 0),
            Told("too_few_positions", None, 1),
        ],
    ),
    "three positions": (polygon([[0, 0], [1, 0], [0, 0]]), [Told("too_few_positions", None, 0)]),
    "three positions in a hole": (
        multipolygon([UNIT], [TEN, [[1, 1], [2, 2], [1, 1]]]),
        [Told("too_few_positions", 1, 1)],
    ),
    "not closed": (
        polygon([[0, 0], [1, 0], [1, 1], [0, 1]]),
        [Told("not_closed", None, 0, 3, [0, 1])],
    ),
    "closed but for the height": (
        polygon([[0, 0, 7], [1, 0], [1, 1], [0, 0, 8]]),
        [Told("not_closed", None, 0, 3, [0, 0])],
    ),
    "height at one end only": (
        polygon([[0, 0, 7], [1, 0], [1, 1], [0, 0]]),
        [Told("not_closed", None, 0, 3, [0, 0])],
    ),
    "faults of all rings and parts at once": (
        multipolygon(
            [TEN, [[1, 1], [2, 1], [2, 2], [1, 2]], []],
            "part",
            [[[0, 0], [1, "x"], [1, 99], [0, 0]]],
        ),
        [
            Told("not_closed", 0, 1, 3, [1, 2]),
            Told("empty", 0, 2),
            Told("not_an_array", 1),
            Told("not_a_number", 2, 0, 1),
            Told("out_of_range", 2, 0, 2, [1, 99]),
        ],
    ),
    "too many positions": (
        polygon([[0, 0]] * 60_000, [[0, 0]] * 60_000),
        [Told("too_many_positions")],
    ),
}

EDGES: dict[str, tuple[Any, list[Told]]] = {
    "across the antimeridian, out and back": (
        multipolygon([UNIT], [[[170, 0], [-170, 0], [-170, 10], [175, 20], [170, 0]]]),
        [
            Told("antimeridian", 1, 0, 0, [180, 0]),
            Told("antimeridian", 1, 0, 2, [-180, 10 + 10 * 2 / 3]),
        ],
    ),
    "in a hole": (
        polygon(TEN, [[-179, 1], [179, 1], [179, 2], [-179, 1]]),
        [
            Told("antimeridian", None, 1, 0, [-180, 1]),
            Told("antimeridian", None, 1, 2, [180, 1.5]),
        ],
    ),
    "from -180 to 180": (
        polygon(box(-180, 0, 180, 10)),
        [Told("antimeridian", None, 0, 0, [-180, 0]), Told("antimeridian", None, 0, 2, [180, 10])],
    ),
    "half way round": (
        polygon(box(-90, 0, 90, 10)),
        [
            Told("ambiguous_edge", None, 0, 0, [-90, 0]),
            Told("ambiguous_edge", None, 0, 2, [90, 10]),
        ],
    ),
    "half way round, not at a pole": (
        polygon(box(-90, 0, 90, 90)),
        [Told("ambiguous_edge", None, 0, 0, [-90, 0])],
    ),
    "more than half way round at a pole": (
        polygon([[-100, 0], [0, 0], [100, 0], [100, 90], [-100, 90], [-100, 0]]),
        [Told("antimeridian", None, 0, 3, [180, 90])],
    ),
    "jump from one ring to the next is no edge": (
        polygon([[-170, 0], [0, 0], [170, 0], [0, 9], [-170, 0]], BOWTIE),
        [Told("self_intersection", None, 1, 0, [0.5, 0.5])],
    ),
    "more than half of the Earth": (
        polygon(
            [[lon, -80] for lon in (-180, -90, 0, 90, 180)]
            + [[lon, 80] for lon in (180, 90, 0, -90, -180)]
            + [[-180, -80]]
        ),
        [Told("too_large", None, 0)],
    ),
}

# An L of ten by ten degrees; what lies in its corner is outside of it.
ELL = [[0, 0], [10, 0], [10, 4], [4, 4], [4, 10], [0, 10], [0, 0]]

VALIDITY: dict[str, tuple[Any, list[Told]]] = {
    "bow tie": (polygon(BOWTIE), [Told("self_intersection", None, 0, 0, [0.5, 0.5])]),
    "crossing later in the ring": (
        polygon([[0, 0], [4, 0], [4, 4], [1, 1], [1, 4], [3, 1], [0, 4], [0, 0]]),
        [Told("self_intersection", None, 0, 2, [2.2, 2.2])],
    ),
    "ring touches itself at a position": (
        polygon([[0, 0], [4, 0], [4, 4], [2, 2], [0, 4], [1, 3], [2, 2], [0, 0]]),
        [Told("self_intersection", None, 0, 3, [2, 2])],
    ),
    "ring touches itself at its start": (
        polygon([[0, 0], [2, 0], [2, 2], [0, 0], [-2, -2], [-2, 0], [0, 0]]),
        [Told("self_intersection", None, 0, 0, [0, 0])],
    ),
    "edge goes there and back": (
        polygon([[0, 0], [4, 0], [4, 4], [4, 6], [4, 4], [0, 4], [0, 0]]),
        [Told("self_intersection", None, 0, 2, [4, 4])],
    ),
    "in the second hole": (
        multipolygon(
            [UNIT],
            [box(20, 0, 30, 10), box(21, 1, 22, 2), [[24, 4], [26, 6], [26, 4], [24, 6], [24, 4]]],
        ),
        [Told("self_intersection", 1, 2, 0, [25, 5])],
    ),
    "one point": (polygon([[5, 5]] * 4), [Told("zero_area", None, 0, 0, [5, 5])]),
    "two points": (
        polygon([[5, 5], [6, 6], [5, 5], [6, 6], [5, 5]]),
        [Told("zero_area", None, 0, 0, [5, 5])],
    ),
    "one line": (
        polygon([[0, 0], [1, 1], [3, 3], [2, 2], [0, 0]]),
        [Told("zero_area", None, 0, 0, [0, 0])],
    ),
    "hole without area": (
        polygon(TEN, [[1, 1], [2, 2], [3, 3], [1, 1]]),
        [Told("zero_area", None, 1, 0, [1, 1])],
    ),
    "hole outside": (
        polygon(UNIT, box(2, 2, 3, 3)),
        [Told("hole_outside", None, 1, 0, [2, 2])],
    ),
    "hole around the exterior": (
        polygon(UNIT, box(-1, -1, 2, 2)),
        [Told("hole_outside", None, 1, 0, [-1, -1])],
    ),
    "hole across the exterior": (
        polygon(ELL, [[1, 1], [2, 1], [2, 12], [1, 12], [1, 1]]),
        [Told("hole_outside", None, 1, 1, [2, 10])],
    ),
    "hole along the exterior": (
        polygon(TEN, [[0, 4], [2, 4], [2, 6], [0, 6], [0, 4]]),
        [Told("hole_outside", None, 1, 3, [0, 6])],
    ),
    "hole the same as the exterior": (
        polygon(UNIT, UNIT),
        [Told("hole_outside", None, 1, 2, [1, 1])],
    ),
    "holes across each other": (
        polygon(TEN, box(1, 1, 4, 4), box(3, 2, 6, 3)),
        [Told("holes_overlap", None, 2, 0, [4, 2])],
    ),
    "holes nested": (
        polygon(TEN, box(1, 1, 5, 5), box(2, 2, 3, 3)),
        [Told("holes_overlap", None, 2, 0, [2, 2])],
    ),
    "holes nested, the inner one first": (
        polygon(TEN, box(2, 2, 3, 3), box(1, 1, 5, 5)),
        [Told("holes_overlap", None, 1, 0, [2, 2])],
    ),
    "holes that share an edge": (
        polygon(TEN, box(1, 1, 2, 2), box(2, 1, 3, 2)),
        [Told("holes_overlap", None, 2, 3, [2, 2])],
    ),
    "hole cuts the part in two": (
        polygon(TEN, [[5, 0], [7, 5], [5, 10], [3, 5], [5, 0]]),
        [Told("interior_disconnected", None, 1, 2, [5, 10])],
    ),
    "holes cut the part in two": (
        polygon(
            TEN,
            [[5, 0], [6, 2], [5, 5], [4, 2], [5, 0]],
            [[5, 5], [6, 7], [5, 10], [4, 7], [5, 5]],
        ),
        [Told("interior_disconnected", None, 2, 0, [5, 5])],
    ),
    "parts across each other": (
        multipolygon([box(0, 0, 2, 2)], [box(5, 5, 6, 6)], [box(1, 1, 3, 3)]),
        [Told("parts_overlap", 2, 0, 3, [1, 2])],
    ),
    "parts nested": (
        multipolygon([TEN], [box(4, 4, 5, 5)]),
        [Told("parts_overlap", 1, 0, 0, [4, 4])],
    ),
    "parts nested, the inner one first": (
        multipolygon([box(4, 4, 5, 5)], [TEN]),
        [Told("parts_overlap", 0, 0, 0, [4, 4])],
    ),
    "parts that share an edge": (
        multipolygon([UNIT], [box(1, 0, 2, 1)]),
        [Told("parts_overlap", 1, 0, 3, [1, 1])],
    ),
    "parts that are the same": (
        multipolygon([UNIT], [UNIT]),
        [Told("parts_overlap", 1, 0, 2, [1, 1])],
    ),
    "part's hole across another part": (
        multipolygon([TEN, box(2, 2, 8, 8)], [box(4, 4, 9, 5)]),
        [Told("parts_overlap", 1, 0, 2, [8, 5])],
    ),
}

SEVERAL: dict[str, tuple[Any, list[Told]]] = {
    "each ring and each part has its own": (
        multipolygon(
            [box(-20, 0, -10, 10), box(-30, 1, -29, 2), box(-19, 1, -15, 5), box(-18, 2, -17, 3)],
            [BOWTIE],
            [TEN, [[4, 4], [6, 6], [6, 4], [4, 6], [4, 4]], box(20, 1, 21, 2)],
            [box(40, 0, 50, 10)],
            [box(45, 5, 55, 6)],
            [box(41, 1, 42, 2)],
        ),
        [
            Told("self_intersection", 1, 0, 0, [0.5, 0.5]),
            Told("self_intersection", 2, 1, 0, [5, 5]),
            Told("hole_outside", 0, 1, 0, [-30, 1]),
            Told("holes_overlap", 0, 3, 0, [-18, 2]),
            Told("hole_outside", 2, 2, 0, [20, 1]),
            Told("parts_overlap", 4, 0, 0, [50, 5]),
            Told("parts_overlap", 5, 0, 0, [41, 1]),
        ],
    ),
    "what is set aside is not looked at again": (
        polygon(TEN, box(20, 1, 21, 2), [[20, 1], [22, 3], [22, 1], [20, 3], [20, 1]]),
        [
            Told("self_intersection", None, 2, 0, [21, 2]),
            Told("hole_outside", None, 1, 0, [20, 1]),
        ],
    ),
    # The line from the start of ring 3 to that of ring 4 goes through the crossing.
    "the way from one ring to the next is no edge": (
        polygon(
            TEN,
            box(1, 1, 4, 4),
            box(3, 2, 6, 3),
            [[4, 0.25], [5, 0.25], [5, 0.5], [4, 0.25]],
            [[4, 8], [5, 8], [5, 9], [4, 8]],
        ),
        [Told("holes_overlap", None, 2, 0, [4, 2])],
    ),
    "nothing that only follows from another fault": (
        multipolygon([TEN, [[1, 1], [9, 9], [9, 1], [1, 9], [1, 1]]], [box(8, 4, 8.5, 5)]),
        [Told("self_intersection", 0, 1, 0, [5, 5])],
    ),
}

REFUSED = MEMBERS | STRUCTURE | EDGES | VALIDITY | SEVERAL


@pytest.mark.parametrize(("value", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(value: Any, told: list[Told]) -> None:
    found = problems_of(value)
    assert [
        (p.code, p.part, p.ring, p.position, rounded(p.coordinates), p.field) for p in found
    ] == [(*one[:4], rounded(one.coordinates), one.field) for one in told]


def rounded(coordinates: list[float] | None) -> list[float] | None:
    """Compare to a millionth of a millimetre, some digits more than crossings are computed to."""
    return coordinates and [round(ordinate, 13) for ordinate in coordinates]


@pytest.mark.parametrize(
    ("position", "code"),
    [
        ("", "not_an_array"),
        ("11", "not_an_array"),
        ((1, 1), "not_an_array"),
        ({0: 1, 1: 1}, "not_an_array"),
        (None, "not_an_array"),
        (1, "not_an_array"),
        ([], "wrong_position"),
        ([1], "wrong_position"),
        ([1, 1, 1, 1], "wrong_position"),
        *(([bad, 1], "not_a_number") for bad in NO_NUMBERS),
        *(([1, bad], "not_a_number") for bad in NO_NUMBERS),
        *(([1, 1, bad], "not_a_number") for bad in NO_NUMBERS),
        *(([bad, 1], "out_of_range") for bad in (180.0000001, -181, 2**63, 2**64, 10**400)),
        *(([1, bad], "out_of_range") for bad in (90.0000001, -91, 2**63, 2**64, 10**400)),
        *(([1, 1, bad], "out_of_range") for bad in (1e19, -1e300, 2**63, 2**64, 10**400)),
    ],
)
def test_each_fault_of_a_position_alone(position: Any, code: str) -> None:
    (problem,) = problems_of(polygon([[0, 0], [2, 0], position, [0, 2], [0, 0]]))
    assert (problem.code, problem.ring, problem.position) == (code, 0, 2)


def test_every_code_is_covered_and_has_a_meaning() -> None:
    assert {one.code for _, told in REFUSED.values() for one in told} == set(PROBLEM_CODES)
    assert all(meaning.endswith(".") for meaning in PROBLEM_CODES.values())


@pytest.mark.parametrize("value", [value for value, _ in REFUSED.values()], ids=REFUSED)
def test_message_names_the_place_and_is_a_sentence(value: Any) -> None:
    for problem in problems_of(value):
        indices = [("part", problem.part), ("ring", problem.ring), ("position", problem.position)]
        words = ", ".join(f"{name} {index}" for name, index in indices if index is not None)
        assert problem.message.lower().startswith(words)
        assert problem.message.endswith(".")
        assert len(problem.message) < 400


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"type": "Feature", "geometry": polygon(UNIT)}, "geometry of the Feature, not the Feat"),
        ({"type": "FeatureCollection", "features": []}, "geometry of one of its Features"),
        ({"type": "GeometryCollection", "geometries": []}, "one geometry of the collection"),
        ({"type": "multipolygon"}, 'Write it "MultiPolygon"'),
        ({"type": 5}, 'must be "Polygon" or "MultiPolygon", not 5'),
        ({"type": "x" * 1000}, f'"{"x" * 40}…"'),
        (polygon(*UNIT), "nested 2 deep. A Polygon is 3 deep"),
        (polygon([[50, 9], [50, 95], [51, 9], [50, 9]]), "the two look swapped"),
        (polygon([[0, 0, 7], [1, 0], [1, 1], [0, 0, 8]]), "third number"),
        (polygon(box(170, 0, -170, 1)), "Split the boundary there into a MultiPolygon"),
        (polygon(BOWTIE), "the edge from position 2 of the same ring, at [0.5, 0.5]"),
        (polygon(TEN, box(1, 1, 4, 4), box(3, 2, 6, 3)), "crosses the hole of ring 1"),
        (polygon(TEN, box(1, 1, 5, 5), box(2, 2, 3, 3)), "inside another hole"),
        (multipolygon([TEN], [box(4, 4, 5, 5)]), "overlaps part 0"),
        (multipolygon([box(20, 0, 21, 1)], [UNIT], [box(0.5, 0, 2, 1)]), "overlaps part 1"),
    ],
)
def test_message_says_what_to_do(value: Any, told: str) -> None:
    assert told in problems_of(value)[0].message


def test_no_more_problems_than_anyone_reads() -> None:
    assert len(problems_of(polygon([["x", 0]] * 1000))) == MAX_PROBLEMS
    bowties = [[[[k + x / 2, y] for x, y in BOWTIE]] for k in range(MAX_PROBLEMS + 1)]
    assert len(problems_of(multipolygon(*bowties))) == MAX_PROBLEMS
    assert str(GeometryInvalid(problems_of(polygon(BOWTIE)))).startswith("Ring 0, position 0")


def test_a_fault_among_100_000_positions_is_found() -> None:
    turns = [2 * math.pi * k / 99_999 for k in range(99_999)]
    ring = [[10 + math.cos(turn), 50 + math.sin(turn)] for turn in turns]
    ring[60_000], ring[60_001] = ring[60_001], ring[60_000]
    (problem,) = problems_of(polygon([*ring, ring[0]]))
    assert (problem.code, problem.position) == ("self_intersection", 59_999)
