"""The pages of assets with their scripts: maps, the list that follows its filters, the form."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor
from tests.make import new_email, point, square
from tests.make.browser import PASSWORD

pytestmark = pytest.mark.slow


class Owner(Visitor):
    """The owner of a new account with one project, and with a key of the API."""

    def __init__(self, chrome: Browser, instance: Instance) -> None:
        super().__init__(chrome, instance, viewport={"width": 1280, "height": 800})
        email = new_email("ranger")
        made = instance.canopy(
            "account", "create", "--name", "Rangers", "--owner-email", email,
            "--owner-password", PASSWORD, "--plan", "enterprise", "--json",
        )  # fmt: skip
        self.key = json.loads(made)["api_key"]
        self.go("/login")
        self.fill(email=email, password=PASSWORD)
        self.press("Sign in")
        body = {"name": "North Wood", "geometry": square(10, 50, 0.1)}
        self.project = self.post("/v1/projects", body)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Make something through the API."""
        request = urllib.request.Request(
            self.instance.url + path,
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            record: dict[str, Any] = json.load(response)["data"]
            return record

    def add(self, name: str, **fields: Any) -> None:
        """Add an asset to the project."""
        body = {"name": name, "type": "equipment"} | fields
        self.post(f"/v1/projects/{self.project['id']}/assets", body)

    def click_middle(self, shape: str, *, hover: str = "") -> None:
        """Click on the map in the middle of what it shows.

        Args:
            hover: what has to appear before the click.
        """
        found = self.page.locator(shape)
        expect(found).to_be_visible()
        box = found.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        if hover:
            expect(self.page.locator(hover)).to_be_visible()
        self.page.mouse.click(x, y)


@pytest.fixture
def owner(chrome: Browser, instance: Instance) -> Iterator[Owner]:
    made = Owner(chrome, instance)
    yield made
    made.leave()


@pytest.mark.trial
def test_the_list_and_the_map_follow_the_filters(owner: Owner) -> None:
    owner.add("Pump", status="maintenance", location=point(10.05, 50.05))
    owner.add("Tower", location=point(10.02, 50.02))
    page = owner.go("/assets")
    names = page.locator(".asset-name")
    expect(names).to_have_text(["Tower", "Pump"])
    with page.expect_response("**/assets/map?status=maintenance*") as shown:
        page.select_option("#status", "maintenance")
    expect(names).to_have_text(["Pump"])
    assert [each["properties"]["name"] for each in shown.value.json()["features"]] == ["Pump"]
    assert "status=maintenance" in page.url

    page.locator("tr[data-id]").hover()
    owner.click_middle("path.highlighted", hover=".leaflet-tooltip")
    card = page.locator(".leaflet-popup-content")
    expect(card).to_contain_text("equipment · maintenance")
    page.locator("input[name=ids]").check()
    expect(page.locator("#selected-count")).to_have_text("1 selected")
    card.get_by_role("link", name="Pump").click()
    expect(page.locator("h1")).to_have_text("Pump")


def test_an_asset_is_placed_on_the_map(owner: Owner) -> None:
    page = owner.go("/assets/new")
    page.locator("#project").press_sequentially("nor")
    expect(page.locator("#project-options option")).to_have_attribute("value", "North Wood")
    page.fill("#project", "North Wood")
    with page.expect_response("**/boundary"):
        page.locator("#project").blur()
    owner.click_middle("path.boundary")
    latitude = float(page.input_value("#latitude"))
    assert 50 < latitude < 50.1
    expect(page.locator("#place-note")).to_have_text("")
    page.fill("#latitude", "50°30'N")
    expect(page.locator("#place-note")).to_contain_text("outside the boundary")
    page.fill("#latitude", "50,05")
    expect(page.locator("#place-note")).to_have_text("")
    owner.fill(name="Gate", type="gate")
    page.get_by_role("button", name="Add a value").click()
    page.locator("[name=metadata_name]").nth(1).fill("serial")
    page.locator("[name=metadata_value]").nth(1).fill("7")
    owner.press("Create")
    expect(page.locator("h1")).to_have_text("Gate")
    expect(page.locator("#coordinates")).to_contain_text("50.05, 10.0")
    expect(page.locator(".asset-sign")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    owner.press("Delete for good")
    expect(page.locator(".notice")).to_have_text("Gate deleted.")
