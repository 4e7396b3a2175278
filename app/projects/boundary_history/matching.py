"""Matching boundaries with their entries."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple


class StoredBoundary(NamedTuple):
    """A boundary as a row has it: its text and its area."""

    text: str
    area_m2: int


def checksum(text: str) -> int:
    """The CRC-32 of a boundary's text."""
    return zlib.crc32(text.encode())


def is_entry_of(entry: Any, boundary: StoredBoundary) -> bool:
    """True if an entry is that of a boundary, as far as its area and checksum tell.

    Args:
        entry: a row with its ``area_m2`` and ``checksum``, which may be None.
    """
    is_same_text = entry.checksum in (None, checksum(boundary.text))
    return bool(entry.area_m2 == boundary.area_m2 and is_same_text)
