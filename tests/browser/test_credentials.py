"""API keys in the browser: made, used with curl, limited, revoked; also without a mouse."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.browser.test_forest_keyboard import write
from tests.browser.test_keyboard import press, reach
from tests.make.geometry import square

pytestmark = pytest.mark.slow


def curl(visitor: Visitor, path: str = "", address: str = "") -> tuple[int, Any]:
    """Run the command of the page, or that of another path with the same key, from an address."""
    command = visitor.page.locator("#curl").inner_text()
    if path:
        command = command.rpartition("'http")[0] + f"'{visitor.instance.url}{path}'"
    if address:
        command += f" -H 'X-Forwarded-For: {address}'"
    done = subprocess.run(
        ["sh", "-c", f"{command} -sS -w '\\n%{{http_code}}'"],
        capture_output=True,
        text=True,
        check=True,
    )
    text, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(text)


def make_project(visitor: Visitor, name: str) -> str:
    """The id of a new project."""
    page = visitor.go("/projects/new")
    page.locator(".as-text summary").click()
    page.locator("#geometry").fill(json.dumps(square()))
    visitor.fill(name=name)
    page.locator("#save").click()
    page.wait_for_url("**/projects/proj_*")
    return visitor.path.rpartition("/")[2]


def test_a_key_for_one_project_is_made_used_and_revoked(forester: Visitor) -> None:
    own, other = (make_project(forester, name) for name in ("Alder", "Birch"))
    page = forester.go("/api-keys/new")
    forester.fill(name="Auditor")
    page.get_by_label("See projects and check geometries").check()
    page.get_by_label("Only these projects").check()
    expect(page.get_by_label("See usage and limits")).to_be_disabled()
    page.get_by_label("Search projects").fill("alder")
    expect(page.get_by_label("Birch")).to_have_count(0)
    page.get_by_label("Alder").check()
    page.get_by_label("Search projects").fill("birch")
    expect(page.get_by_label("Birch")).not_to_be_checked()
    expect(page.get_by_label("Alder")).to_be_checked()
    forester.press("Create API key")
    status, found = curl(forester)
    assert (status, [each["name"] for each in found["data"]]) == (200, ["Alder"])
    assert curl(forester, f"/v1/projects/{own}")[0] == 200
    assert curl(forester, f"/v1/projects/{other}")[0] == 404
    command = page.locator("#curl").inner_text()
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("only Alder", exact=True)).to_be_visible()
    expect(page.get_by_text("Last used").first).to_be_visible()
    page.get_by_role("button", name="Revoke Auditor").click()
    expect(page.get_by_text("lose access at once")).to_be_visible()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("Revoked or expired (1)")).to_be_visible()
    done = subprocess.run(
        ["sh", "-c", f"{command} -sS -w '%{{http_code}}' -o /dev/null"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "401"


@pytest.mark.trial
def test_a_key_is_made_and_revoked_by_keyboard(forester: Visitor) -> None:
    make_project(forester, "Alder")
    page = forester.go("/api-keys")

    def reach(name: str, role: str = "button") -> None:
        wanted = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
        for _ in range(60):
            page.keyboard.press("Tab")
            if wanted.evaluate("e => e === document.activeElement"):
                return
        raise AssertionError(f"{name} is not reached with the Tab key")

    reach("New API key", "link")
    page.keyboard.press("Enter")
    page.wait_for_url("**/api-keys/new")
    reach("Name", "textbox")
    page.keyboard.type("By hand")
    reach("See the assets of projects", "checkbox")
    page.keyboard.press("Space")
    reach("All projects", "radio")
    page.keyboard.press("ArrowDown")
    reach("Alder", "checkbox")
    page.keyboard.press("Space")
    reach("1 year", "radio")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("90 days")).to_be_checked()
    reach("Create API key")
    page.keyboard.press("Enter")
    page.locator("#secret").wait_for()
    reach("Done", "link")
    page.keyboard.press("Enter")
    page.wait_for_url("**/api-keys")
    expect(page.get_by_text("only Alder", exact=True)).to_be_visible()
    reach("Revoke By hand")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Revoked or expired (1)")).to_be_visible()


@pytest.mark.trial
def test_a_token_is_made_by_keyboard(forester: Visitor) -> None:
    forester.go("/service-tokens")
    press(forester, "New service token")
    write(forester, "Name", "Nightly")
    reach(forester, "See projects and check geometries projects:read")
    forester.page.keyboard.press("Space")
    write(forester, "From which addresses? (optional)", "203.0.113.0/24\n2001:db8::1")
    press(forester, "Create service token")
    assert curl(forester, address="203.0.113.7")[0] == 200
    assert curl(forester, address="203.0.114.7")[0] == 401
    press(forester, "Done")
    expect(forester.page.get_by_text("2 addresses only")).to_be_visible()
