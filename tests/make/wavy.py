"""Boundaries of any number of positions."""

from __future__ import annotations

import math
import random


def wavy_ring(positions: int, west: float, south: float, size: float = 0.2) -> list[list[float]]:
    """A closed ring of so many positions around a centre, with 7 decimals, that never crosses."""
    rng = random.Random(positions * 7919 + int(west * 1000))
    ring = []
    for step in range(positions - 1):
        angle = 2 * math.pi * step / (positions - 1)
        radius = size * (1 + 0.2 * math.sin(7 * angle) + 0.001 * rng.random())
        ring.append(
            [round(west + radius * math.cos(angle), 7), round(south + radius * math.sin(angle), 7)]
        )
    return [*ring, ring[0]]


def polygon(positions: int, west: float = 10.0, south: float = 50.0) -> dict[str, object]:
    return {"type": "Polygon", "coordinates": [wavy_ring(positions, west, south)]}
