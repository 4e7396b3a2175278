"""Places as people write them: one grammar for tables, forms and commands.

| Taken | Such as |
| --- | --- |
| degrees, with minutes, seconds | 47.005, -47,005°, 47° 0.3', 47°00'18"N, 33 27 15.48 S, 47d0m18s |
| two, the latitude first if no letters tell | 47.005, 10.005; 47,01; 10,01; lat 47.5 lon 10.5 |
| ``geo:`` URIs, points of WKT | geo:47.005,10.005;u=5; POINT (10.005 47.005) |
| UTM with zone and band or hemisphere | 32T 443493 5261137; 443493 mE 5261137 mN 32 North |
| MGRS, with 2 to 10 digits | 32T MT 43493 61137 |
| British and Irish grid letters | SU 387 148; O 15904 34671 |
| a code that ``crs=`` takes, with two numbers | EPSG:25832 443493 5261137; 47.0, 10.0 (WGS84) |

Refused is what can only be a mistake (ISO 6709, annex D: a part with a fraction is the last one),
such as 47.010.123, 47.5 30, 47° 60'; and what can be two places, such as 47,01,10,01.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeVar

from app.formats.crs import authority_and_code, read_crs
from app.formats.features import NO_LETTERS, FileInvalid, Letters
from app.formats.positions import first_position, is_degrees
from app.formats.readers.geometry_text import is_geometry, read_geometry_text
from app.formats.readers.layer_limits import quoted
from app.formats.readers.ordinates import Position, read_number
from app.geometry.problems import GeometryInvalid

Axis = Literal["latitude", "longitude"]

_LONGEST: Final = 100  # characters
_MOST: Final = {"latitude": 90, "longitude": 180}
_EXAMPLE: Final = {"latitude": "48.5127 or 48°30'46\"N", "longitude": "8.2131 or 8°12'47\"E"}
NO_PLACE: Final = "Write latitude and longitude, such as 48.5127, 8.2131."
OPEN_LETTERS: Final = {
    "O": "“O” is east in German, and west in French and Spanish. Write E or W.",
    "S": "“S” behind a UTM zone is the south, or its part from 32° to 40° north. Write “South” or "
    "“North”.",
}
_SIGNS: Final = str.maketrans({
    **dict.fromkeys("−‐‑–", "-"),
    **dict.fromkeys("º˚", "°"),
    **dict.fromkeys("′’‘´`ʹ", "'"),
    **dict.fromkeys("″”“ʺ", '"'),
})  # fmt: skip
_WORDS: Final = {
    word: letter
    for letter, words in {
        "N": "n north nord norte noord norr",
        "S": "s south süd sued sud sur sul zuid syd",
        "E": "e east est este leste ost oost öst øst",
        "W": "w west ouest oeste ovest vest väst",
        "O": "o",
    }.items()
    for word in words.split()
}
_AXES: Final[dict[str, Axis]] = {
    "N": "latitude", "S": "latitude", "E": "longitude", "W": "longitude", "O": "longitude",
}  # fmt: skip
_LABELS: Final[dict[str, Axis]] = {"la": "latitude", "lo": "longitude", "ln": "longitude"}
_END: Final = r"(?![^\W\d_])"  # of a word
_LETTER: Final = rf"(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))}){_END}"
_COMPASS: Final = re.compile(rf"(?<![^\W\d_]){_LETTER}", re.IGNORECASE)
_PART: Final = r"[0-9]{1,3}(?:[.,][0-9]{1,20})?"
_DEGREE: Final = rf"\s*+(?:°|d(?:eg(?:rees?+)?+)?+{_END}|grad{_END})"
_DEGREES: Final = re.compile(
    rf"""\A(?:(?P<label>la|lo|ln)(?:t(?:itude)?+|n(?:g(?:itude)?+)?+|g){_END}\s*+[:=]?+\s*+)?+
    (?P<before>{_LETTER})?+\s*+(?P<sign>[+-]?+)\s*+(?P<degrees>{_PART})
    (?:(?:(?P<d>{_DEGREE})\s*+|\s*+:\s*+|\s++)(?P<minutes>{_PART})
        (?:(?:(?P<m>\s*+(?:'|(?P<word>m(?:in)?+{_END})))\s*+|\s*+:\s*+|\s++)(?P<seconds>{_PART})
            (?P<unit>\s*+(?:"|''|se[ck]{_END}|(?(word)(?-i:s){_END}|(?!))))?+
        |\s*+(?:'|m(?:in)?+{_END}))?+
    |(?P<mark>{_DEGREE}))?+
    \s*+(?P<after>{_LETTER})?+""",
    re.IGNORECASE | re.VERBOSE,
)
_PRECISE: Final = re.compile(r"[.,][0-9]{3}")  # 100 m; what is rounded more is perhaps no position
_TWO_DECIMALS: Final = re.compile(
    r"([+-]?+[0-9]{1,3}\.[0-9]{1,20})(?:\s*+[,;]\s*+|\s++)([+-]?+[0-9]{1,3}\.[0-9]{1,20})"
)
_BETWEEN: Final = re.compile(
    r"\s*+[;/|]\s*+|,\s++|,|\s++|(?<=[a-z])(?=[0-9+-])|(?<=[0-9°'\"])(?=[nsewo])", re.IGNORECASE
)
_GEO: Final = re.compile(
    r"geo:([0-9.+-]{1,30}),([0-9.+-]{1,30})(?:,[0-9.+-]{1,30})?"
    r"(?:\?(?:q=([0-9.+-]{1,30}),([0-9.+-]{1,30}))?|;(?!crs=)|;crs=wgs84|\Z)",
    re.IGNORECASE,
)
_DIGITS: Final = r"[0-9](?:\s?[0-9]){1,11}"
_MGRS: Final = re.compile(
    rf"([0-9]{{1,2}})\s*+([C-HJ-NP-X])\s*+([A-HJ-NP-Z])([A-HJ-NP-V])\s*+({_DIGITS})", re.IGNORECASE
)
_BANDS: Final = "CDEFGHJKLMNPQRSTUVWX"
_SQUARES: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # of MGRS
_BRITISH_SQUARES: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_LETTERED: Final = re.compile(rf"([A-HJ-Z]{{1,2}})\s*+({_DIGITS})", re.IGNORECASE)
_ZONE: Final = re.compile(
    r"(?:UTM\s*+)?+(?:(?:zone|zona|huso|fuso)\s*+)?+(?<![0-9.])([1-9]|[1-5][0-9]|60)\s*+"
    r"(?:([C-HJ-NP-X])|(nor(?:th|te)|nord)|(south|s[uü]d|su[rl]))",
    re.IGNORECASE,
)
_BAND_S: Final = (3_530_000, 4_450_000)  # northings from 32 to 40 degrees
_CODE: Final = r"(?:EPSG::?[0-9]{4,6}|(?:urn:|https?:)[^\s,;()]{5,80}|WGS[ -]?84|CRS84)"
_CODES: Final = (re.compile(_CODE, re.I), re.compile(rf"(?<![^\s,;(\[]){_CODE}(?=[)\]]?\Z)", re.I))
_METERS: Final = r"[+-]?+[0-9]{3,8}(?:\.[0-9]{1,9}|,[0-9]{1,3}(?![0-9]))?(?![0-9])"
_LEAST_EASTING: Final = 10_000
_METER: Final = re.compile(r"(?<=[0-9])\s*+m(?:\b|(?=[EN]\b))", re.IGNORECASE)
_NEXT: Final = r"(?:\s*+[,;/]\s*+|\s++)"
_TWO_METERS: Final = re.compile(
    rf"(?<![\w.:+-])(?:([ENRHXY])[\s:=]*+({_METERS}){_NEXT}[ENRHXY][\s:=]*+({_METERS})"
    rf"|({_METERS})\s*+([EN]){_NEXT}({_METERS})\s*+[EN]|({_METERS}){_NEXT}({_METERS}))(?![\w.])",
    re.IGNORECASE,
)

_Read = TypeVar("_Read")


class PlaceInvalid(ValueError):
    """A text is no place, or can be two. The message is a sentence for the person who wrote it."""


class Degrees(NamedTuple):
    """A number of degrees, the axis if anything names it, and the number of its parts.
    ``is_certain``: it can hardly be anything else. ``letter``: one with two meanings, of which the
    likelier was taken."""

    value: float
    axis: Axis | None
    parts: int
    is_certain: bool
    letter: str = ""


class Place(NamedTuple):
    """x and y in the system with an EPSG code. ``is_certain`` and ``letter``: as of ``Degrees``."""

    x: float
    y: float
    srid: int = 4326
    is_certain: bool = True
    letter: str = ""

    def in_degrees(self) -> Position:
        """Longitude and latitude on WGS 84. Raises PlaceInvalid: the system does not reach it, or
        a letter has two meanings."""
        if self.letter:
            raise PlaceInvalid(OPEN_LETTERS[self.letter])
        geometry = {"type": "Point", "coordinates": [self.x, self.y]}
        try:
            position = first_position(read_crs(f"EPSG:{self.srid}").to_wgs84(geometry))
        except (GeometryInvalid, FileInvalid) as error:
            raise PlaceInvalid(str(error)) from None
        if position is None or not is_degrees(position):
            raise PlaceInvalid(NO_PLACE)
        return list(position)


def read_degrees(text: str, axis: Axis | None = None, letters: Letters = NO_LETTERS) -> Degrees:
    """Degrees, perhaps with minutes, seconds, and a letter or word for the point of the compass.

    Args:
        axis: None: only a letter says which it is.

    Raises:
        PlaceInvalid: the text has none, or of the other axis.
    """
    found = _DEGREES.fullmatch(_plain(text)) if len(text) <= _LONGEST else None
    if found is None:
        raise PlaceInvalid(f"Write it in degrees, such as {_EXAMPLE[axis or 'latitude']}.")
    values, word = _parts(found), found["before"] or found["after"]
    letter = _WORDS[word.lower()] if word else ""
    labelled = _LABELS.get((found["label"] or "").lower())
    axes = {axis, labelled, _AXES.get(letter)} - {None}
    if len(axes) > 1:
        message = f"{word or found['label']} does not belong to a {axis or labelled}."
        raise PlaceInvalid(message)
    if (found["before"] and found["after"]) or (found["sign"], letter) in _CONTRADICTIONS:
        raise PlaceInvalid("Write either a sign or one letter.")
    degrees = values[0]
    if len(values) > 1:
        degrees = round(math.fsum(value / 60.0**place for place, value in enumerate(values)), 10)
    if axis and degrees > _MOST[axis]:
        raise PlaceInvalid(f"Must be between −{_MOST[axis]} and {_MOST[axis]} degrees.")
    if letter == "O" and letters.o:
        letter = "E" if letters.o == "east" else "W"
    value = -degrees if found["sign"] == "-" or letter in ("S", "W", "O") else degrees
    is_certain = bool(word or found["d"] or found["mark"] or _PRECISE.search(found["degrees"]))
    named = axes.pop() if axes else None
    return Degrees(value, named, len(values), is_certain, "O" if letter == "O" else "")


_CONTRADICTIONS: Final = {("-", "N"), ("-", "E"), ("+", "S"), ("+", "W"), ("-", "O"), ("+", "O")}


def _parts(found: re.Match[str]) -> list[float]:
    """Degrees, minutes and seconds, as far as they are there. Raises PlaceInvalid."""
    texts = [found[name] for name in ("degrees", "minutes", "seconds") if found[name]]
    values = [float(text.replace(",", ".")) for text in texts]
    marks = (found["d"], found["m"])
    for text, value, mark in zip(texts[:-1], values, marks, strict=False):
        if value % 1 or (not mark and not text.isdecimal()):  # 47.0° 30' is written by programs
            raise PlaceInvalid("Only the last of degrees, minutes and seconds can have a fraction.")
    if any(value >= 60 for value in values[1:]):
        raise PlaceInvalid("Minutes and seconds must be below 60.")
    if found["word"] and found["seconds"] and not found["unit"] and found["after"] in ("S", "s"):
        raise PlaceInvalid("S can be seconds or south. Write ° ' and \".")
    return values


def read_place(text: str, letters: Letters = NO_LETTERS) -> Place:
    """The place in a text, in one of the writings above.

    Raises:
        PlaceInvalid: it has none, or can have several.
    """
    if len(text) > _LONGEST:
        raise PlaceInvalid(NO_PLACE)
    text = _plain(text)
    if found := _TWO_DECIMALS.fullmatch(text):  # the usual
        is_certain = all(map(_PRECISE.search, found.groups()))
        return _on_earth(float(found[2]), float(found[1]), is_certain=is_certain)
    if text[:1] + text[-1:] in ("()", "[]"):
        text = text[1:-1].strip()
    if is_geometry(text):
        return _point_of_geometry(text)
    if found := _GEO.match(text):
        latitude, longitude = map(read_number, (found[3] or found[1], found[4] or found[2]))
        if latitude is None or longitude is None:
            raise PlaceInvalid(NO_PLACE)
        return _on_earth(longitude, latitude)
    return _read_grid(text) or _read_meters(text, letters) or _read_pair(text, letters)


def read_system(text: str, northing: float = 0, letters: Letters = NO_LETTERS) -> tuple[int, str]:
    """The EPSG code of a UTM zone on WGS 84, such as "32N" or "32T", or the code that a text is,
    and "S" if that letter has two meanings here.

    Raises:
        PlaceInvalid: it is none.
    """
    found = _ZONE.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        authority, code = authority_and_code(text.strip()) or ("", "")
        if authority != "EPSG" or not code.isdecimal():
            raise PlaceInvalid(f"{quoted(text)} is not a UTM zone, such as 32N, nor an EPSG code.")
        return int(code), ""
    letter = (found[2] or ("N" if found[3] else "")).upper()
    is_open = letter == "S" and _BAND_S[0] <= northing <= _BAND_S[1]
    is_north = letters.zone == "band" if is_open else letter >= "N" and letter != "S"
    srid = (32600 if is_north else 32700) + int(found[1])
    return srid, "S" if is_open and letters.zone is None else ""


def zone_meaning(text: str) -> str | None:
    """What the letter of a UTM zone in a text is, "band" or "hemisphere"; None if it is N or S,
    which can be both, and for other texts."""
    found = _ZONE.search(text[:_LONGEST])
    if found is None or (found[2] or "").upper() in ("N", "S"):
        return None
    return "band" if found[2] else "hemisphere"


def written_letters(text: str) -> set[str]:
    """The letters of the compass that a text has, by themselves or as words."""
    return {_WORDS[word.lower()] for word in _COMPASS.findall(_plain(text[:_LONGEST]))}


def _plain(text: str) -> str:
    """The text with one sign for each that has several."""
    return unicodedata.normalize("NFC", text).translate(_SIGNS).strip().replace("''", '"')


def _on_earth(
    longitude: float, latitude: float, *, is_certain: bool = True, letter: str = ""
) -> Place:
    if not is_degrees((longitude, latitude)):
        raise PlaceInvalid("Latitudes are between −90 and 90, longitudes between −180 and 180.")
    return Place(longitude, latitude, 4326, is_certain, letter)


def _point_of_geometry(text: str) -> Place:
    try:
        read = read_geometry_text(text)
    except GeometryInvalid as error:
        raise PlaceInvalid(error.problems[0].message) from None
    position = first_position(read.geometry)
    if position is None or (read.geometry or {}).get("type") != "Point":
        raise PlaceInvalid(NO_PLACE)
    return Place(*position, read.srid or 4326)


def _read_grid(text: str) -> Place | None:
    """The middle of a square of MGRS, or of the British or Irish grid."""
    if found := _MGRS.fullmatch(text):
        zone, band, *square = int(found[1]), *(letter.upper() for letter in found.groups()[1:4])
        column, row = map(_SQUARES.index, square)
        inner = _inner_square(found[5])
        if inner is None or not 1 <= zone <= 60 or column // 8 != (zone - 1) % 3:
            return None
        x = (column % 8 + 1) * 100_000 + inner[0]
        y = (row - (0 if zone % 2 else 5)) % 20 * 100_000 + inner[1]
        middle = (_BANDS.index(band) * 8 - 76) * 110_900 + (0 if band >= "N" else 10_000_000)
        y += round((middle - y) / 2_000_000) * 2_000_000  # rows repeat; a band has fewer
        if abs(middle - y) > (950_000 if band == "X" else 600_000):
            return None
        return Place(x, y, (32600 if band >= "N" else 32700) + zone)
    if (found := _LETTERED.fullmatch(text)) and (inner := _inner_square(found[2])):
        squares = [_BRITISH_SQUARES.index(letter) for letter in found[1].upper()]
        x, y = squares[-1] % 5, 4 - squares[-1] // 5
        if len(squares) == 2:
            x, y = (squares[0] - 2) % 5 * 5 + x, (3 - squares[0] // 5) * 5 + y
            if not (x < 7 and 0 <= y < 13):
                return None
        elif len(found[2]) < 6:  # N 47 10 has degrees
            return None
        position = x * 100_000 + inner[0], y * 100_000 + inner[1]
        return Place(*position, 27700 if len(squares) == 2 else 29903, is_certain=False)
    return None


def _inner_square(text: str) -> tuple[float, float] | None:
    """The middle of a square within one of 100 km, from digits of which a half is for each axis."""
    halves, digits = text.split(), "".join(text.split())
    half = len(digits) // 2
    is_even = len(digits) == 2 * half and 1 <= half <= 5
    if not is_even or len(halves) > 2 or (len(halves) == 2 and len(halves[0]) != half):
        return None
    size = 10 ** (5 - half)
    return int(digits[:half]) * size + size / 2, int(digits[half:]) * size + size / 2


def _read_meters(text: str, letters: Letters) -> Place | None:
    """Two numbers with a UTM zone, or any two with the code of a system."""
    code = next(filter(None, (_CODES[0].match(text), _CODES[1].search(text))), None)
    system, rest = "", text
    if code is not None:
        system = code[0].replace("-", " ")
        rest = (text[: code.start()] + text[code.end() :]).strip(" ,;:()[]")
    numerals = _METER.sub("", rest)
    found = _TWO_METERS.search(numerals)
    if found is None:
        return _in_system(system, _read_pair(rest, letters)) if system else None
    axis = found[1] or found[5] or ""
    numbers = found[2] or found[4] or found[7], found[3] or found[6] or found[8]
    others = f"{numerals[: found.start()]} {numerals[found.end() :]}".strip(" ,;:()[]")
    x, y = (float(number.replace(",", ".")) for number in numbers)
    if axis.upper() in ("N", "H", "Y"):
        x, y = y, x
    if system and others:
        raise PlaceInvalid(NO_PLACE)
    if not system and (not others or x < _LEAST_EASTING):
        return None
    srid, letter = read_system(system or others, y, letters)
    return Place(x, y, srid, letter=letter)


def _in_system(system: str, place: Place) -> Place:
    """A place in degrees of a system. Raises PlaceInvalid if that has no degrees."""
    if authority_and_code(system) == ("OGC", "CRS84"):
        return _on_earth(place.y, place.x)
    srid, _ = read_system(system)
    try:
        is_projected = read_crs(f"EPSG:{srid}").is_projected
    except FileInvalid as error:
        raise PlaceInvalid(str(error)) from None
    if is_projected:
        raise PlaceInvalid(f"Positions in EPSG:{srid} are in meters, not in degrees.")
    return place._replace(srid=srid, is_certain=True)


def _read_pair(text: str, letters: Letters) -> Place:
    """Latitude and longitude, where exactly one way to divide the text makes sense."""
    reason, found = NO_PLACE, set[Place]()
    for between in _BETWEEN.finditer(text):
        halves = text[: between.start()], text[between.end() :]
        if between[0] == "," and "," in halves[0] + halves[1]:
            continue  # whoever writes decimal commas separates by something else
        try:
            first, second = (read_degrees(half, None, letters) for half in halves)
            if _belong_together(first, second, between[0], text):
                if first.axis == "longitude" or second.axis == "latitude":
                    first, second = second, first
                is_certain, letter = first.is_certain and second.is_certain, second.letter
                found.add(
                    _on_earth(second.value, first.value, is_certain=is_certain, letter=letter)
                )
        except PlaceInvalid as error:
            if not str(error).startswith("Write"):
                reason = str(error)
    if len(found) != 1:
        raise PlaceInvalid(NO_PLACE if found else reason)
    return found.pop()


def _belong_together(first: Degrees, second: Degrees, between: str, text: str) -> bool:
    """True if two numbers of degrees can be a place, by their axes and their parts."""
    if first.axis and second.axis:
        return first.axis != second.axis
    if between.strip() and between != ",":
        return True
    return first.parts == second.parts and (between == "," or not attempt(read_degrees, text))


def attempt(read: Callable[[str], _Read], text: str) -> _Read | None:
    """What is read from a text; None where PlaceInvalid is raised."""
    try:
        return read(text)
    except PlaceInvalid:
        return None
