"""Projects on the map, drawn and edited, in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Owner, Visitor
from tests.browser.forest_scenes import press_until, settle
from tests.make.geometry import multi_square, square
from tests.waiting import wait_for

PAPERS = (("A4", 210, 297), ("Letter", 216, 279))  # in millimeters
SIDES = ("top", "right", "bottom", "left")


def hectares(page: Page) -> float:
    """The area that is shown while drawing."""
    area = page.locator("#report .area")
    expect(area).to_be_visible()
    return float(re.sub(r"[^\d.]", "", area.inner_text()))


def click_map(page: Page, *places: tuple[int, int]) -> None:
    """Click places of the map, in pixels from its corner."""
    for x, y in places:
        page.locator("#map").click(position={"x": x, "y": y})
        page.wait_for_timeout(320)  # else two clicks are a double-click


def geometry_of(page: Page) -> dict[str, object]:
    found: dict[str, object] = json.loads(page.locator("#geometry").input_value())
    return found


def test_from_sign_up_to_the_first_project_by_drawing(forester: Visitor) -> None:
    page = forester.page
    page.get_by_role("link", name="Draw it").click()
    page.get_by_label("Name", exact=True).fill("First wood")
    page.get_by_role("button", name="Draw", exact=True).click()
    click_map(page, (300, 200), (500, 210), (480, 400))
    assert hectares(page) > 0  # while drawing
    click_map(page, (310, 390), (300, 200))
    drawn = hectares(page)
    assert geometry_of(page)["type"] == "Polygon"
    forester.press("Create project")
    page.wait_for_url("**/projects/proj_*")
    assert forester.heading == "First wood"
    shown = float(re.sub(r"[^\d.]", "", page.locator(".big").inner_text()))
    assert shown == pytest.approx(drawn, rel=1e-6)
    forester.go("/projects")
    expect(page.locator(".project-list li")).to_have_count(1)


@pytest.mark.trial
def test_holes_parts_undo_and_redo(forester: Visitor) -> None:
    page = forester.page
    forester.go("/projects/new")
    settle(forester)
    tools = page.locator("#tools")
    tools.get_by_label("Draw", exact=True).click()
    click_map(page, (200, 150), (600, 150), (600, 500), (200, 500), (200, 150))
    whole = hectares(page)
    tools.get_by_label("Cut a hole").click()
    click_map(page, (300, 250), (400, 250), (400, 350), (300, 250))
    expect(page.locator("#report .area")).not_to_have_text(re.compile(f"{whole:,.2f}"))
    assert len(geometry_of(page)["coordinates"]) == 2  # type: ignore[arg-type]
    assert hectares(page) < whole
    tools.get_by_label("Undo").click()
    assert len(geometry_of(page)["coordinates"]) == 1  # type: ignore[arg-type]
    tools.get_by_label("Redo").click()
    assert len(geometry_of(page)["coordinates"]) == 2  # type: ignore[arg-type]
    tools.get_by_label("Draw", exact=True).click()
    click_map(page, (650, 200), (720, 200), (720, 300), (650, 200))
    assert geometry_of(page)["type"] == "MultiPolygon"
    tools.get_by_label("Draw", exact=True).click()
    expect(tools.get_by_label("Undo")).to_be_disabled()
    click_map(page, (650, 400))
    tools.get_by_label("Undo").click()
    expect(tools.get_by_label("Draw", exact=True)).to_have_attribute("aria-pressed", "false")
    page.locator("#map").click(position={"x": 710, "y": 220})
    expect(tools.get_by_label("Corners")).to_have_attribute("aria-pressed", "true")
    tools.get_by_label("Corners").click()
    tools.get_by_label("Remove a part").click()
    page.locator("#map").click(position={"x": 710, "y": 220})
    assert geometry_of(page)["type"] == "Polygon"


@pytest.mark.slow
def test_a_fault_is_marked_where_it_is_and_mended(forester: Visitor) -> None:
    page = forester.page
    forester.go("/projects/new")
    page.locator("#name").fill("Crossed")
    page.locator(".as-text summary").click()
    text = page.locator("#geometry")
    text.fill("POLYGON((10 50, 10.1 50.1, 10.1 50, 10 50.1, 10 50))")
    forester.press("Create project")  # at once, before the text is on the map
    expect(page.locator("#editor-form [role=alert]")).to_be_visible()
    expect(page.locator("#report .problems")).to_contain_text("Two sides cross or touch here")
    expect(page.locator("path.fault")).to_have_count(1)
    expect(page.locator("path.drawn")).to_have_count(1)
    expect(page.locator("#tools").get_by_label("Draw", exact=True)).to_be_enabled()
    page.locator("#geometry").fill("POLYGON((10 50, 10.1 50, 10.1 50.1, 10 50.1, 10 50))")
    page.locator("#geometry").blur()
    assert hectares(page) > 7_000
    expect(page.locator("path.fault")).to_have_count(0)
    forester.press("Create project")
    page.wait_for_url("**/projects/proj_*")


@pytest.mark.slow
def test_a_place_is_said_and_asked_about(forester: Owner) -> None:
    """Of a wood in Romania, pasted with its numbers swapped, in the view that one came from."""
    corner = (22.96, 46.45)
    other = forester.post("/v1/projects", name="Neighbor", geometry=square(*corner, 0.01))
    page = forester.go("/projects")
    settle(forester)
    page.locator(".project-list li").hover()
    expect(page.locator(".leaflet-tooltip")).to_contain_text("In Romania, ")
    page.locator("#map").focus()
    before = page.url
    press_until(page, "+", lambda: page.url != before)
    new = page.get_by_role("link", name="New project")
    view = new.evaluate("link => (link.click(), location.hash)")  # the map may still move
    page.wait_for_url(f"**/projects/new{view}")
    expect(page.locator("path.neighbor")).to_have_count(1)
    assert page.locator("#cancel").get_attribute("href").endswith(f"/projects{view}")
    page.locator(".as-text summary").click()
    page.locator("#geometry").fill("POLYGON((46.45 22.97, 46.45 22.98, 46.46 22.98, 46.45 22.97))")
    page.locator("#name").fill("Albac")
    page.locator("#geometry").focus()
    forester.press("Create project")
    report = page.locator("#report")
    expect(report).to_contain_text("None of your projects is in Saudi Arabia.")
    expect(report).to_contain_text("press the button again")
    report.get_by_role("button", name="Swap latitude and longitude").click()
    expect(report).to_contain_text("In Romania, ")
    expect(report.get_by_role("button")).to_have_count(0)
    assert [22.98, 46.46] in geometry_of(page)["coordinates"][0]  # type: ignore[index]
    forester.press("Create project")
    page.wait_for_url("**/projects/proj_*")
    expect(page.locator(".facts")).to_contain_text("In Romania, ")
    assert page.locator(".path a").get_attribute("href").endswith(f"/projects{view}")
    page.locator("path.neighbor").hover()
    expect(page.locator(".leaflet-tooltip")).to_have_text("Neighbor")
    page.locator("path.neighbor").click()
    page.wait_for_url(f"**/projects/{other['id']}")


@pytest.mark.trial
def test_a_conflict_is_shown_with_the_difference(forester: Owner) -> None:
    path = f"/projects/{forester.post('/v1/projects', name='Disputed', geometry=square())['id']}"
    page = forester.go(f"{path}/edit")
    settle(forester)
    other = forester.context.new_page()
    other.goto(f"{forester.instance.url}{path}/edit")
    other.wait_for_load_state("networkidle")
    other.locator(".as-text summary").click()
    other.locator("#geometry").fill(json.dumps(square(size=0.2)))
    other.locator("#geometry").blur()
    other.get_by_role("button", name="Save").click()
    other.wait_for_url(f"**{path}")
    other.close()
    page.locator("#name").fill("Mine")
    forester.press("Save")
    conflict = page.locator("[data-conflict]")
    expect(conflict).to_contain_text("has saved this project")
    expect(conflict).to_contain_text("Disputed")
    expect(page.locator("#conflict-boundary")).to_be_visible()
    forester.press("Save")
    page.wait_for_url(f"**{path}")
    assert forester.heading == "Mine"


@pytest.mark.trial
def test_nothing_is_lost_when_the_connection_or_the_session_ends(forester: Visitor) -> None:
    page = forester.page
    forester.go("/projects/new")
    settle(forester)
    page.locator("#name").fill("Kept")
    page.locator(".as-text summary").click()
    page.locator("#geometry").fill(json.dumps(square()))
    page.locator("#geometry").blur()
    hectares(page)
    forester.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    forester.context.set_offline(True)
    forester.press("Create project")
    expect(page.locator(".toast")).to_contain_text("No connection")
    forester.context.set_offline(False)
    page.locator("#name").evaluate("field => { field.value = 'x'.repeat(3_000); }")
    forester.press("Create project")
    expect(page.locator(".toast").last).to_contain_text("“name” has more than 2,000 characters")
    page.locator("#name").fill("Kept")
    account = page.locator("#editor-form [name=account]")
    own = account.input_value()
    account.evaluate("field => { field.value = 'of another tab'; }")
    forester.press("Create project")
    expect(page.locator(".toast").last).to_contain_text("This form is for another account")
    account.evaluate("(field, own) => { field.value = own; }", own)
    cookies = forester.context.cookies()
    forester.context.clear_cookies(name="canopy_session")
    forester.press("Create project")
    expect(page.locator(".toast").last).to_contain_text("You are signed out")
    forester.context.add_cookies(cookies)  # type: ignore[arg-type]
    forester.go("/projects/new")
    page.get_by_role("button", name="Continue with it").click()
    assert page.locator("#name").input_value() == "Kept"
    assert hectares(page) > 7_000
    forester.press("Create project")
    page.wait_for_url("**/projects/proj_*")
    forester.go("/projects/new")
    expect(page.locator("#kept-work")).to_be_hidden()


@pytest.mark.trial
def test_what_was_cancelled_is_offered_again(forester: Visitor) -> None:
    page = forester.go("/projects/new")
    settle(forester)
    page.locator("#name").fill("Left by mistake")
    kept = "Object.values(localStorage).some(text => text.includes('Left by mistake'))"
    wait_for(lambda: page.evaluate(kept))
    page.locator("#cancel").click()
    page.wait_for_url("**/projects")
    forester.go("/projects/new")
    page.get_by_role("button", name="Continue with it").click()
    assert page.locator("#name").input_value() == "Left by mistake"
    forester.go("/projects/new")
    page.get_by_role("button", name="Discard it").click()
    forester.go("/projects/new")
    expect(page.locator("#kept-work")).to_be_hidden()


def box_of(page: Page, selector: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of an element."""
    box = page.locator(selector).bounding_box()
    assert box is not None, selector
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


