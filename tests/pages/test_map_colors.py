"""The colors of the map of projects: values, classes of numbers, the legend that counts them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, Final

import numpy as np
import pytest

from app.projects.map import colors
from config import ROOT
from tests.make import Browser, Client, make_project, square
from tests.pages.support import browser_of, json_of

SPECIES: Final = "color_by=metadata.species"
_ROW: Final = re.compile(
    r'<button[^>]* data-color="([^"]*)"([^>]*)>.*?<bdi>(.*?)</bdi> <span[^>]*>(.*?)</span>',
    re.DOTALL,
)
# The linear colors that people with protanopia and deuteranopia see (Machado and others, 2009).
_SEEN: Final = (
    np.eye(3),
    np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
)
_TO_CONES: Final = np.array(
    [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
)
_TO_LAB: Final = np.array(
    [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
)


def plant(client: Client, *values: Any, key: str = "species") -> None:
    """Make a project for each value of a key of the metadata; None: without metadata."""
    for number, value in enumerate(values):
        metadata = None if value is None else {key: value}
        make_project(client, geometry=square(10 + number, 50, 0.1), metadata=metadata)


def legend_of(browser: Browser, query: str = SPECIES) -> list[tuple[str, str, str, str]]:
    """The rows of the legend: color, attributes, words, number of projects."""
    page = browser.get(f"/projects/legend?{query}")
    assert page.status == 200
    rows = _ROW.findall(page.response.get_data(as_text=True))
    return [tuple(unescape(" ".join(part.split())) for part in row) for row in rows]


def values_of(browser: Browser, query: str = SPECIES) -> list[str | None]:
    """The values on the map, sorted."""
    found = json_of(browser, f"/projects/map?zoom=8&{query}")["features"]
    return sorted((each["properties"].get("value") for each in found), key=str)


@pytest.mark.both
def test_each_project_has_its_value_and_the_legend_counts_them(
    client: Client, stranger: Client
) -> None:
    plant(client, "oak", "oak", "<b>beech", None, ["no", "value"], "  ")
    browser, path = browser_of(client), "/projects/map?zoom=8"
    assert values_of(browser) == ["<b>beech", None, None, None, "oak", "oak"]
    assert values_of(browser, "") == [None] * 6
    assert legend_of(browser) == [
        ("category-1", 'data-value="oak"', "oak", "2"),
        ("category-2", 'data-value="<b>beech"', "<b>beech", "1"),
        ("archived", "data-none", "No value", "3"),
    ]
    assert legend_of(browser, "")[0][:2] == ("active", 'data-value="active"')
    assert legend_of(browser, f"{SPECIES}&metadata.species=oak&bbox=0,0,1,1")[0][3] == "2"
    keys = browser.get("/projects/legend").response.get_data(as_text=True)
    assert '<option value="metadata.species">species</option>' in keys
    others = browser_of(stranger)
    assert json_of(others, f"{path}&{SPECIES}")["features"] == legend_of(others) == []


def test_the_tag_of_a_map_depends_on_the_values(client: Client) -> None:
    plant(client, "oak")
    browser = browser_of(client)

    def tag(query: str) -> str:
        return str(browser.get(f"/projects/map?zoom=8&{query}").response.headers["ETag"])

    first = tag(SPECIES)
    assert len({first, tag(""), tag("color_by=metadata.age"), tag("color_by=country")}) == 4
    (project,) = client.get("/v1/projects").json["data"]
    client.put(f"/v1/projects/{project['id']}", json={"metadata": {"species": "beech"}})
    assert tag(SPECIES) != first
    assert values_of(browser) == ["beech"]


def test_the_most_frequent_values_have_colors_of_their_own(client: Client) -> None:
    plant(client, *(name for place, name in enumerate("abcdefghijklm") for _ in range(13 - place)))
    rows = legend_of(browser_of(client))
    assert [words for _, _, words, _ in rows] == [*"abcdefghijk", "Other values"]
    assert rows[-1] == ("archived", "", "Other values", "3")


def test_numbers_are_divided_into_five_classes(client: Client) -> None:
    plant(client, *range(1, 21), key="species")
    rows = legend_of(browser_of(client))
    assert [(color, words, count) for color, _, words, count in rows] == [
        ("class-1", "1 to 4", "4"), ("class-2", "5 to 8", "4"), ("class-3", "9 to 12", "4"),
        ("class-4", "13 to 16", "4"), ("class-5", "17 to 20", "4"),
    ]  # fmt: skip
    assert rows[0][1] == 'data-most="4"'


def test_few_numbers_have_a_color_each_and_texts_among_them_make_values(client: Client) -> None:
    plant(client, 2.5, 2.5, 7, True)
    assert [row[2] for row in legend_of(browser_of(client))] == ["2.5", "7", "true"]
    plant(client, 1, 3, 3, key="age")
    by_age = [(row[0], row[2]) for row in legend_of(browser_of(client), "color_by=metadata.age")]
    assert by_age == [("class-1", "1"), ("class-2", "3"), ("archived", "No value")]


def test_countries_are_named(client: Client) -> None:
    make_project(client, geometry=square(10, 50, 0.1))
    browser = browser_of(client)
    assert values_of(browser, "color_by=country") == ["DE"]
    assert legend_of(browser, "color_by=country")[0][1:] == ('data-value="DE"', "Germany", "1")


def test_what_the_map_is_colored_by_stays_in_the_address(client: Client) -> None:
    plant(client, "oak")
    page = browser_of(client).get(f"/projects?{SPECIES}&status=any&sort=area")
    text = unescape(page.response.get_data(as_text=True))
    assert f'data-map="/projects/map?status=any&{SPECIES}"' in text
    assert f'data-legend="/projects/legend?status=any&{SPECIES}"' in text
    assert '<input type="hidden" name="color_by" value="metadata.species">' in text
    wrong = browser_of(client).get("/projects?color_by=nothing")
    assert 'data-map="/projects/map"' in wrong.response.get_data(as_text=True)


def test_more_projects_than_the_legend_counts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(client, "oak", "beech")
    browser = browser_of(client)
    assert "Counted in" not in browser.get(f"/projects/legend?{SPECIES}").text
    monkeypatch.setattr(colors, "COLOR_PROJECTS", 1)
    assert "Counted in the 1 oldest projects." in browser.get(f"/projects/legend?{SPECIES}").text
    assert [row[2] for row in legend_of(browser)] == ["oak"]


def test_the_colors_can_be_told_apart() -> None:
    """Also by those who cannot tell red from green, in light and dark, and from the land."""
    text = (ROOT / "app/site/static/css/colors.css").read_text()
    defined = re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", text)
    for scheme in (1, 2):
        rgb = {row[0]: np.array([*bytes.fromhex(row[scheme])]) / 255 for row in defined}
        linear = {name: ((each + 0.055) / 1.055) ** 2.4 for name, each in rgb.items()}
        values = [*(f"category-{number}" for number in range(1, 12)), "archived"]
        pairs = [(one, other) for one in values for other in values if one < other]
        pairs += [(f"class-{number}", f"class-{number + 1}") for number in range(1, 5)]
        for seen in _SEEN:
            lab = {
                name: _TO_LAB @ np.cbrt(_TO_CONES @ np.clip(seen @ each, 0, 1))
                for name, each in linear.items()
            }
            least = min(float(np.linalg.norm(lab[one] - lab[other])) for one, other in pairs)
            assert least > 0.06
        light = {
            name: float(each @ [0.2126, 0.7152, 0.0722]) + 0.05 for name, each in linear.items()
        }
        for name in {name for pair in pairs for name in pair}:
            contrast = light[name] / light["land"]
            assert max(contrast, 1 / contrast) >= 2.95, name
