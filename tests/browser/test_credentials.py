"""API keys in the browser: made, used with curl, limited, revoked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Owner, Visitor
from tests.captured import captured

pytestmark = pytest.mark.slow


def curl(visitor: Visitor, command: str, path: str = "") -> tuple[int, Any]:
    """Run the command of the page, or that of another path with the same key."""
    if path:
        command = command.rpartition("'http")[0] + f"'{visitor.instance.url}{path}'"
    done = captured(["sh", "-c", f"{command} -sS -w '\\n%{{http_code}}'"], check=True)
    text, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(text)


def test_a_key_for_one_project_is_made_used_and_revoked(forester: Owner) -> None:
    own, other = (forester.post("/v1/projects", name=name)["id"] for name in ("Alder", "Birch"))
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
    command = page.locator("#curl").inner_text()
    status, body = curl(forester, command)
    assert (status, [project["name"] for project in body["data"]]) == (200, ["Alder"])
    assert curl(forester, command, f"/v1/projects/{own}")[0] == 200
    assert curl(forester, command, f"/v1/projects/{other}")[0] == 404
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("only Alder", exact=True)).to_be_visible()
    expect(page.get_by_text("Last used").first).to_be_visible()
    page.get_by_role("button", name="Revoke Auditor").click()
    expect(page.get_by_role("dialog")).to_contain_text("lose access at once")
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("Revoked or expired (1)")).to_be_visible()
    assert curl(forester, command)[0] == 401
