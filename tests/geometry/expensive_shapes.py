"""Boundaries that were made to be expensive: each makes another step of GEOS compare everything
with everything. Each function takes about how many positions the shape shall have."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, Final

import numpy as np

from tests.geometry.drawing import Ring, box, multipolygon, polygon

Geometry = dict[str, Any]


def closed(*pieces: Any) -> Ring:
    """A ring of the positions in arrays or lists."""
    ring: Ring = [position for piece in pieces for position in np.asarray(piece).tolist()]
    return [*ring, ring[0]]


def zigzag(positions: int) -> Geometry:
    """Long diagonals side by side: the boxes of all edges overlap."""
    return polygon(_zigzag([True] * (positions - 5)))


def steered_zigzag(positions: int) -> Geometry:
    """The same, but for 128 short edges, evenly spaced by the golden ratio."""
    edges = positions - 1
    chosen = (np.arange(128) * (0.6180339887498949 * edges)).astype(int) % edges
    crosses = ~np.isin(np.arange(edges - 4), chosen)
    if np.count_nonzero(crosses) % 2 == 0:
        crosses[-1] = not crosses[-1]
    return polygon(_zigzag(crosses.tolist()))


def _zigzag(crosses: list[bool]) -> Ring:
    """Whether each edge goes to the other side; it ends there where it did not start."""
    is_far = np.cumsum([False, *crosses]) % 2 == 1
    steps = np.linspace(0, 1, len(is_far))
    far = 40 * is_far
    ring = np.stack([steps + far, far - steps], axis=1)
    if not is_far[-1]:
        ring = ring[:-1]
    east, north = ring[-1].tolist()
    return closed(ring, [[east + 1, north - 1], [1.5, -3.0], [-0.5, -0.6]])


def nested_corners(positions: int, arm: int = 1) -> Geometry:
    """Right angles in one another, each a run of its own: the boxes of runs overlap, and those of
    edges do not. ``arm``: the edges of each side of a corner."""
    corner = np.linspace(0, 9, positions // (2 * arm + 1) // 2 * 2)[:, None]
    across = 10 - (10 - corner) * np.linspace(0, 1, arm + 1)  # from the far end to the corner
    fixed = np.repeat(corner, arm + 1, axis=1)
    down = np.stack([fixed, across], axis=2)
    east = np.stack([across, fixed], axis=2)[:, ::-1][:, 1:]
    corners = np.concatenate([down, east], axis=1)
    corners[1::2] = corners[1::2, ::-1].copy()
    return polygon(closed(corners.reshape(-1, 2), [[9.0, 11.0], [-1.0, 11.0]]))


def stairs(positions: int, steps: int = 30) -> Geometry:
    """Stairs side by side, close together, up and down in turn."""
    run = positions // (2 * steps)
    tread = np.repeat(np.arange(steps + 1), 2) * (10 / steps)
    stair = np.stack([tread[1:], tread[:-1]], axis=1)[:-1]
    shift = np.arange(run)[:, None] * 1e-6 * np.array([1, -1])
    flights = stair[None] + shift[:, None]
    flights[1::2] = flights[1::2, ::-1].copy()
    end = [[12.0, 10.0], [12.0, -2.0]] if run % 2 else []
    return polygon(closed(flights.reshape(-1, 2), end, [[-2.0, -2.0]]))


def diagonals(positions: int, edges: int = 30) -> Geometry:
    """Straight lines of many edges side by side: runs, whose boxes overlap, of edges, whose boxes
    do."""
    lines = positions // (edges + 1)
    along = np.linspace(0, 10, edges + 1)
    shift = np.arange(lines)[:, None] * 1e-5 * np.array([1, -1])
    flights = np.stack([along, along], axis=1)[None] + shift[:, None]
    flights[1::2] = flights[1::2, ::-1].copy()
    end = [[12.0, 10.0], [12.0, -2.0]] if lines % 2 else []
    return polygon(closed(flights.reshape(-1, 2), end, [[-2.0, -2.0]]))


def star(positions: int) -> Geometry:
    """Long thin triangles around one point."""
    turns = np.linspace(0, 2 * np.pi, positions - 1, endpoint=False)
    reach = np.where(np.arange(positions - 1) % 2, 1e-3, 10)
    return polygon(closed(np.stack([reach * np.cos(turns), reach * np.sin(turns)], axis=1)))


def comb(positions: int) -> Geometry:
    """Teeth side by side. It is cheap, though every horizontal line crosses all of them."""
    return polygon(_comb(positions))


def _comb(positions: int) -> Ring:
    west = np.arange((positions - 5) // 4) * 1e-4
    tooth = np.array([[0, 0], [0, 10], [4e-5, 10], [4e-5, 0]])
    teeth = west[:, None, None] * np.array([1, 0]) + tooth[None]
    east = float(west[-1]) + 1
    return closed(teeth.reshape(-1, 2), [[east, 0], [east, -1], [-6, -1], [-6, 10], [-1e-3, 10]])


def holes_beside_comb(positions: int) -> Geometry:
    """Holes at the height of the teeth of a comb, west of them."""
    number = positions // 8
    side = isqrt(number) + 1
    holes = [
        _triangle(-5 + 4 * (each % side) / side, 0.5 + 9 * (each // side) / side, 0.9 / side)
        for each in range(number)
    ]
    return polygon(_comb(positions // 2), *holes)


def holes(positions: int) -> Geometry:
    """Holes in a round exterior ring; each is located in it, position by position."""
    number = positions // 8
    side = isqrt(number) + 1
    found = [
        _triangle(each % side / side - 0.5, each // side / side - 0.5, 0.5 / side)
        for each in range(number)
    ]
    return polygon(_circle(positions // 2), *found)


def _triangle(west: float, south: float, size: float) -> Ring:
    return [[west, south], [west, south + size], [west + size, south], [west, south]]


def _circle(positions: int) -> Ring:
    turns = np.linspace(0, 2 * np.pi, positions - 1, endpoint=False)
    return closed(np.stack([5 * np.cos(turns), 5 * np.sin(turns)], axis=1))


def islands_ashore(positions: int) -> Geometry:
    """Parts in a round bay of another one, each touching its shore in two points."""
    turns = np.linspace(0, np.pi, positions // 2)
    shore = np.stack([10 * np.cos(turns), 10 * np.sin(turns)], axis=1)
    mainland = closed(shore, [[-20, 0], [-20, 20], [20, 20], [20, 0]])
    islands = []
    for one, other in zip(shore[2:-8:4], shore[4:-6:4], strict=True):
        tip = (one + other) / 2 * 0.9999
        islands.append([closed([one.tolist(), other.tolist(), tip.tolist()])])
    return multipolygon([mainland], *islands)


def nested_squares(positions: int) -> Geometry:
    """Parts in one another, which is a fault; it is found last."""
    reach = np.linspace(1, 40, positions // 5).tolist()
    return multipolygon(*[[box(-each, -each, each, each)] for each in reach])


def nested_holes(positions: int) -> Geometry:
    reach = np.linspace(1, 40, positions // 5).tolist()
    return polygon(box(-50, -50, 50, 50), *[box(-each, -each, each, each) for each in reach])


def frames(positions: int) -> Geometry:
    """Squares with a hole, in one another."""
    reach = np.linspace(40, 1, positions // 10 * 2).tolist()
    rings = [box(-each, -each, each, each) for each in reach]
    return multipolygon(*[list(pair) for pair in zip(rings[0::2], rings[1::2], strict=True)])


def brackets(positions: int) -> Geometry:
    """Right-angled parts, next to one another, the box of each in that of the one before."""
    return multipolygon(*[[ring] for ring in _brackets(positions // 7)])


def bracket_holes(positions: int) -> Geometry:
    return polygon(box(-1, -1, 21, 21), *_brackets(positions // 7))


def _brackets(number: int) -> list[Ring]:
    rings = []
    for near in np.linspace(0, 9, number).tolist():
        wide, far = near + 4 / number, 20 - near
        rings.append(
            closed([[near, near], [far, near], [far, wide], [wide, wide], [wide, far], [near, far]])
        )
    return rings


def fan_of_holes(positions: int) -> Geometry:
    """Holes that all touch in one point."""
    return polygon(box(-2, -2, 2, 2), *_fan(positions // 4))


def fan(positions: int) -> Geometry:
    """Parts that all touch in one point."""
    return multipolygon(*[[ring] for ring in _fan(positions // 4)])


def _fan(number: int) -> list[Ring]:
    turns = np.linspace(0.1, 3, 2 * number)
    ends = np.stack([np.cos(turns), np.sin(turns)], axis=1).tolist()
    return [closed([[0, 0], b, a]) for a, b in zip(ends[0::2], ends[1::2], strict=True)]


def slivers(positions: int) -> Geometry:
    """Parts that are a billionth of a degree wide."""
    return multipolygon(
        *[
            [closed([[west, 0], [west + 1e-9, 0], [west + 2e-10, 50]])]
            for west in (np.arange(positions // 4) * 1e-3).tolist()
        ]
    )


def tiny_squares(positions: int) -> Geometry:
    """Parts far from one another."""
    number = positions // 5
    side = isqrt(number) + 1
    corners = [(each % side * 0.1, each // side * 0.1) for each in range(number)]
    return multipolygon(*[[box(x, y, x + 0.05, y + 0.05)] for x, y in corners])


def squares_with_holes(positions: int) -> Geometry:
    parts = [exterior for (exterior,) in tiny_squares(positions // 2)["coordinates"]]
    holes = [box(x + 0.02, y + 0.02, x + 0.03, y + 0.03)[::-1] for (x, y), *_ in parts]
    return multipolygon(*map(list, zip(parts, holes, strict=True)))


def loops(positions: int) -> Geometry:
    """A ring that touches itself in a quarter of its positions."""
    number = positions // 4
    out = np.stack([np.arange(2 * number) / 2, np.arange(2 * number) % 2], axis=1)
    ring = np.concatenate([out, out[:0:-1] * np.array([1, -1])]) * np.array([150 / number, 1])
    return polygon(closed(ring))


def back_and_forth(positions: int) -> Geometry:
    """One edge, again and again."""
    ring = [[0.0, 0.0], *[[1.0, 1.0], [2.0, 2.0]] * ((positions - 2) // 2), [0.0, 0.0]]
    return polygon(ring)


def one_point(positions: int) -> Geometry:
    return polygon([[1.0, 1.0]] * positions)


def antipodes(positions: int) -> Geometry:
    """Edges of nearly half the globe, whose length is hard to compute."""
    lat = np.linspace(-1, 1, positions // 2 * 2)
    lon = np.where(np.arange(len(lat)) % 2, 89.999, -90.0)
    around = [[89.999, 2], [0, 3], [-91, 2], [-91, -1.5]]
    return polygon(closed(np.stack([lon, lat], axis=1), around))


def zigzag_and_squares(positions: int) -> Geometry:
    """A valid part that is expensive, and 90 squares in one another, faults that are found last."""
    return with_nested_squares(zigzag(max(10, positions - 450)))


def with_nested_squares(geometry: Geometry, number: int = 90) -> Geometry:
    """The parts of a geometry between 60° west and 60° east, and squares beside them."""
    is_multi = geometry["type"] == "MultiPolygon"
    parts = geometry["coordinates"] if is_multi else [geometry["coordinates"]]
    reach = np.linspace(1, 9, number).tolist()
    squares = [[box(100 - each, -each, 100 + each, each)] for each in reach]
    return multipolygon(*parts, *squares)


SHAPES: Final[dict[str, Callable[[int], Geometry]]] = {
    shape.__name__: shape
    for shape in (
        zigzag,
        steered_zigzag,
        nested_corners,
        stairs,
        diagonals,
        star,
        comb,
        holes_beside_comb,
        holes,
        islands_ashore,
        nested_squares,
        nested_holes,
        frames,
        brackets,
        bracket_holes,
        fan_of_holes,
        fan,
        slivers,
        tiny_squares,
        loops,
        back_and_forth,
        one_point,
        antipodes,
        zigzag_and_squares,
    )
}
