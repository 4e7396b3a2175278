"""The shapes of rejected features, for a map."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.imports.features.geometries import rejected_outline
from app.policy.imports import OUTLINE_POSITIONS

BOWTIE = [[10, 50], [10.01, 50.01], [10.01, 50], [10, 50.01], [10, 50]]


@pytest.mark.parametrize(
    ("kind", "coordinates"),
    [
        ("Point", [10, 50]),
        ("LineString", BOWTIE),
        ("Polygon", [BOWTIE]),
        ("MultiPolygon", [[BOWTIE], [BOWTIE]]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_can_be_drawn_is_kept(kind: str, coordinates: Any) -> None:
    geometry = {"type": kind, "coordinates": coordinates}
    assert json.loads(rejected_outline(geometry) or "") == geometry


def test_heights_are_left_out() -> None:
    assert json.loads(rejected_outline({"type": "Point", "coordinates": [10, 50, 7]}) or "") == {
        "type": "Point",
        "coordinates": [10, 50],
    }


def test_what_cannot_be_drawn_is_left_out() -> None:
    for geometry in (
        None,
        {},
        {"type": "Circle", "coordinates": [10, 50]},
        {"type": "Point"},
        {"type": "Point", "coordinates": [10]},
        {"type": "Point", "coordinates": [10, float("nan")]},
        {"type": "Point", "coordinates": [10, 10**400]},
        {"type": "Point", "coordinates": [True, 50]},
        {"type": "Point", "coordinates": [181, 50]},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[]]},
        {"type": "Polygon", "coordinates": BOWTIE},
        {"type": "Polygon", "coordinates": "[[[10, 50]]]"},
        {"type": "LineString", "coordinates": [[0, 0]] * (OUTLINE_POSITIONS + 1)},
    ):
        assert rejected_outline(geometry) is None, geometry
