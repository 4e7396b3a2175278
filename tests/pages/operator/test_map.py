"""Backgrounds of maps, turned on by an operator."""

from __future__ import annotations

import pytest

from app.policy.audit import INSTANCE
from app.policy.backgrounds import PRESETS
from app.settings.map_layers import preset_layer
from tests.backgrounds.test_pages import layers_of
from tests.make import Browser, Client, second_app, signed_in_browser
from tests.make.audit import new_entries
from tests.pages.operator.support import operator_browser
from tests.pages.support import browser_of, post

PAGE = "/operator/map"


def turn(operator: Browser, name: str, place: str = "last") -> None:
    assert post(operator, PAGE, name=name, place=place).status == 303


@pytest.mark.both
def test_what_is_turned_on_is_on_every_map(client: Client, operator: Browser) -> None:
    viewer = browser_of(client, "viewer")
    with new_entries(client, INSTANCE) as entries:
        for name in ("osm", "esri-imagery", "osm"):  # the same again changes nothing
            turn(operator, name)
    assert [layer["name"] for layer in layers_of(viewer, "/projects")[0]] == ["esri-imagery", "osm"]
    turn(operator, "osm", "first")
    layers, origins = layers_of(viewer, "/projects")
    assert [layer["name"] for layer in layers] == ["osm", "esri-imagery"]
    assert origins == "https://tile.openstreetmap.org https://server.arcgisonline.com"
    assert '<span class="tag good">first' in operator.get(PAGE).response.text
    turn(operator, "osm", "off")
    turn(operator, "esri-imagery", "off")
    assert layers_of(viewer, "/projects") == ([], "")
    assert entries[1]["changes"] == {
        "backgrounds": {"from": ["osm"], "to": ["osm", "esri-imagery"]}
    }


def test_a_sample_is_loaded_when_it_is_asked_for(
    operator: Browser, subtests: pytest.Subtests
) -> None:
    page = operator.get(PAGE)
    assert "<img" not in page.response.text.partition("<main")[2]
    assert "img-src 'self' data:;" in page.response.headers["Content-Security-Policy"]
    for name, preset in PRESETS.items():
        with subtests.test(name):
            page = operator.get(f"{PAGE}?sample={name}")
            shown = page.response.text.partition("<main")[2]
            origin = preset_layer(name).origin
            policy = page.response.headers["Content-Security-Policy"]
            assert f"img-src 'self' data: {origin};" in policy
            assert shown.count("<img") == shown.count(f'src="{origin.replace("*", "a")}/') == 2
            assert preset.terms in page.text
    assert "<img" not in operator.get(f"{PAGE}?sample=google").response.text.partition("<main")[2]


def test_a_setting_wins(client: Client, operator: Browser) -> None:
    turn(operator, "osm")
    with second_app(client.app, map_layers=(preset_layer("swissimage"),)) as made:
        person = (client.owner_id, client.account_id)
        browser = signed_in_browser(made, *person, confirmed=True)
        assert [layer["name"] for layer in layers_of(browser)[0]] == ["swissimage"]
        text = browser.get(PAGE).text
    assert (
        "The setting MAP_LAYERS wins over what is turned on here. Maps show Aerial imagery of"
        in text
    )


def test_a_choice_that_does_not_exist_is_refused(operator: Browser) -> None:
    for fields in ({"name": "google", "place": "last"}, {"name": "osm", "place": "top"}, {}):
        assert post(operator, PAGE, **fields).status == 400


def test_it_is_confirmed(client: Client) -> None:
    operator = operator_browser(client, confirmed=False)
    assert "Confirm that it is you" in post(operator, PAGE, name="osm", place="last").text


def test_operators_alone_read_how_to_change_a_blank_map(client: Client, operator: Browser) -> None:
    hint = f'data-choose="{PAGE}"'
    assert hint in operator.get("/projects").response.text
    assert hint not in browser_of(client, "viewer").get("/projects").response.text
    turn(operator, "osm")
    assert hint not in operator.get("/projects").response.text
