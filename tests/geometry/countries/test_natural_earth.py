"""The countries, as they are read."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
import shapely

from app.geometry.countries import natural_earth
from app.geometry.countries.natural_earth import World, load_world, unit_kilometers
from app.policy.countries import CODES_BY_NAME, CODES_BY_NUMBER, COUNTRY_CODES

NOBODYS = {"Siachen Glacier"}


def test_every_country_has_a_code(world: World) -> None:
    topology = orjson.loads(natural_earth.FILE.read_bytes())
    countries = topology["objects"]["countries"]["geometries"]
    names = {each["properties"]["name"]: each.get("id") for each in countries}
    without = {name for name, number in names.items() if number not in CODES_BY_NUMBER}
    assert without - CODES_BY_NAME.keys() == NOBODYS
    assert set(world.codes) <= COUNTRY_CODES


def test_there_are_249_codes_and_each_is_of_one_number() -> None:
    assert len(CODES_BY_NUMBER) == len(set(CODES_BY_NUMBER.values())) == 249


def test_countries_have_about_the_area_that_they_have(world: World) -> None:
    """Germany 357,000 km², Brazil 8.5 million: within 2 %, in the middle of each piece."""
    for code, km2 in (("DE", 357_000), ("BR", 8_510_000)):
        pieces = world.pieces[world.owner == world.codes.index(code)]
        middles = shapely.get_coordinates(shapely.centroid(pieces))[:, 1]
        latitudes = np.degrees(np.arctan(np.sinh(np.radians(middles))))
        areas = shapely.area(pieces) * unit_kilometers(latitudes) ** 2
        assert areas.sum() == pytest.approx(km2, rel=0.02)


def test_no_piece_has_many_positions(world: World) -> None:
    assert shapely.get_num_coordinates(world.pieces).max() <= 2 * natural_earth._PIECE_POSITIONS
    assert shapely.is_valid(world.pieces).mean() > 0.999


def test_without_the_file_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(natural_earth, "FILE", natural_earth.FILE.with_name("missing.json"))
    assert load_world.__wrapped__() is None
    assert not natural_earth.has_world()
