"""What is overlaid: the cost of an overlay is that of its positions."""

from __future__ import annotations

from typing import Any

import pytest
import shapely


def count_overlaid(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many positions each overlay of two boundaries has from now on. That of a boundary and a
    box, by which it is cropped, takes a time in proportion to its positions, and does not count."""
    overlaid: list[int] = []
    cropping, difference = shapely.intersection, shapely.difference

    def intersection(one: Any, other: Any) -> Any:
        if shapely.get_num_coordinates(other) > 5:
            overlaid.append(int(shapely.get_num_coordinates([one, other]).sum()))
        return cropping(one, other)

    def counted(one: Any, other: Any) -> Any:
        overlaid.append(int(shapely.get_num_coordinates([one, other]).sum()))
        return difference(one, other)

    monkeypatch.setattr(shapely, "intersection", intersection)
    monkeypatch.setattr(shapely, "difference", counted)
    return overlaid
