"""The pages of operators in all their states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, expect

from app.basemap.own import FILE
from config import load_settings
from tests.basemap.planet import LAND, make_planet
from tests.browser.conftest import Instance, Owner, Visitor, sign_up
from tests.browser.second_factor import forget_confirmations
from tests.browser.tiles import instance_beside, instance_with_layers, tile_of, tile_server
from tests.make import new_email, square
from tests.make.browser import PASSWORD

Scene = tuple[str, Visitor]
_LONG = "Canopy is upgraded on Sunday. Save your work before.\n" + "Unbroken" * 40


def operator_scenes(chrome: Browser, instance: Instance, **options: Any) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor who sees it. In the end nothing is set."""
    visitor, stranger = Visitor(chrome, instance, **options), Visitor(chrome, instance, **options)
    email = new_email()
    sign_up(visitor, email, "Unbroken" * 12)
    visitor.go("/operator")
    yield "operator, refused", visitor
    instance.canopy("operator", "add", email)
    yield from _overview(visitor)
    forget_confirmations(instance)
    yield from _lists(visitor)
    yield from _maps(visitor)
    yield from _message(visitor, stranger)
    visitor.leave()
    stranger.leave()


def confirm(visitor: Visitor) -> None:
    """Give the password where it is asked for."""
    if visitor.heading == "Confirm that it is you":
        visitor.fill(confirm_password=PASSWORD)
        visitor.press("Continue")


def _overview(visitor: Visitor) -> Iterator[Scene]:
    page = visitor.go("/operator")
    page.get_by_role("button", name="Check now").or_(page.get_by_text("Checking…")).wait_for()
    yield "operator", visitor
    if page.get_by_role("button", name="Check now").is_visible():
        visitor.press("Check now")
    expect(page.get_by_text("Checked less than a minute ago")).to_be_visible(timeout=60_000)
    page.locator("#others summary").click()
    yield "operator, all findings", visitor
    visitor.press("Show the message")
    page.get_by_text("Required.").wait_for()
    yield "operator, message with errors", visitor


def _lists(visitor: Visitor) -> Iterator[Scene]:
    visitor.go("/operator/mails")
    yield "operator, emails", visitor
    page = visitor.go("/operator/accounts")
    yield "operator, accounts", visitor
    page.locator(".listed a").first.click()
    page.get_by_role("button", name="Change the plan").wait_for()
    yield "operator, account", visitor
    page.locator("#plan").select_option("pro")
    visitor.press("Change the plan")
    page.get_by_text("For your security, confirm that it is you").wait_for()
    yield "operator, confirmed by password", visitor
    confirm(visitor)
    page.get_by_text("The plan is now pro.").wait_for()
    visitor.go("/operator/people")
    yield "operator, people", visitor
    page = visitor.go("/operator/log")
    page.locator(".entry summary").first.click()
    yield "operator, log", visitor
    visitor.go("/operator/log?action=instance.restored&since=yesterday")
    yield "operator, log with wrong filters", visitor


def _maps(visitor: Visitor) -> Iterator[Scene]:
    visitor.expected.append("https://tile.openstreetmap.org/")
    picture = {"content_type": "image/png", "body": tile_of("osm")}
    visitor.context.route("https://tile.openstreetmap.org/**", lambda tile: tile.fulfill(**picture))
    visitor.go("/operator/map?sample=osm")
    yield "operator, maps with a sample", visitor
    for name in ("OpenStreetMap", "OpenTopoMap"):
        visitor.press(f"Turn on {name}")
        confirm(visitor)
        visitor.page.get_by_text(f"{name} is on.").wait_for()
    yield "operator, maps with backgrounds", visitor
    visitor.go("/projects/new")
    visitor.page.locator(".map-layers summary").click()
    yield "map with its switch open", visitor
    for name in ("OpenStreetMap", "OpenTopoMap"):
        visitor.go("/operator/map")
        visitor.press(f"Turn off {name}")
        visitor.page.get_by_text(f"{name} is off.").wait_for()


def map_scenes(chrome: Browser, instance: Instance, **options: Any) -> Iterator[Scene]:
    """Maps with layers of the settings, and with one that does not come."""
    with (
        TemporaryDirectory() as folder,
        tile_server() as tiles,
        instance_with_layers(instance, Path(folder), tiles) as mapped,
    ):
        visitor = Owner(chrome, mapped, **options)
        visitor.expected.append(tiles.url)
        page = visitor.go("/projects")
        page.locator(".map-layers summary").click()
        page.get_by_label("Loss", exact=True).check()
        yield "map with an overlay", visitor
        page.get_by_role("button", name="Go to a place").click()
        places = page.get_by_role("combobox", name="Town, country")
        places.fill("22.88, 45.36")
        page.locator("#go-to-places li").first.wait_for()
        places.press("ArrowDown")
        yield "map with places to go to", visitor
        places.press("Enter")
        page.locator(".go-to-pin").wait_for()
        yield "map with a pin", visitor
        tiles.refused = {"roads", "loss"}
        visitor.go("/projects/new")
        page.locator(".layer-note", has_text="Roads").filter(has_text="Loss").wait_for()
        yield "map without its layers", visitor
        for number, species in enumerate(("oak", "beech")):
            place, metadata = square(22 + number / 50, 46, 0.01), {"species": species}
            visitor.post("/v1/projects", name=species, geometry=place, metadata=metadata)
        page = visitor.go("/projects?color_by=metadata.species")
        colors = page.locator("#colors")
        if colors.get_attribute("open") is None:  # on a phone
            colors.locator("summary").click()
        colors.locator("li", has_text="oak").wait_for()
        yield "map with its colors", visitor
        visitor.leave()
        make_planet(Path(folder, FILE))
        settings = replace(load_settings(instance.environment), instance_path=Path(folder))
        with instance_beside(instance, settings) as own:
            visitor = Owner(chrome, own, **options)
            latitude, longitude = (LAND[1] + LAND[3]) / 2, (LAND[0] + LAND[2]) / 2
            page = visitor.go(f"/projects#map=12/{latitude}/{longitude}")
            page.get_by_text("Protomaps").wait_for()
            page.locator(".map-layers summary").click()
            yield "map of one's own", visitor
            visitor.leave()


def _message(visitor: Visitor, stranger: Visitor) -> Iterator[Scene]:
    page = visitor.go("/operator")
    visitor.press("Close sign-up")
    confirm(visitor)
    page.get_by_text("Sign-up is closed.").wait_for()
    page.locator("[name=text]").fill(_LONG)
    page.get_by_label("Warning").check()
    visitor.press("Show the message")
    page.get_by_text("The message will appear on all pages").wait_for()
    yield "operator, closed and with a message", visitor
    stranger.go("/login")
    yield "sign in, closed and with a warning", stranger
    visitor.go("/docs")
    yield "reference with a message", visitor
    visitor.go("/operator")
    visitor.press("Remove the message")
    page.get_by_text("The message has been removed.").wait_for()
    visitor.press("Open sign-up")
    page.get_by_text("Sign-up is open again").wait_for()
