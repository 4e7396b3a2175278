"""The pages on which people work on their forests, in all their states."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

from playwright.sync_api import Page

from tests.browser.conftest import Visitor
from tests.make.features import collection, feature
from tests.make.geometry import multi_square, square
from tests.waiting import PATIENCE

Scene = tuple[str, Visitor]
_HOSTILE = ('<b>Bold</b> & "quoted"', "مشروع الغابة القديمة", "Unbroken" * 25)
_BOW_TIE = "POLYGON((10 50, 10.1 50.1, 10.1 50, 10 50.1, 10 50))"


def forests(visitor: Visitor) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor, who has an account without projects."""
    visitor.go("/projects")
    settle(visitor)
    yield "projects, none", visitor
    visitor.go("/projects/new")
    settle(visitor)
    yield "new project", visitor
    visitor.page.locator(".as-text summary").click()
    visitor.page.locator("#geometry").fill(_BOW_TIE)
    visitor.page.locator("#save").click()
    visitor.page.locator("[aria-invalid]").first.wait_for()
    settle(visitor)
    yield "new project with errors", visitor
    visitor.go("/eudr")
    yield "EUDR, none", visitor
    project = _projects(visitor)
    visitor.go("/eudr?holes=refuse")
    settle(visitor)
    yield "EUDR, to complete", visitor
    yield from _lists(visitor)
    yield from _project(visitor, project)
    yield from _assets(visitor, project)
    yield from _imports(visitor)
    visitor.go("/members")
    visitor.fill(email="nobody")
    visitor.press("Send the invitation")
    yield "members with error", visitor
    visitor.go("/welcome")
    visitor.press("Create a key")
    yield "first steps with a key", visitor


def _assets(visitor: Visitor, project: str) -> Iterator[Scene]:
    page = visitor.go("/assets")
    settle(visitor)
    yield "assets, none", visitor
    new = f"/assets/new?project_id={project.rpartition('/')[2]}"
    visitor.go(new)
    settle(visitor)
    yield "new asset", visitor
    visitor.fill(name="", latitude="north", longitude="8")
    visitor.press("Create")
    page.locator("[aria-invalid]").first.wait_for()
    settle(visitor)
    yield "new asset with errors", visitor
    for name in (*_HOSTILE, "Camera"):
        visitor.go(new)
        visitor.fill(name=name, type="equipment", latitude="50.6", longitude="10.1")
        visitor.press("Create")
        page.wait_for_url("**/assets/proj_*/asset_*")
    settle(visitor)
    yield "asset", visitor
    visitor.go("/assets")
    settle(visitor)
    yield "assets", visitor


def _imports(visitor: Visitor) -> Iterator[Scene]:
    page = visitor.go("/imports")
    yield "imports, none", visitor
    visitor.go("/imports/new")
    settle(visitor)
    yield "new import", visitor
    _upload(visitor, b'{"type": "FeatureCollection", "features": [', "Failed")
    yield "import, failed", visitor
    features = [feature(square(10 + n / 5, 51), name=name) for n, name in enumerate(_HOSTILE)]
    bow_tie = {"type": "Polygon", "coordinates": [square(12, 51)["coordinates"][0][:3] * 2]}
    file = collection(*features, feature(bow_tie, name="Wrong"))
    _upload(visitor, file, "Rejected (1)")
    yield "import, ready", visitor
    page.get_by_role("button", name="Apply").click()
    _reload_until(visitor, "Undo import…")
    yield "import, applied", visitor
    meters = "plot,x,y\n" + "".join(f"P{n // 4},{5e5 + n},565{n}000\n" for n in range(8))
    _upload(visitor, meters.encode(), "Which coordinate system is it in?")
    yield "import, asked for its coordinate system", visitor
    visitor.go("/imports")
    yield "imports", visitor


def _upload(visitor: Visitor, file: bytes, outcome: str) -> None:
    """Upload a file of projects, and wait until the page of its import shows a text."""
    page = visitor.go("/imports/new")
    page.set_input_files(
        "#file", {"name": "forests.geojson", "mimeType": "application/geo+json", "buffer": file}
    )
    visitor.press("Upload")
    page.wait_for_url("**/imports/imp_*")
    _reload_until(visitor, outcome)


