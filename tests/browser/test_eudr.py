"""The page for the EUDR with scripts: a fault on the map, and many plots set in turns."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Owner
from tests.make.geometry import square

# Two corners that become one at six decimals, so that the outline touches itself there.
PINCHED = [
    [-2, 6], [-1.998, 6], [-1.998, 6.002], [-1.99900001, 6.001], [-2, 6.002],
    [-2, 6.0011], [-1.99900004, 6.001], [-2, 6.0009], [-2, 6],
]  # fmt: skip


def test_a_fault_is_on_the_map_and_a_producer_is_set(forester: Owner) -> None:
    pinched = {"type": "Polygon", "coordinates": [PINCHED]}
    forester.post("/v1/projects", name="Pinched", geometry=pinched)
    forester.post("/v1/projects", name="Beside the pinched", geometry=square(-3, 6))
    page = forester.go("/eudr?search=pinched")
    group = page.locator("#breaks_at_six_decimals")
    expect(group.locator("path.fault")).to_have_count(1)
    group.get_by_role("button", name="Show Pinched on the map").click()
    expect(group.locator("li.chosen")).to_contain_text("Pinched")
    assert "/edit" in str(group.get_by_role("link", name="Fix in the editor").get_attribute("href"))
    missing = page.locator("#producer_missing")
    missing.get_by_label("Name of the producer").fill("Ama Mensah")
    missing.get_by_role("button", name="Select all 2").click()
    missing.get_by_role("button", name="Set for the selected").click()
    expect(page.get_by_text("ProducerName set for 2 plots.")).to_be_visible()
    expect(missing).to_have_count(0)
