"""Towns by name and by position: all that set-up has, and a small file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.gazetteer import has_towns, nearest_town, search_countries, search_towns, towns
from app.gazetteer.make import FILE, write_places
from tests.node import skip

ALBAC = (22.9657, 46.4533)


def city(name: str, country: str, place: tuple[float, float], people: int, *others: str) -> dict:
    longitude, latitude = place
    return {"name": name, "countrycode": country, "longitude": longitude, "latitude": latitude,
            "population": people, "alternatenames": list(others)}  # fmt: skip


CITIES = [
    city("Shanghai", "CN", (121, 31), 24_000_000, "Sangaj", "Šangaj", "上海", "SHA", "shang hai"),
    city("Sânmihai", "RO", (23.5, 46.5), 900),
    city("Albac", "RO", (22.9516, 46.4525), 2168, "Fehérvölgy"),
    city("Albac", "FR", (0.5, 44.0), 600),
    city("Albacete", "ES", (-1.86, 38.99), 173_050),
    city("A: {n", "NO", (179.9, 70.0), 0),
    city("Cluj-Napoca", "RO", (23.6, 46.7667), 286_598),
    city("Sector 3", "RO", (26.17, 44.42), 385_439),  # of Bucharest
    city("23 August", "RO", (28.6, 43.9), 5_483),
]  # fmt: skip


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a few towns in the place of the one of set-up."""
    cities = json.dumps({str(n): each for n, each in enumerate(CITIES)})
    (tmp_path / "cities500.json").write_text(cities)
    (tmp_path / "countries.json").write_text('{"RO": {"name": "Romania", "iso3": "ROU"}}')
    languages = [{"RO": "Rumänien", "001": "Welt", "CI": "Côte d’Ivoire"}, {"RO": "România"}]
    write_places(tmp_path, tmp_path / FILE, languages)
    monkeypatch.setattr(towns, "_FILE", tmp_path / FILE)


def named(text: str, *countries: str) -> list[tuple[str, str]]:
    return [(town.name, town.country) for town in search_towns(text, 4, countries)]


@pytest.mark.usefixtures("small")
def test_a_town_is_found_by_the_beginning_of_each_of_its_names(
    subtests: pytest.Subtests,
) -> None:
    for text, found in {
        "albac": [("Albac", "RO"), ("Albac", "FR"), ("Albacete", "ES")],
        "FEHERV": [("Albac", "RO")],
        "cluj napoca": [("Cluj-Napoca", "RO")],
        "Cluj–N": [("Cluj-Napoca", "RO")],
        "san": [("Shanghai", "CN"), ("Sânmihai", "RO")],
        "上": [("Shanghai", "CN")],
        "a n": [("A: {n", "NO")],
        "sha": [("Shanghai", "CN")],
        "sector": [], "23 a": [("23 August", "RO")],
        "al": [("Albacete", "ES")],  # two letters find large towns only
        "%": [], "_": [], "": [], "bac": [], "shang h": [],
    }.items():  # fmt: skip
        with subtests.test(text):
            assert named(text) == found
    assert named("albac", "FR", "ES") == [("Albac", "FR"), ("Albacete", "ES")]
    assert [town.alias for town in search_towns("sang", 1)] == ["Šangaj"]
    assert len(search_towns("albac", 2)) == 2


@pytest.mark.usefixtures("small")
def test_a_country_is_found_in_any_language(subtests: pytest.Subtests) -> None:
    for text, found in {
        "ruman": {"RO": "Rumänien"}, "ROU": {"RO": "ROU"}, "romania": {"RO": "Romania"},
        "cote d ivoire": {"CI": "Côte d’Ivoire"}, "welt": {}, "": {}, "mania": {},
    }.items():  # fmt: skip
        with subtests.test(text):
            assert search_countries(text) == found


@pytest.mark.usefixtures("small")
def test_the_nearest_town_is_at_most_a_hundred_kilometers_away(subtests: pytest.Subtests) -> None:
    for place, name, kilometers in (
        (ALBAC, "Albac", 1.1),
        ((23.55, 46.65), "Cluj-Napoca", 13.5),
        ((23.5, 47.6), "Cluj-Napoca", 93.0),
        ((-179.9, 70.0), "A: {n", 7.6),
    ):
        with subtests.test(name):
            town = nearest_town(*place)
            assert town
            assert (town.name, round(town.kilometers, 1)) == (name, kilometers)
    for nowhere in ((0.0, 0.0), (23.5, 47.8), (22.0, 90.0), (22.0, -90.0)):
        assert nearest_town(*nowhere) is None


def test_without_the_file_there_are_no_towns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(towns, "_FILE", Path("/nonexistent"))
    assert not has_towns()
    assert (search_towns("Albac", 4), search_countries("Fr"), nearest_town(*ALBAC)) == (
        [],
        {},
        None,
    )


def test_the_towns_of_the_world(subtests: pytest.Subtests) -> None:
    if not has_towns():
        skip("bin/_third_party.py makes the file of the towns")
    for text, name, country in (
        ("albac", "Albac", "RO"), ("București", "Bucharest", "RO"),
        ("BUCURESTI", "Bucharest", "RO"),
        ("Wien", "Vienna", "AT"), ("München", "Munich", "DE"), ("munchen", "Munich", "DE"),
        ("Cluj", "Cluj-Napoca", "RO"), ("東京", "Tokyo", "JP"), ("Москва", "Moscow", "RU"),
        ("Ciudad de México", "Mexico City", "MX"), ("ciudad de mexico", "Mexico City", "MX"),
        ("Łódź", "Łódź", "PL"), ("lodz", "Łódź", "PL"), ("ii", "Ii", "FI"),
    ):  # fmt: skip
        with subtests.test(text):
            assert named(text)[0] == (name, country)
    for text, code in {"Deutschland": "DE", "elvetia": "CH", "日本": "JP", "Congo": "CG"}.items():
        with subtests.test(text):
            assert next(iter(search_countries(text))) == code
    town = nearest_town(*ALBAC)
    assert town
    assert (town.name, town.country, round(town.kilometers)) == ("Albac", "RO", 1)
