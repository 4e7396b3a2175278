"""A changed boundary as the audit log describes it: by its entry and a hash, without positions."""

from __future__ import annotations

import hashlib
from typing import Any

from app.geometry.shapes import Difference
from app.projects.boundary_history.matching import Kept

Named = tuple[str | None, Kept]  # a boundary with the id of its entry
Description = dict[str, Any]


def describe(former: Named | None, present: Named | None, change: Difference) -> Description:
    """How a boundary changed.

    Returns:
        ``from`` and ``to``, each null or with ``boundary_id`` and the ``sha256`` of the GeoJSON
        text, ``added_hectares`` and ``removed_hectares``, which are null if that was too expensive
        to find out.
    """
    return {
        "from": _reference(former),
        "to": _reference(present),
        "added_hectares": _hectares(change.added_m2),
        "removed_hectares": _hectares(change.removed_m2),
    }


def _reference(named: Named | None) -> dict[str, Any] | None:
    if named is None:
        return None
    entry_id, boundary = named
    return {
        "boundary_id": entry_id,
        "sha256": hashlib.sha256(boundary.text.encode()).hexdigest(),
    }


def _hectares(square_meters: int | None) -> float | None:
    return None if square_meters is None else square_meters / 10_000
