"""All crossings of a ring that crosses itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from app.geometry import GeometryInvalid, Problem, faults, read_boundary
from app.geometry.locate import self_crossings
from app.geometry.problems import MAX_PROBLEMS
from tests.processor_time import takes_at_most

COMB = [
    [10, 47], [10.1, 47], [10.1, 47.01], [10.08, 46.99], [10.06, 47.01], [10.04, 46.99],
    [10.02, 47.01], [10, 47.01], [10, 47],
]  # fmt: skip


def problems_of(*rings: list[Any]) -> list[Problem]:
    with pytest.raises(GeometryInvalid) as refused:
        read_boundary({"type": "Polygon", "coordinates": list(rings)})
    return refused.value.problems


def curve(number: int) -> list[Any]:
    """A Lissajous curve, which crosses itself hundreds of times."""
    turns = [2 * math.pi * each / number for each in range(number)]
    ring = [[10 + math.cos(7.3 * turn), 48 + math.sin(11.7 * turn)] for turn in turns]
    return [*ring, ring[0]]


def test_each_has_its_place() -> None:
    found = problems_of(COMB)
    assert {problem.code for problem in found} == {"self_intersection"}
    places = sorted((problem.position, *problem.coordinates) for problem in found)
    assert places == [
        (0, pytest.approx(lon), pytest.approx(47)) for lon in (10.03, 10.05, 10.07, 10.09)
    ]
    assert sorted(problem.message.partition(" of the same")[0][-1] for problem in found) == [
        *"2345"
    ]


def test_positions_that_are_repeated_make_no_more() -> None:
    repeated = [position for position in COMB[:-1] for _ in range(3)] + COMB[-1:]
    assert len(problems_of(repeated)) == 4


def test_one_is_told_once() -> None:
    for ring in (
        [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]],
        [[0, 0], [2, 0], [2, 2], [1, 0], [0, 2], [0, 0]],  # a position on an edge
        [[0, 0], [2, 0], [2, 2], [3, 2], [2, 2], [0, 2], [0, 0]],  # there and back
        [[0, 0], [2, 2], [4, 0], [4, 4], [2, 2], [0, 4], [0, 0]],  # a position twice
    ):
        assert len(problems_of(ring)) == 1, ring


def test_at_most_100_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "CROSSINGS_SECONDS", 60)
    assert len(problems_of(curve(900))) == MAX_PROBLEMS


def test_the_first_is_found_without_the_others() -> None:
    few, many = (
        np.array([[math.cos(2.5 * n), math.sin(2.5 * n)] for n in range(edges)]).T
        for edges in (14, 140)
    )
    assert takes_at_most(
        15,
        lambda: next(self_crossings(*many, math.inf)),
        lambda: next(self_crossings(*few, math.inf)),
    )


def test_what_holds_none_is_told_beside_them() -> None:
    """A hole that lies outside, beside an exterior ring that is valid."""
    hole = [[10.5, 47.5], [10.6, 47.5], [10.6, 47.6], [10.5, 47.6], [10.5, 47.5]]
    found = problems_of([[10, 47], [10.1, 47], [10.1, 47.1], [10, 47]], hole, COMB)
    assert [problem.code for problem in found].count("self_intersection") == 4
    assert "hole_outside" in {problem.code for problem in found}


def test_those_that_are_found_in_time_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "CROSSINGS_SECONDS", -1)
    assert len(problems_of(COMB)) == 1, "that of GEOS"
