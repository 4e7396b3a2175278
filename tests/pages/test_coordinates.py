"""Coordinates as people write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.pages.assets.asset.coordinates import Axis, read_degrees, split_both
from tests.processor_time import takes_at_most

# What the server and the pages' scripts read alike: tests/javascript/coordinates.test.mjs has the
# same cases.
CASES = json.loads(Path(__file__).with_name("coordinates.json").read_text())


def test_degrees_are_read(subtests: pytest.Subtests) -> None:
    for text, axis, degrees in CASES["degrees"]:
        with subtests.test(f"{axis} {text!r}"):
            assert read(text, axis) == pytest.approx(degrees, abs=1e-8)


def read(text: str, axis: Axis) -> float | None:
    """Degrees, or None for a text that says none."""
    try:
        return read_degrees(text, axis)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("text", "axis", "message"),
    [
        ("91", "latitude", "between −90 and 90"),
        ("181", "longitude", "between −180 and 180"),
        ("north", "latitude", "Write it in degrees"),
        ("1e3", "latitude", "Write it in degrees"),
        ("", "latitude", "Write it in degrees"),
        ("48.5 E", "latitude", "E does not belong to a latitude"),
        ("48 60", "latitude", "below 60"),
        ("48.5 30", "latitude", "Only the last"),
    ],
)
def test_what_is_wrong_is_told(text: str, axis: Axis, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_degrees(text, axis)


def test_both_are_split(subtests: pytest.Subtests) -> None:
    for text, both in CASES["both"]:
        with subtests.test(repr(text)):
            assert split_both(text) == (tuple(both) if both else None)


@pytest.mark.parametrize(
    ("start", "repeated", "end"),
    [
        ("N", " ", "x"),
        ("", "1", "x"),
        ("N", "N,a", "\nx"),
        ("1N", "N a", "\nx"),
        ("1", " ", ";;"),
    ],
)
def test_the_time_grows_with_the_length_alone(start: str, repeated: str, end: str) -> None:
    def read_long(times: int) -> None:
        text = start + repeated * times + end
        split_both(text)
        read(text, "latitude")

    assert takes_at_most(40, lambda: read_long(6_000), lambda: read_long(500))
