"""Everything on the pages of forests once, by keyboard alone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.browser.forest_scenes import press_until
from tests.browser.test_keyboard import press, push, reach
from tests.make.geometry import square

pytestmark = pytest.mark.slow


def write(visitor: Visitor, label: str, text: str) -> None:
    """Focus a field by its label, and type into it."""
    reach(visitor, label)
    visitor.page.keyboard.press("ControlOrMeta+a")
    visitor.page.keyboard.insert_text(text)


@pytest.mark.trial
def test_a_project_from_its_boundary_to_its_end(forester: Visitor) -> None:
    page = forester.page
    forester.go("/projects/new")
    write(forester, "Name", "Typed wood")
    push(forester, "As text: GeoJSON or WKT")
    write(forester, "Boundary as GeoJSON or WKT", json.dumps(square()))
    page.keyboard.press("Tab")
    expect(page.locator("#report .area")).to_contain_text("ha")
    press(forester, "Create project")
    path = forester.path.removesuffix("?saved")

    press(forester, "Edit")
    page.wait_for_load_state("networkidle")
    push(forester, "As text: GeoJSON or WKT")
    write(forester, "Boundary as GeoJSON or WKT", json.dumps(square(size=0.2)))
    page.keyboard.press("Tab")
    expect(page.locator("#report")).not_to_have_class("report is-old")
    press(forester, "Save")
    push(forester, "Show the difference")
    expect(page.locator("#difference-note")).to_be_visible()
    push(forester, "Restore…")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(forester, "Restore")

    press(forester, "Add asset")
    write(forester, "Name", "Gate")
    write(forester, "Type", "gate")
    write(forester, "Latitude", "50.05")
    write(forester, "Longitude", "10.05")
    press(forester, "Create")
    assert forester.heading == "Gate"

    forester.go(path)
    press(forester, "Archive")
    push(forester, "Delete…")
    write(forester, "To confirm, type the name", "Typed wood")
    press(forester, "Delete for good")
    assert forester.path.startswith("/projects?status=archived")


@pytest.mark.trial
def test_the_map_is_moved_and_the_list_filtered(forester: Visitor) -> None:
    page = forester.page
    forester.go("/projects/new")
    write(forester, "Name", "Only wood")
    press(forester, "Create project")
    forester.go("/projects")
    page.wait_for_load_state("networkidle")
    write(forester, "Search by name, description or external ID", "nothing")
    expect(page.locator("#results")).to_contain_text("Nothing found")
    write(forester, "Search by name, description or external ID", "only")
    expect(page.locator(".project-list li")).to_have_count(1)
    page.locator("#map").focus()
    before = page.url
    page.keyboard.press("+")
    press_until(page, "ArrowRight", lambda: page.url != before)
