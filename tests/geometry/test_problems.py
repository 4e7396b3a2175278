"""Boundaries that are refused: every problem code, with the place that it names."""

from __future__ import annotations

import math
import re

import pytest

from app.geometry import PROBLEM_CODES, GeometryInvalid, Problem, read_boundary
from app.geometry.plain_words import plain_message
from app.geometry.problems import MAX_PROBLEMS
from tests.geometry.drawing import (
    BOWTIE,
    NO_NUMBERS,
    TEN,
    UNIT,
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


def test_refused(subtests: pytest.Subtests) -> None:
    plain = set()
    for name, (value, told) in REFUSED.items():
        with subtests.test(name):
            found = problems_of(value)
            assert [
                (p.code, p.part, p.ring, p.position, rounded(p.coordinates), p.field) for p in found
            ] == [(*one[:4], rounded(one.coordinates), one.field) for one in told]
            for problem in found:
                check_message(problem)
                plain.add(plain_message(problem.code, problem.message))
    assert "Two sides cross or touch here. Move a corner until they no longer do." in plain
    assert len(plain) > 30
    for message in plain:  # on pages
        assert not _OF_THE_API.search(message)
        assert message[0].isupper()


_OF_THE_API = re.compile(r"`|\b(part|ring|position) \d|\.type\b", re.IGNORECASE)


def check_message(problem: Problem) -> None:
    indices = [("part", problem.part), ("ring", problem.ring), ("position", problem.position)]
    words = ", ".join(f"{name} {index}" for name, index in indices if index is not None)
    assert problem.message.lower().startswith(words)
    assert problem.message.endswith(".")
    assert len(problem.message) < 400


def rounded(coordinates: list[float] | None) -> list[float] | None:
    """Compare to a millionth of a millimetre, some digits more than crossings are computed to."""
    return coordinates and [round(ordinate, 13) for ordinate in coordinates]


def test_each_fault_of_a_position_alone() -> None:
    for position, code in (
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
    ):
        (problem,) = problems_of(polygon([[0, 0], [2, 0], position, [0, 2], [0, 0]]))
        assert (problem.code, problem.ring, problem.position) == (code, 0, 2), position


def test_every_code_is_covered_and_has_a_meaning() -> None:
    covered = {one.code for _, told in REFUSED.values() for one in told}
    # Those have tests of their own: of large boundaries, and of the readers of files.
    assert covered | {"too_complex", "unreadable"} == set(PROBLEM_CODES)
    assert all(meaning.endswith(".") for meaning in PROBLEM_CODES.values())


def test_message_says_what_to_do() -> None:
    for value, told in (
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
    ):
        assert told in problems_of(value)[0].message, value


def test_no_more_problems_than_anyone_reads() -> None:
    assert len(problems_of(polygon([["x", 0]] * 1000))) == MAX_PROBLEMS
    bowties = [[[[k + x / 2, y] for x, y in BOWTIE]] for k in range(MAX_PROBLEMS + 1)]
    assert len(problems_of(multipolygon(*bowties))) == MAX_PROBLEMS
    assert str(GeometryInvalid(problems_of(polygon(BOWTIE)))).startswith("Ring 0, position 0")


def test_too_many_elements_are_counted_and_not_looked_at() -> None:
    (problem,) = problems_of(polygon(*[1] * 300_000))
    assert problem.code == "too_many_positions"
    assert "has 300,000 elements; a boundary may have 100,000 positions in all" in problem.message


def test_a_long_name_is_not_looked_at() -> None:
    for name in ("type", "crs"):
        (problem,) = problems_of(polygon(UNIT) | {name: " " * 10_000 + "polygon"})
        assert len(problem.message) < 300, name


@pytest.mark.slow
def test_a_fault_among_100_000_positions_is_found() -> None:
    turns = [2 * math.pi * k / 99_999 for k in range(99_999)]
    ring = [[10 + math.cos(turn), 50 + math.sin(turn)] for turn in turns]
    ring[60_000], ring[60_001] = ring[60_001], ring[60_000]
    (problem,) = problems_of(polygon([*ring, ring[0]]))
    assert (problem.code, problem.position) == ("self_intersection", 59_999)


def test_numbers_that_tell_what_is_wrong_stay() -> None:
    message = (
        "Part 0, ring 1, position 17 is out of range: longitude 500.5 is not within -180 to 180"
    )
    assert plain_message("out_of_range", message) == "Longitude 500.5 is not within -180 to 180"


def test_what_is_before_a_colon_stays() -> None:
    message = 'Position 0 has a longitude that is not a number: "{{x}}".'
    plain = 'This corner has a longitude that is not a number: "{{x}}".'
    assert plain_message("not_a_number", message) == plain