@pytest.mark.slow
def test_a_project_is_printed_whole_on_one_sheet(
    forester: Owner, subtests: pytest.Subtests
) -> None:
    """Also after its boundary was restored, with the map elsewhere, and in dark colors."""
    fiji = multi_square((179.99, -17), (-180, -17), size=0.01)
    wood = forester.post("/v1/projects", name="Wood", geometry=square(10, 50, 0.1))
    ids = {
        "restored": wood["id"],
        "antimeridian": forester.post("/v1/projects", name="Fiji", geometry=fiji)["id"],
        "no boundary": forester.post("/v1/projects", name="Bare")["id"],
    }
    headers = {"Authorization": f"Bearer {forester.key}"}
    address = f"{forester.instance.url}/v1/projects/{wood['id']}"
    changed = {"geometry": square(10, 50, 0.2)}
    assert forester.context.request.put(address, headers=headers, data=changed).ok
    page = forester.go(f"/projects/{wood['id']}")
    page.get_by_role("button", name="Restore…").click()
    page.locator("[popover]:popover-open").get_by_role("button", name="Restore").click()
    expect(page.locator(".notice")).to_have_text("Boundary restored.")
    forester.choose("You", "Dark")
    for name, project_id in ids.items():
        page.emulate_media(media="screen")
        forester.go(f"/projects/{project_id}")
        settle(forester)
        if name == "restored":
            page.locator("#map").focus()
            for key in ("+", "+", "ArrowLeft"):
                page.keyboard.press(key)
        page.get_by_role("button", name="Download").click()  # a menu that is open
        for paper, width, height in PAPERS if name == "restored" else PAPERS[:1]:
            for is_landscape in (False, True) if name == "restored" else (False,):
                page.emulate_media(media="null")
                with subtests.test(name, paper=paper, landscape=is_landscape):
                    sheet = page.pdf(
                        format=paper, landscape=is_landscape, margin=dict.fromkeys(SIDES, "10mm")
                    )
                    assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
                    sizes = [round((side - 20) / 25.4 * 96) for side in (width, height)]
                    across, down = reversed(sizes) if is_landscape else sizes
                    page.set_viewport_size({"width": across, "height": down})
                    page.emulate_media(media="print")
                    assert_sheet(page, across, has_boundary=name != "no boundary")


