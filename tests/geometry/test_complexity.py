"""Boundaries that were made to be expensive are refused, or validated in reasonable time."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import shapely

from app.geometry import GeometryInvalid, Problem, boundary, faults, read_boundary
from app.geometry.complexity import is_cheap_to_validate
from app.geometry.timed import processor_seconds
from tests.geometry.drawing import box, multipolygon, polygon
from tests.geometry.expensive_shapes import (
    Geometry,
    closed,
    holes_beside_comb,
    nested_squares,
    steered_zigzag,
    with_nested_squares,
    zigzag,
    zigzag_and_squares,
)
from tests.geometry.sizes import rings_of
from tests.processor_time import is_within


def problems_of(geometry: Geometry) -> list[Problem]:
    try:
        read_boundary(geometry)
    except GeometryInvalid as refused:
        return refused.problems
    return []


def codes_of(geometry: Geometry) -> list[str]:
    return [problem.code for problem in problems_of(geometry)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "positions"),
    [(zigzag, 50_000), (steered_zigzag, 40_000), (nested_squares, 90_000)],
)
def test_what_takes_too_long_is_refused(
    shape: Callable[[int], Geometry], positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried in another process, and never in this one."""
    monkeypatch.setattr(shapely, "is_valid", None)
    (problem,) = problems_of(shape(positions))
    assert problem.code == "too_complex"
    assert "too complex to validate" in problem.message
    assert "Simplify the boundary, or split it" in problem.message


def wound_band(turns: int, positions: int) -> Geometry:
    """A band that winds around a point."""
    angle = np.linspace(0, 2 * np.pi * turns, positions // 2)
    reach = 1 + angle / (2 * np.pi) * 0.02
    sides = [
        np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1) for r in (reach, reach + 0.008)
    ]
    return polygon(closed(sides[0], sides[1][::-1]))


def slanted_strips(number: int) -> Geometry:
    """Strips side by side that run slantwise, so that the boxes of all overlap."""
    west = np.arange(number) * 0.01
    corners = np.array([[0, 0], [0.005, 0], [9.005, 9], [9, 9]])
    strips = west[:, None, None] * np.array([1, 0]) + corners[None]
    return multipolygon(*([closed(strip)] for strip in strips))


@pytest.mark.parametrize("geometry", [wound_band(40, 20_000), slanted_strips(900)])
def test_honest_shapes_that_look_complex_are_taken(geometry: Geometry) -> None:
    assert not is_cheap_to_validate(rings_of(geometry))
    assert read_boundary(geometry).area_m2 > 0


def test_hundreds_of_parts_are_cheap() -> None:
    random = np.random.default_rng(1)
    turns = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    parts = [
        [closed([n % 30, n // 30] + circle * (0.45 + 0.03 * random.random((50, 1))))]
        for n in range(300)
    ]
    assert is_cheap_to_validate(rings_of(multipolygon(*parts)))


def test_few_long_edges_are_not_taken_for_all() -> None:
    """Those that an evenly spaced sample finds are short."""
    rings = rings_of(steered_zigzag(20_000))
    chosen = (np.arange(128) * (0.6180339887498949 * 19_999)).astype(int) % 19_999
    lengths = np.hypot(np.diff(rings.lon), np.diff(rings.lat))
    assert np.median(lengths[chosen]) < 0.001
    assert np.median(lengths) > 50
    assert not is_cheap_to_validate(rings)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("positions", "found"), [(545, 1), (600, 2)])
def test_the_search_for_faults_ends_in_time(
    positions: int, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its rounds checks the valid part again. It takes 20 ms here, and as long once more in
    the other process that checks the second boundary. The first one is small, so that nothing
    limits how many like it are searched at once."""
    monkeypatch.setattr(boundary, "LOCATED_HERE", (30.0, 0.0))
    monkeypatch.setattr(faults, "processor_seconds", itertools.count(step=0.0201).__next__)
    geometry = with_nested_squares(zigzag(positions))
    assert codes_of(geometry) == ["parts_overlap"] * found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "positions"), [(zigzag, 1_000), (holes_beside_comb, 10_000)], ids=["edges", "rings"]
)
@pytest.mark.usefixtures("impatient")
def test_a_fault_of_what_takes_long_is_looked_for_in_another_process(
    shape: Callable[[int], Geometry], positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = shape(positions)
    assert codes_of(part) == []
    monkeypatch.setattr(boundary, "thread_time", itertools.count(step=0.06).__next__)
    monkeypatch.setattr(shapely, "is_valid_reason", None)
    assert set(codes_of(with_nested_squares(part))) == {"parts_overlap"}


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_plain_fault_beside_what_takes_long_is_told_without_a_place() -> None:
    """To validate the part of many positions alone takes minutes."""
    plain, long = zigzag_and_squares(1_726), zigzag(29_205)
    began = processor_seconds()
    (problem,) = problems_of(multipolygon(*plain["coordinates"], long["coordinates"]))
    assert is_within(processor_seconds() - began, 1)
    assert "is not valid, and too complex to find out where" in problem.message


@pytest.mark.slow
def test_many_islands_are_not_too_complex() -> None:
    corners = [(x / 100, y / 100) for x in range(100) for y in range(90)]
    islands = [[box(x, y, x + 0.005, y + 0.005)] for x, y in corners]
    assert read_boundary(multipolygon(*islands)).positions == 45_000
