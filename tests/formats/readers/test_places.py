"""Places as people write them: what is taken for which place, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Transformer

from app.formats.features import Letters
from app.formats.readers.places import (
    OPEN_LETTERS,
    Place,
    PlaceInvalid,
    read_degrees,
    read_place,
    read_system,
)

CASES: Final = json.loads(Path(__file__).with_name("places.json").read_text("utf-8"))
GRIDS: Final = {
    "geo:47.005,10.005;u=35": (10.005, 47.005, 4326),
    "geo:0,0?q=47.005,10.005(Hut)": (10.005, 47.005, 4326),
    "POINT (10.005 47.005)": (10.005, 47.005, 4326),
    "SRID=25832;POINT(443493 5261137)": (443493, 5261137, 25832),
    "32T 443493 5261137": (443493, 5261137, 32632),
    "UTM 32 N 443493,5261137": (443493, 5261137, 32632),
    "443493 mE 5261137 mN 32 North": (443493, 5261137, 32632),
    "32 T 443493.00 m E 5261137.00 m N": (443493, 5261137, 32632),
    "N 5261137 E 443493 32T": (443493, 5261137, 32632),
    "19S 345000 6300000": (345000, 6300000, 32719),
    "19 Sur 345000 4300000": (345000, 4300000, 32719),
    "32TMT4349361137": (443493.5, 5261137.5, 32632),
    "32T MT 43493 61137": (443493.5, 5261137.5, 32632),
    "32TMT46": (445000, 5265000, 32632),
    "56H LH 34873 50486": (334873.5, 6250486.5, 32756),
    "SU 387 148": (438750, 114850, 27700),
    "TQ3019080380": (530190.5, 180380.5, 27700),
    "HP 6 1": (465000, 1215000, 27700),
    "O 15904 34671": (315904.5, 234671.5, 29903),
    "EPSG:25832 443493 5261137": (443493, 5261137, 25832),
    "443493; 5261137 (EPSG:25832)": (443493, 5261137, 25832),
    "443493,25 5261137,5 urn:ogc:def:crs:EPSG::25832": (443493.25, 5261137.5, 25832),
    "EPSG:31468 R 4468503 H 5333317": (4468503, 5333317, 31468),
    "47.005, 10.005 (WGS84)": (10.005, 47.005, 4326),
    "CRS84 10.005 47.005": (10.005, 47.005, 4326),
    "EPSG:4258 47.005 10.005": (10.005, 47.005, 4258),
}
REFUSED: Final = {
    "47.010.123,10.010.123": "such as",
    "47.5 30, 10": "Only the last of",
    "47° 60', 10° 0'": "must be below 60",
    "EPSG:25832 47.005 10.005": "in meters",
    "EPSG:25832 EPSG:25833 443493 5261137": "such as",
    "ESRI:54030 443493 5261137": "UTM zone",
    "61T 443493 5261137": "UTM zone",
    "443493 5261137": "such as",
    "25832 443493 5261137": "UTM zone",
    "32TMT434936113": "such as",
    "32TAT4349361137": "such as",
    "33XXX 12": "such as",
    "ZZ 12 34": "such as",
    "N 4710": "such as",
    "geo:47,10;crs=nad27": "such as",
    "geo:95,10": "between −90 and 90",
    "LINESTRING (1 2, 3 4)": "such as",
    "1" * 101: "such as",
}


def test_degrees_are_read(subtests: pytest.Subtests) -> None:
    for text, axis, degrees in CASES["degrees"]:
        with subtests.test(f"{axis} {text!r}"):
            read = attempt(read_degrees, text, axis)
            assert (read and read.value) == pytest.approx(degrees, abs=1e-8)


def test_places_are_read(subtests: pytest.Subtests) -> None:
    for text, place in CASES["places"]:
        with subtests.test(repr(text)):
            read = attempt(read_place, text)
            assert (read and [read.y, read.x]) == (place and pytest.approx(place, abs=1e-8))


def attempt(read: Callable[..., Any], *arguments: Any) -> Any:
    """What is read; None for what is refused, or what a letter leaves open."""
    try:
        found = read(*arguments)
    except PlaceInvalid:
        return None
    return None if found.letter else found


def test_grids_and_codes_are_read(subtests: pytest.Subtests) -> None:
    for text, place in GRIDS.items():
        with subtests.test(text):
            assert read_place(text)[:3] == pytest.approx(place)


def test_what_is_wrong_is_told_in_one_sentence(subtests: pytest.Subtests) -> None:
    for text, message in REFUSED.items():
        with subtests.test(text), pytest.raises(PlaceInvalid, match=message) as refused:
            read_place(text)
        assert str(refused.value).endswith(".")
    for text, axis, message in (
        ("91", "latitude", "between −90 and 90"),
        ("48.5 E", "latitude", "E does not belong to a latitude"),
        ("-48 N", "latitude", "either a sign or one letter"),
        ("33D27M15S", "latitude", "seconds or south"),
        ("north", "longitude", "Write it in degrees"),
    ):
        with subtests.test(text), pytest.raises(PlaceInvalid, match=message):
            read_degrees(text, axis)  # type: ignore[arg-type]


def test_a_letter_with_two_meanings_is_open_until_one_is_chosen() -> None:
    text = "47.01° N, 10.01° O"
    assert [read_place(text, Letters(o)).x for o in ("east", "west")] == [10.01, -10.01]
    with pytest.raises(PlaceInvalid, match="Write E or W"):
        read_place(text).in_degrees()
    assert read_system("30S", 4_300_000)[1] == "S"
    zones = [read_system("30S", 4_300_000, Letters(None, each))[0] for each in ("band", "hemis")]
    assert zones == [32630, 32730]
    assert read_system("30S", 6_300_000, Letters(None, "band")) == (32730, "")
    assert set(OPEN_LETTERS) == {"O", "S"}


COMPASS: Final = ("NSEW", ("Nord", "Süd", "Ost", "West"), ("Norte", "Sur", "Este", "Oeste"),
                  ("nord", "sud", "est", "ouest"), ("Nord", "Sud", "Est", "Ovest"))  # fmt: skip
MARKS: Final = ("°'\"", "º′″", "°’”", ("°", "'", "''"), ("d", "m", "s "), ("° ", "' ", '" '), "   ")
SEPARATORS: Final = (", ", "; ", " ", " / ")


@st.composite
def writings(draw: st.DrawFn) -> tuple[str, float, float, float]:
    """A position as somebody writes it, its latitude and longitude, and the precision."""
    latitude, longitude = draw(st.integers(-89, 89)), draw(st.integers(-179, 179))
    parts, decimals = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    compass, marks = draw(st.sampled_from(COMPASS)), draw(st.sampled_from(MARKS))
    point, is_before = draw(st.sampled_from(".,")), draw(st.booleans())
    texts, values = [], []
    for degrees, names in ((latitude, compass[:2]), (longitude, compass[2:])):
        whole = [abs(degrees), *(draw(st.integers(0, 59)) for _ in range(parts - 1))]
        fraction = draw(st.integers(0, 10**decimals - 1))
        last = f"{whole[-1]}{point}{fraction:0{decimals}}"
        numbers = "".join(f"{n}{mark}" for n, mark in zip([*whole[:-1], last], marks, strict=False))
        name = names[degrees < 0]
        texts.append(f"{name} {numbers}" if is_before else f"{numbers} {name}")
        size = sum(n / 60**place for place, n in enumerate(whole))
        size += fraction / 10**decimals / 60 ** (parts - 1)
        values.append(-size if degrees < 0 else size)
    text = draw(st.sampled_from(SEPARATORS)).join(texts)
    return text, *values, 1e-9


@given(writings())
def test_a_written_place_is_read_as_it_was_meant(written: tuple[str, float, float, float]) -> None:
    text, latitude, longitude, precision = written
    place = read_place(text)
    assert (place.y, place.x) == pytest.approx((latitude, longitude), abs=precision)
    assert place.letter == ""


@given(writings(), st.data())
def test_a_changed_text_is_the_same_place_or_refused(
    written: tuple[str, float, float, float], data: st.DataObject
) -> None:
    """What only says something twice, or breaks a number, moves no place."""
    text, latitude, longitude, _ = written
    number = data.draw(st.sampled_from([n for n, sign in enumerate(text) if sign in ".,"][:1]))
    for changed in (
        f"{text[:number]}{text[number]}{text[number]}{text[number + 1 :]}",
        f"{text[: number + 2]}.{text[number + 2 :]}.5",
        f" ({text.upper() if ' s' not in text else text}) ",
        f"{text} N",
        text.replace(" ", "  "),
    ):
        place = attempt(read_place, changed)
        if place is not None:
            assert (place.y, place.x) == pytest.approx((latitude, longitude), abs=1e-9), changed


@given(st.floats(-79, 83.9), st.floats(-179.9, 179.9), st.integers(1, 5))
def test_mgrs_comes_back_within_its_square(latitude: float, longitude: float, half: int) -> None:
    for text in mgrs(latitude, longitude, half):
        place = read_place(text)
        x, y = Transformer.from_crs(4326, place.srid, always_xy=True).transform(longitude, latitude)
        assert max(abs(place.x - x), abs(place.y - y)) <= 10 ** (5 - half) / 2 + 1e-6, text


def mgrs(latitude: float, longitude: float, half: int) -> Iterator[str]:
    """The square of a position, of which each half of the digits has ``half``."""
    zone, rows = int((longitude + 180) // 6) + 1, "ABCDEFGHJKLMNPQRSTUV"
    band = "CDEFGHJKLMNPQRSTUVWXX"[int((latitude + 80) // 8)]
    code = (32600 if latitude >= 0 else 32700) + zone
    x, y = Transformer.from_crs(4326, code, always_xy=True).transform(longitude, latitude)
    column = ("ABCDEFGH", "JKLMNPQR", "STUVWXYZ")[(zone - 1) % 3][int(x // 100_000) - 1]
    row = rows[(int(y // 100_000) + (5 if zone % 2 == 0 else 0)) % 20]
    easting, northing = (f"{int(n % 100_000):05}"[:half] for n in (x, y))
    yield f"{zone}{band}{column}{row}{easting}{northing}"
    yield f"{zone}{band} {column}{row} {easting} {northing}".lower()


def test_only_whole_places_have_a_system() -> None:
    assert read_place("47.005, 10.005") == Place(10.005, 47.005)
