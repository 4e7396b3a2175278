"""Places for *Go to* of maps: positions, projects, countries and towns."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

from app.gazetteer import has_towns, towns
from app.geometry.countries import has_world
from tests.make import Browser, Client, make_account, make_project, square
from tests.node import skip
from tests.pages.support import browser_of

SCRIPT = {"X-Requested-With": "fetch"}
ALBAC = (22.9657, 46.4533)
ARABIA = "In Saudi Arabia"


@pytest.fixture(autouse=True)
def made() -> None:
    """What set-up makes."""
    if not (has_towns() and has_world()):
        skip("bin/_third_party.py makes the towns and the countries")


def ask(browser: Browser, text: str) -> dict[str, Any]:
    data: dict[str, Any] = browser.get(
        f"/map/places?q={quote(text)}", headers=SCRIPT
    ).response.json["data"]
    return data


def found(browser: Browser, text: str) -> list[tuple[str, str]]:
    """The names of the places, each with its note."""
    return [(place["name"], place["note"]) for place in ask(browser, text)["places"]]


@pytest.fixture
def forest(client: Client) -> dict[str, Any]:
    """A project near Albac."""
    metadata = {"owner": "Obștea Țaga", "plots": 12}
    place = square(*ALBAC, size=0.01)
    return make_project(
        client, name="Valea Rece", external_id="VR-7", metadata=metadata, geometry=place
    )


def test_towns_and_countries_are_found(owner: Browser, subtests: pytest.Subtests) -> None:
    for text, name, note in (
        ("albac", "Albac", "Romania · 2,168 people"),
        ("Albac, Rumänien", "Albac", "Romania · 2,168 people"),
        ("wien", "Wien (Vienna)", "Austria · 1,691,468 people"),
        ("romania", "Romania", "country"),
        ("deutschland", "Germany (Deutschland)", "country"),
    ):
        with subtests.test(text):
            assert found(owner, text)[0] == (name, note)
    (town, *_), (country, *_) = (ask(owner, text)["places"] for text in ("albac", "new zealand"))
    assert (town["place"], town["zoom"]) == ([22.95164, 46.45246], 14)
    west, south, east, north = country["box"]
    assert 166 < west < east < 180
    assert -48 < south < north < -34


def test_towns_near_the_projects_come_first(
    owner: Browser, client: Client, forest: dict[str, Any]
) -> None:
    towns = found(owner, "Vidra")
    assert len({note for _, note in towns}) == len(towns)  # those of one name say where
    assert towns[0] == ("Vidra", "Romania · 65 people · 46.4°\xa0N 22.9°\xa0E")
    make_project(client, geometry=square(26.1, 44.3, size=0.01))
    assert found(owner, "Vidra")[0] != towns[0]


def test_projects_are_found_by_name_id_and_metadata(
    owner: Browser, client: Client, forest: dict[str, Any], subtests: pytest.Subtests
) -> None:
    old = make_project(client, name="Valea Veche", geometry=square())
    client.put(f"/v1/projects/{old['id']}", json={"status": "archived"})
    make_project(client, name="Valea fără loc")
    for text, names in {
        "valea": [("Valea Rece", "project · VR-7"), ("Valea Veche", "archived project")],
        "vr-7": [("Valea Rece", "project · VR-7")],
        "taga": [("Valea Rece", "project · owner: Obștea Țaga")],
        "plots": [],
        "valea  rece": [("Valea Rece", "project · VR-7")],
        "valea\0rece": [("Valea Rece", "project · VR-7")],
    }.items():
        with subtests.test(text):
            named = [each for each in found(owner, text) if "project" in each[1]]
            assert named == names
    (place, *_) = ask(owner, "vr-7")["places"]
    assert place["box"] == [22.9657, 46.4533, 22.9757, 46.4633]


def test_nobody_finds_the_projects_of_others(app: Flask, forest: dict[str, Any]) -> None:
    stranger = browser_of(make_account(app))
    for text in ("Valea Rece", "VR-7", "Obștea Țaga"):
        assert [each for each in found(stranger, text) if "project" in each[1]] == []
    assert found(stranger, "22.88, 45.36")[0][0].startswith(ARABIA)  # nor where they are


def test_positions_are_read_in_every_writing(owner: Browser, subtests: pytest.Subtests) -> None:
    for text in (
        "46.4533 N, 22.9657 E", "46,4533° N 22,9657° E", "46°27.198' N 22°57.942' E",
        "lat 46.4533; lon 22.9657", "geo:46.4533,22.9657", "POINT (22.9657 46.4533)",
        "UTM 34N 650959 5146292", "34T 650959 5146292", "34TFS5095946292",
        "EPSG:32634 650959 5146292", "EPSG:3844 343874 552409", "Stereo70 343874 552409",
    ):  # fmt: skip
        with subtests.test(text):
            (place, *_) = ask(owner, text)["places"]
            assert place["name"].startswith("In Romania, near Albac, 46.4533°")
            assert (place["kind"], place["zoom"]) == ("position", 13)
            assert place["place"] == pytest.approx(ALBAC, abs=1e-4)


def test_two_plausible_readings_are_both_offered(
    owner: Browser, forest: dict[str, Any], subtests: pytest.Subtests
) -> None:
    home, abroad = "In Romania", ARABIA
    for text, readings in {
        "22.88, 46.46": [(home, "longitude first"), (abroad, "latitude first")],
        "46.46; 22.88": [(home, "latitude first"), (abroad, "longitude first")],
        "105.2 21": [("In Vietnam", "longitude first")],  # no latitude
        "51.5, -5": [("In the United Kingdom", "latitude first")],  # the other is in the sea
        "51.6N 0.3 O": [
            ("In the Unit", "O is east (Ost)"),
            ("In the Unit", "O is west (ouest, oeste)"),
        ],
        "35S 600000 4300000": [
            ("In Turkey", "S is 32° to 40° north"),
            ("In the sea", "S is the south"),
        ],
        "343874 552409": [(home, "Pulkovo 1942(58) / Stereo70 (EPSG:3844)")],
    }.items():
        with subtests.test(text):
            named = [
                (name[: len(start)], note)
                for (name, note), (start, _) in zip(found(owner, text), readings, strict=False)
            ]
            assert named == readings


def test_a_text_that_is_no_place_gets_one_sentence(
    owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = "Write latitude and longitude, such as 48.5127, 8.2131."
    assert ask(owner, " xyzzyx ") == {
        "places": [], "message": f"No town, country or project is called “xyzzyx”. {write}"
    }  # fmt: skip
    assert ask(owner, "91.5, 200.1")["message"].startswith("Latitudes are between")
    assert ask(owner, "x" * 900)["places"] == []
    assert ask(owner, " ") == {"places": [], "message": ""}
    monkeypatch.setattr(towns, "_FILE", Path("/nonexistent"))
    assert ask(owner, "albac")["message"].startswith("No country or project")
    assert found(owner, "roman") == [("Romania", "country")]
