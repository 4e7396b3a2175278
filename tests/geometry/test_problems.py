"""Boundaries that are refused: every problem code, with the place that it names."""

from __future__ import annotations

import math
from typing import Any

import pytest

from app.geometry import PROBLEM_CODES, GeometryInvalid, Problem, read_boundary
from app.geometry.problems import MAX_PROBLEMS
from tests.geometry.drawing import (
    BOWTIE,
    NO_NUMBERS,
    TEN,
    UNIT,
    Told,
    box,
    multipolygon,
    polygon,
)
from tests.geometry.refused_drawing import EDGES, SEVERAL, VALIDITY
from tests.geometry.refused_structure import MEMBERS, STRUCTURE


def problems_of(value: object) -> list[Problem]:
    with pytest.raises(GeometryInvalid) as refused:
        read_boundary(value)
    return refused.value.problems


REFUSED = MEMBERS | STRUCTURE | EDGES | VALIDITY | SEVERAL


@pytest.mark.parametrize(("value", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(value: Any, told: list[Told]) -> None:
    found = problems_of(value)
    assert [
        (p.code, p.part, p.ring, p.position, rounded(p.coordinates), p.field) for p in found
    ] == [(*one[:4], rounded(one.coordinates), one.field) for one in told]
    for problem in found:
        indices = [("part", problem.part), ("ring", problem.ring), ("position", problem.position)]
        words = ", ".join(f"{name} {index}" for name, index in indices if index is not None)
        assert problem.message.lower().startswith(words)
        assert problem.message.endswith(".")
        assert len(problem.message) < 400


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
    covered = {one.code for _, told in REFUSED.values() for one in told}
    # Those have tests of their own: of large boundaries, and of the readers of files.
    assert covered | {"too_complex", "unreadable"} == set(PROBLEM_CODES)
    assert all(meaning.endswith(".") for meaning in PROBLEM_CODES.values())


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
        (polygon(TEN, box(1, 1, 4, 4), box(3, 2, 6, 3)), "crosses ring 1, another hole"),
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


def test_too_many_elements_are_counted_and_not_looked_at() -> None:
    (problem,) = problems_of(polygon(*[1] * 300_000))
    assert problem.code == "too_many_positions"
    assert "has 300,000 elements; a boundary may have 100,000 positions in all" in problem.message


def test_very_many_unknown_members_are_not_all_told() -> None:
    assert len(problems_of(polygon(UNIT, **{f"x{n}": 0 for n in range(90_000)}))) == MAX_PROBLEMS


@pytest.mark.parametrize("name", ["type", "crs"])
def test_a_long_name_is_not_looked_at(name: str) -> None:
    (problem,) = problems_of(polygon(UNIT) | {name: " " * 10_000 + "polygon"})
    assert len(problem.message) < 300


@pytest.mark.slow
def test_a_fault_among_100_000_positions_is_found() -> None:
    turns = [2 * math.pi * k / 99_999 for k in range(99_999)]
    ring = [[10 + math.cos(turn), 50 + math.sin(turn)] for turn in turns]
    ring[60_000], ring[60_001] = ring[60_001], ring[60_000]
    (problem,) = problems_of(polygon([*ring, ring[0]]))
    assert (problem.code, problem.position) == ("self_intersection", 59_999)
