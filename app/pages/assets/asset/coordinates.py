"""Latitude and longitude as people write them: decimal degrees, or degrees, minutes, seconds."""

from __future__ import annotations

import re
from typing import Final, Literal

Axis = Literal["latitude", "longitude"]

_MOST: Final = {"latitude": 90, "longitude": 180}
_LETTERS: Final = {"latitude": "NS", "longitude": "EWO"}  # O: west in Romance languages
_NEGATIVE: Final = "SWO"
_EXAMPLE: Final = {"latitude": "48.5127 or 48°30'46\"N", "longitude": "8.2131 or 8°12'47\"E"}
_SIGNS: Final = str.maketrans({"−": "-", "′": " ", "’": " ", "'": " ", "″": " ", "”": " ",
                               '"': " ", "°": " ", "º": " ", ":": " "})  # fmt: skip
_NUMBER: Final = r"\d{1,3}(?:[.,]\d{1,20})?"
# Both try nothing again, or long texts would take as long as the square of their length.
_DEGREES: Final = re.compile(
    rf"\A([A-Z]?)\s*+([+-]?)\s*+({_NUMBER})((?:\s++{_NUMBER}){{0,2}})\s*+([A-Z]?)"
)
# "48°30'46"N, 8°12'47"E", or two numbers with a comma and a space, a semicolon or a space between.
_BOTH: Final = re.compile(
    r"\A(?>(.+[NSns])[\s,;]+(?=\S))(.*)|\A([^,;\s]++(?:,\d++)?)(?:\s*+;\s*+|,?\s++)([^;\s]++)"
)


def read_degrees(text: str, axis: Axis) -> float:
    """Degrees. Raises ValueError, whose message is for people, for a text that says none."""
    found = _DEGREES.fullmatch(text.translate(_SIGNS).strip().upper())
    if found is None:
        raise ValueError(f"Write it in degrees, such as {_EXAMPLE[axis]}.")
    before, sign, first, others, after = found.groups()
    letter = before or after
    if letter and (letter not in _LETTERS[axis] or (before and after)):
        raise ValueError(f"{letter} does not belong to a {axis}.")
    degrees = _sum([first, *others.split()])
    if degrees > _MOST[axis]:
        raise ValueError(f"Must be between −{_MOST[axis]} and {_MOST[axis]} degrees.")
    is_negative = (sign == "-") != (letter != "" and letter in _NEGATIVE)
    return -degrees if is_negative else degrees


def split_both(text: str) -> tuple[str, str] | None:
    """The latitude and the longitude of a text that has both, as maps give them to copy."""
    found = _BOTH.fullmatch(text.strip())
    if found is None:
        return None
    return (found[1], found[2]) if found[1] else (found[3], found[4])


def _sum(parts: list[str]) -> float:
    """Degrees, minutes and seconds as degrees."""
    numbers = [float(part.replace(",", ".")) for part in parts]
    if any(number >= 60 for number in numbers[1:]):
        raise ValueError("Minutes and seconds must be below 60.")
    if any(number % 1 for number in numbers[:-1]):
        raise ValueError("Only the last of degrees, minutes and seconds can have a fraction.")
    total: float = sum(number / 60**place for place, number in enumerate(numbers))
    return total if len(numbers) == 1 else round(total, 8)
