"""Problems of geometries in the words of people who draw. They name no part, ring or position, as
pages show the place."""

from __future__ import annotations

import re
from typing import Final

# What to do about the faults that people draw, or have in their files.
_BY_CODE: Final = {
    "self_intersection": "Two sides cross or touch here. Move a corner until they no longer do.",
    "hole_outside": "This hole is not inside its part. Move it inside, or remove it.",
    "holes_overlap": "Two holes overlap here. Move them apart, or cut one hole instead.",
    "interior_disconnected": (
        "This hole touches another side here and cuts its part into pieces. Draw the pieces as "
        "parts instead."
    ),
    "parts_overlap": "Two parts overlap here. Move them apart, or draw one part instead.",
    "zero_area": "This part has no area: all its corners are on one line.",
    "not_closed": "This outline is not closed. Let it end at the corner where it begins.",
    "too_few_positions": "This outline has fewer than three corners.",
    "antimeridian": (
        "This side goes more than halfway around the Earth. Split the boundary into parts at 180 "
        "degrees, or add corners in between."
    ),
    "ambiguous_edge": (
        "This side goes exactly halfway around the Earth, east or west. Add a corner in between."
    ),
    "too_large": "This part covers more than half of the Earth. Draw a smaller one, or split it.",
}
MENDABLE: Final = frozenset(_BY_CODE)
"""The codes of faults that people can fix in the editor."""

_PLACE: Final = r"(?:part|ring|position) \d+(?:, (?:ring|position) \d+)*"
_WITH_COLON: Final = re.compile(rf"^{_PLACE}(?: is out of range)?: ", re.IGNORECASE)
_SUBJECT: Final = re.compile(rf"^{_PLACE}", re.IGNORECASE)
_NAMES: Final = {"position": "This corner", "ring": "This outline", "part": "This part"}
_TYPE: Final = re.compile(r"^(?:geometry|location)\.type ")


def plain_message(code: str, message: str) -> str:
    """The message of a problem or a warning for somebody who sees its place."""
    if plain := _BY_CODE.get(code):
        return plain
    text = _SUBJECT.sub(_place_name, _WITH_COLON.sub("", message))
    text = _TYPE.sub("The type ", text).replace("`coordinates` ", "The geometry ")
    text = text.replace("Send degrees in WGS84.", "It must be in degrees (WGS 84).")
    text = text.replace("`", "")
    return text[:1].upper() + text[1:]


def _place_name(place: re.Match[str]) -> str:
    """The plain name of a place, by its finest index."""
    last = place[0].rpartition(", ")[2].partition(" ")[0]
    return _NAMES[last.lower()]
