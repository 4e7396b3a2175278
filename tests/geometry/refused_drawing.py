"""Boundaries that are refused for where their edges run."""

from __future__ import annotations

from typing import Any

from tests.geometry.drawing import BOWTIE, TEN, UNIT, Told, box, multipolygon, polygon

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
    "half way round": (
        polygon(box(-90, 0, 90, 10)),
        [
            Told("ambiguous_edge", None, 0, 0, [-90, 0]),
            Told("ambiguous_edge", None, 0, 2, [90, 10]),
        ],
    ),
    "more than half way round to a pole": (
        polygon([[-100, 0], [0, 0], [100, 0], [100, 89], [-100, 90], [-100, 0]]),
        [Told("antimeridian", None, 0, 3, [180, 89.5])],
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
    "three crossings later in the ring": (
        polygon([[0, 0], [4, 0], [4, 4], [1, 1], [1, 4], [3, 1], [0, 4], [0, 0]]),
        [
            Told("self_intersection", None, 0, 2, [2.2, 2.2]),
            Told("self_intersection", None, 0, 2, [2, 2]),
            Told("self_intersection", None, 0, 3, [1, 3]),
        ],
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
    "holes across each other": (
        polygon(TEN, box(1, 1, 4, 4), box(3, 2, 6, 3)),
        [Told("holes_overlap", None, 2, 0, [4, 2])],
    ),
    "holes nested": (
        polygon(TEN, box(1, 1, 5, 5), box(2, 2, 3, 3)),
        [Told("holes_overlap", None, 2, 0, [2, 2])],
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
    "parts that share an edge": (
        multipolygon([UNIT], [box(1, 0, 2, 1)]),
        [Told("parts_overlap", 1, 0, 3, [1, 1])],
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
