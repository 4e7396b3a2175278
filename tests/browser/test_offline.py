"""Assets that are typed without a connection: kept in the browser, and sent once."""

from __future__ import annotations

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.browser.conftest import PHONE, Owner
from tests.browser.forest_scenes import settle
from tests.make import new_email, square
from tests.make.browser import PASSWORD

pytestmark = pytest.mark.slow


@pytest.fixture
def project(forester: Owner) -> str:
    forester.expected += ["ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "Failed to fetch"]
    forester.page.set_viewport_size(PHONE)
    return str(forester.post("/v1/projects", name="North Wood", geometry=square())["id"])


def names_of(owner: Owner) -> list[str]:
    """The names of the assets of the account."""
    headers = {"Authorization": f"Bearer {owner.key}"}
    response = owner.context.request.get(f"{owner.instance.url}/v1/assets", headers=headers)
    return sorted(each["name"] for each in response.json()["data"])


def type_asset(owner: Owner, name: str, project: str, kind: str = "gate") -> Page:
    page = owner.go(f"/assets/new?project_id={project}")
    owner.fill(name=name, type=kind)
    return page


def go_offline(owner: Owner) -> None:
    """Lose the connection, once the page is complete."""
    settle(owner)
    owner.context.set_offline(True)


def test_assets_without_a_connection_wait_and_are_sent(forester: Owner, project: str) -> None:
    page = type_asset(forester, "Gate", project)
    go_offline(forester)
    forester.press("Create")
    waiting = page.locator("#not-sent")
    expect(waiting).to_contain_text("It is kept in this browser, and sent")
    expect(waiting.locator("li")).to_contain_text("No network")
    assert page.input_value("#name") == ""
    forester.fill(name="Camera")
    page.locator("[name=metadata_name]").fill("serial")
    page.locator("[name=metadata_value]").fill("7")
    forester.press("Create and add more")
    expect(waiting.locator("strong")).to_have_text(["Gate", "Camera"])
    other = forester.context.new_page()  # which is offline, too
    forester.context.set_offline(False)
    other.goto(f"{forester.instance.url}/projects")  # both pages send both
    expect(other.locator("main")).to_be_visible()
    expect(waiting).to_be_hidden()
    expect(other.locator("#not-sent")).to_be_hidden()
    assert names_of(forester) == ["Camera", "Gate"]
    other.close()
    forester.go("/assets")
    expect(page.locator("#not-sent")).to_be_hidden()
    expect(page.locator("main > .notice, .list-side > .notice")).to_have_count(0)


def test_an_asset_whose_answer_was_lost_is_created_once(forester: Owner, project: str) -> None:
    page = type_asset(forester, "Gate", project)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/assets/new", lose)
    forester.press("Create")
    expect(page.locator("#not-sent li")).to_contain_text("No network")
    assert names_of(forester) == ["Gate"]
    page.unroute("**/assets/new")
    forester.press("Send now")
    expect(page.locator(".toast p")).to_have_text("Gate created.")
    expect(page.locator("#not-sent")).to_be_hidden()
    assert names_of(forester) == ["Gate"]


def test_what_waits_is_of_one_person_and_one_account(forester: Owner, project: str) -> None:
    page = type_asset(forester, "Gate", project)
    forester.context.clear_cookies(name="canopy_session")
    forester.press("Create")
    expect(page.locator("#not-sent li")).to_contain_text("You are signed out")
    email = new_email()
    forester.instance.canopy(
        "account", "create", "--name", "Others", "--plan", "free",
        "--owner-email", email, "--owner-password", PASSWORD,
    )  # fmt: skip
    for each in (email, forester.email):
        forester.context.clear_cookies()
        forester.go("/login")
        expect(page.locator("#not-sent")).to_be_hidden()
        forester.fill(email=each, password=PASSWORD)
        forester.press("Sign in")
        if each == email:
            expect(page.locator("h1")).to_be_visible()
            expect(page.locator("#not-sent")).to_be_hidden()
            assert names_of(forester) == []
            forester.choose("You", "Sign out")  # which asks nothing
            expect(page.locator("h1")).to_have_text("Sign in")
            assert len(page.evaluate("Object.keys(localStorage)")) == 1
    expect(page.locator(".toast p")).to_have_text("Gate created.")
    assert names_of(forester) == ["Gate"]


def test_a_refused_asset_is_corrected_where_it_is_wrong(forester: Owner, project: str) -> None:
    page = type_asset(forester, "Gate", project, "gate!")
    go_offline(forester)
    forester.press("Create")
    expect(page.locator("#not-sent li")).to_contain_text("No network")
    asked: list[Dialog] = []
    page.once("dialog", lambda dialog: (asked.append(dialog), dialog.dismiss()))
    forester.choose("You", "Sign out")
    assert "Not sent yet: 1." in asked[0].message
    page.keyboard.press("Escape")  # the menu
    forester.context.set_offline(False)
    expect(page.locator("#not-sent li")).to_contain_text("It has to be corrected")
    page.get_by_role("link", name="Correct").click()
    expect(page.locator("#type")).to_have_attribute("aria-invalid", "true")
    assert page.input_value("#name") == "Gate"
    forester.go("/assets/new")  # by mistake
    page.get_by_role("button", name="Continue with it").click()
    forester.fill(type="gate")
    forester.press("Create")
    expect(page.locator("h1")).to_have_text("Gate")
    expect(page.locator(".notice")).to_have_text("Gate created.")
    forester.go("/assets/new")
    expect(page.locator("#kept-work")).to_be_hidden()


def test_a_change_without_a_connection_is_sent_or_conflicts(forester: Owner, project: str) -> None:
    path = f"/v1/projects/{project}/assets"
    record = forester.post(path, name="Gate", type="gate")
    page = forester.go(f"/assets/{project}/{record['id']}/edit")
    go_offline(forester)
    for name in ("North gate", "South gate"):  # the latter counts
        forester.fill(name=name)
        forester.press("Save")
        expect(page.locator("#not-sent strong")).to_have_text(name)
    forester.context.set_offline(False)
    expect(page.locator(".toast p")).to_have_text("Asset saved.")
    assert names_of(forester) == ["South gate"]
    forester.go(f"/assets/{project}/{record['id']}/edit")
    go_offline(forester)
    forester.fill(name="Mine")
    forester.press("Save")
    expect(page.locator("#not-sent")).to_be_visible()
    headers = {"Authorization": f"Bearer {forester.key}"}
    address = f"{forester.instance.url}{path}/{record['id']}"
    assert forester.context.request.put(address, headers=headers, data={"name": "Theirs"}).ok
    forester.context.set_offline(False)
    page.get_by_role("link", name="Correct").click()
    expect(page.locator("[role=alert]")).to_contain_text("has saved this asset")
    expect(page.locator("[role=alert]")).to_contain_text("Theirs")
    forester.press("Save")
    expect(page.locator("h1")).to_have_text("Mine")