def _reload_until(visitor: Visitor, text: str) -> None:
    path, deadline = visitor.path, time.monotonic() + PATIENCE
    while not visitor.page.get_by_text(text).count():
        assert time.monotonic() < deadline, f"no {text} on {path}"
        visitor.page.wait_for_timeout(500)
        visitor.go(path)
    settle(visitor)


def settle(visitor: Visitor) -> None:
    """Wait until maps have drawn what they load, where there are scripts."""
    visitor.page.wait_for_load_state("networkidle")
    visitor.page.wait_for_timeout(300)


def press_until(page: Page, key: str, is_so: Callable[[], object]) -> None:
    """Press a key of the map again and again: it takes none while it moves."""
    for _ in range(100):
        page.keyboard.press(key)
        page.wait_for_timeout(400)
        if is_so():
            return
    raise AssertionError(f"{key} does not do it")


def create(visitor: Visitor, **fields: str) -> str:
    """Create a project by the form of its page. Returns the path of its own page."""
    visitor.go("/projects/new")
    page = visitor.page
    page.locator("#name").fill(fields.pop("name"))
    if "geometry" in fields and not page.locator("#geometry").is_visible():
        page.locator(".as-text summary").click()
    if fields.keys() - {"geometry"}:
        page.locator(".more-fields summary").click()
    for name, text in fields.items():
        page.locator(f"#{name}").fill(text)
    page.locator("#save").click()
    page.wait_for_url("**/projects/proj_*")
    return visitor.path.removesuffix("?saved")


def _projects(visitor: Visitor) -> str:
    """Make several projects. Returns the path of one that has everything."""
    for number, name in enumerate(_HOSTILE):
        create(visitor, name=name, geometry=json.dumps(square(10 + number / 2, 50.5)))
    return create(
        visitor,
        name="Hazel dell",
        external_id="HD-17",
        description="Beside the river.\nPlanted in 1998.",
        geometry=json.dumps(multi_square((10.05, 50.55), (10.4, 50.7), size=0.2)),
    )


def _lists(visitor: Visitor) -> Iterator[Scene]:
    visitor.go("/projects")
    settle(visitor)
    yield "projects", visitor
    visitor.page.locator("input[name=ids]").first.check()
    yield "projects, one selected", visitor
    visitor.page.locator(".project-list a").first.focus()
    visitor.page.locator(".leaflet-tooltip p:not(:empty)").wait_for()
    yield "projects, where one lies", visitor
    visitor.go("/projects/new")
    visitor.page.locator(".as-text summary").click()
    visitor.page.locator("#geometry").fill(json.dumps(square(50.55, 10.05)))
    visitor.page.locator("#geometry").blur()
    visitor.page.locator("#report .notice").wait_for()
    settle(visitor)
    yield "new project, in an unexpected place", visitor
    visitor.go("/projects?search=nothing+like+it")
    settle(visitor)
    yield "projects, nothing found", visitor
    if visitor.page.get_by_role("button", name="Menu").is_visible():
        visitor.page.get_by_role("button", name="Menu").click()
    else:
        visitor.page.get_by_role("button", name="You, Jo Hazel").click()
    yield "menu", visitor


def _project(visitor: Visitor, path: str) -> Iterator[Scene]:
    page = visitor.go(path)
    settle(visitor)
    yield "project", visitor
    visitor.go(f"{path}/edit")
    settle(visitor)
    yield "edit project", visitor
    other = visitor.context.new_page()
    other.goto(f"{visitor.instance.url}{path}/edit")
    other.wait_for_load_state("networkidle")
    other.locator("#description").fill("Changed by somebody else.")
    other.locator("#geometry").evaluate("(e, text) => (e.value = text)", json.dumps(square()))
    other.locator("#save").click()
    other.wait_for_url(f"**{path}")
    other.close()
    page.locator("#name").fill("Hazel valley")
    page.locator("#save").click()
    page.locator("[data-conflict]").wait_for()
    settle(visitor)
    yield "edit project, conflict", visitor
    visitor.go(path)
    settle(visitor)
    yield "project with a history", visitor
    if page.locator("[data-show-boundary]").first.is_visible():  # on a phone it is not
        page.locator("[data-show-boundary]").first.click()
        page.locator("#difference-note button").wait_for()
        settle(visitor)
        yield "project with a difference", visitor
        page.locator("#difference-note button").click()
    visitor.press("Archive")
    page.get_by_role("button", name="Delete…").click()
    yield "project, to be deleted", visitor
    visitor.press("Keep it")
    visitor.press("Restore")
