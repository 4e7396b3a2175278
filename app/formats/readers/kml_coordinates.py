"""The text of ``coordinates`` in KML as positions.

KML has "longitude,latitude[,height]", with white space between positions. What else is understood
is what Google Earth shows, as long as it can mean one thing only: a comma more at the end of a
position, white space around commas, and commas alone where every third number is a height of 0.
"""

from __future__ import annotations

from typing import Final

from app.formats.readers.ordinates import Position, read_position, too_many_positions
from app.geometry.problems import GeometryInvalid, Place
from app.policy.bounds import GEOMETRY_POSITIONS

_MOST_COMMAS: Final = 3 * GEOMETRY_POSITIONS  # with heights, and commas between positions
_MOST_WORDS: Final = 6 * GEOMETRY_POSITIONS  # each comma can be one
_ZERO: Final = frozenset("+-0.")


def read_coordinates(text: str, place: Place) -> tuple[list[Position], bool]:
    """The positions of a text, and whether any has a height other than 0.

    Raises:
        GeometryInvalid: a position, the first of them, cannot be read; or they are too many.
    """
    words = text.split(None, _MOST_WORDS)
    if text.count(",") > _MOST_COMMAS or len(words) > _MOST_WORDS:
        raise too_many_positions()
    positions, has_heights = [], False
    for index, numbers in enumerate(_split(words)):
        if len(numbers) not in (2, 3):
            message = f"has {len(numbers)} numbers; it must be longitude,latitude or with a height."
            raise GeometryInvalid([place.at(index).problem("wrong_position", message)])
        positions.append(read_position(numbers[0], numbers[1], place.at(index)))
        has_heights = has_heights or is_height(numbers[2:])
    return positions, has_heights


def is_height(numbers: list[str]) -> bool:
    """Whether what follows longitude and latitude is a number other than 0."""
    return any(not _ZERO.issuperset(number) for number in numbers)


def _split(words: list[str]) -> list[list[str]]:
    """The numbers of each position."""
    as_written = [word.strip(",").split(",") for word in words]
    if _are_positions(as_written):
        return as_written
    closed_up = " ".join(words).replace(" ,", ",").replace(", ", ",")
    without_space = [word.split(",") for word in closed_up.split()]
    if _are_positions(without_space):
        return without_space
    numbers = closed_up.strip(",").split(",")
    triples = [numbers[start : start + 3] for start in range(0, len(numbers), 3)]
    if " " not in closed_up and _are_flat(triples):
        return triples
    return as_written


def _are_positions(split: list[list[str]]) -> bool:
    return set(map(len, split)) <= {2, 3}


def _are_flat(triples: list[list[str]]) -> bool:
    return len(triples[-1]) == 3 and not any(is_height(triple[2:]) for triple in triples)