def assert_sheet(page: Page, width: int, *, has_boundary: bool) -> None:
    """Assert that a page is as paper should have it."""
    for pressed in page.locator("button, .button, [popover], header, .toast, .notice").all():
        assert not pressed.is_visible(), pressed.evaluate("element => element.outerHTML")
    text = page.locator("body").inner_text()
    assert re.search(r"Canopy · Hazel Woods · as of \w+", text)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 39, 32)"
    if has_boundary:
        assert re.search(r"\d km\n", text)
        assert "by API" in text
        left, top, right, bottom = box_of(page, ".drawing svg")
        west, north, east, south = box_of(page, ".drawing .forest")
        assert 0 <= left < west < east < right <= width
        assert top < north < south < bottom
        assert max((east - west) / (right - left), (south - north) / (bottom - top)) > 0.8


@pytest.mark.slow
def test_a_map_goes_to_towns_and_positions(forester: Visitor) -> None:
    page = forester.go("/projects/new")
    settle(forester)
    button = page.get_by_role("button", name="Go to a place")
    field = page.get_by_role("combobox", name="Town, country, project or coordinates")
    options = page.get_by_role("listbox", name="Places").get_by_role("option")
    message = page.locator("#go-to-message")

    def center() -> list[float]:
        page.locator("#map").hover()
        return [float(each) for each in re.findall(r"[\d.]+", page.inner_text(".map-coordinates"))]

    button.click()
    for text in ("Nowhereland", "91.5, 200.1"):
        field.fill(text)
        field.press("Enter")
        expect(message).not_to_be_empty()
    expect(page.locator(".toast")).to_have_count(0)
    field.press_sequentially("albac")
    expect(message).to_be_empty()
    field.fill("albac")
    expect(options.first).to_contain_text("Albac")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "go-to-0")
    field.press("Enter")
    expect(field).to_be_hidden()
    pin = page.get_by_role("button", name="Albac: remove the pin")
    expect(page.locator(".leaflet-tooltip", has_text="Albac")).to_be_visible()
    assert center() == pytest.approx((46.452, 22.952), abs=0.02)
    button.click()
    field.fill("22.88, 45.36")
    expect(options).to_have_count(2)
    for country in ("Saudi Arabia", "Romania"):
        expect(options.filter(has_text=f"In {country}, ")).to_have_count(1)
    options.filter(has_text="In Romania").click()
    expect(pin).to_have_count(0)  # there is one at a time
    assert center() == pytest.approx((45.36, 22.88), abs=0.02)
    page.get_by_role("button", name="remove the pin").press("Enter")
    expect(page.locator(".go-to-pin")).to_have_count(0)


@pytest.mark.slow
def test_the_list_follows_the_map_and_the_map_the_list(forester: Owner) -> None:
    forester.post("/v1/projects", name="West", geometry=square(10, 50))
    forester.post("/v1/projects", name="East", geometry=square(12, 50))
    page = forester.go("/projects")
    settle(forester)
    rows = page.locator(".project-list li")
    expect(rows).to_have_count(2)
    page.get_by_label("Search by name, description or external ID").fill("wes")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("search=wes"))
    page.get_by_role("button", name="Export this project").click()
    with page.expect_download():
        page.get_by_role("link", name="CSV").click()
    expect(page.locator("#export-menu")).to_be_hidden()
    page.get_by_label("Search by name, description or external ID").fill("")
    expect(rows).to_have_count(2)
    page.get_by_label("Only what the map shows").check()
    page.locator("#map").focus()
    for _ in range(3):
        page.keyboard.press("+")
        page.wait_for_timeout(400)
    press_until(page, "ArrowLeft", lambda: rows.count() != 2)
    settle(forester)
    shared = page.url
    assert "bbox=" in shared
    count = rows.count()
    other = forester.context.new_page()
    other.goto(shared)
    other.wait_for_load_state("networkidle")
    expect(other.locator(".project-list li")).to_have_count(count)
    other.close()


@pytest.mark.trial
def test_a_shape_is_hovered_clicked_and_opened(forester: Owner) -> None:
    path = f"/projects/{forester.post('/v1/projects', name='Only one', geometry=square())['id']}"
    page = forester.go("/projects")
    settle(forester)
    box = page.locator("#map").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".leaflet-tooltip")).to_contain_text("Only one")
    page.mouse.down()
    page.mouse.up()
    page.locator(".leaflet-popup a", has_text="Only one").click()
    page.wait_for_url(f"**{path}")


@pytest.mark.trial
def test_light_and_dark_by_choice(forester: Visitor) -> None:
    page = forester.go("/projects")
    forester.choose("You", "Dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    forester.go("/docs")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
