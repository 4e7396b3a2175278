"""Which plots the page for the EUDR is for, and that no file leaves by another page unchecked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import delete

from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.valkey import valkey
from app.models import Import
from app.pages.eudr import choices
from tests.eudr.validator import faults_of
from tests.imports.making import act, ready
from tests.make import Browser, Client, make_asset, make_project, point, square
from tests.make.browser import Page
from tests.make.features import feature
from tests.pages.support import post
from tests.pages.test_eudr import AREA, COUNTRY, NAME, OWN, PLACE, metadata, plot, send


def followed(browser: Browser, page: Page) -> tuple[str, Page]:
    """The address that a page leads to, and the page there."""
    assert page.status == 303, page.text
    address = page.response.headers["Location"]
    return address, browser.get(address)


def file_of(browser: Browser, page: Page) -> bytes:
    """The file that a page of plots offers."""
    (link,) = [each for each in page.links if each.startswith("/eudr/download")]
    return browser.get(link).response.data


def plots_of(browser: Browser, page: Page) -> list[Any]:
    """The features of the file that a page of plots offers."""
    return list(json.loads(file_of(browser, page))["features"])


def test_an_import_is_completed_alone(client: Client, browser: Browser) -> None:
    others = [plot(client, n)["id"] for n in range(3)]
    fields = (feature(square(-2 + n / 50, 6.7, size=0.002), name=f"Field {n}") for n in range(2))
    record = ready(client, *fields)
    act(client, record, "apply")
    (first, _) = client.get(f"/v1/projects?import_id={record['id']}").json["data"]
    make_asset(client, first["id"], type="plot", location=point(-2, 6.7))  # later, and by hand
    (link,) = [
        each for each in browser.get(f"/imports/{record['id']}").links if "import_id" in each
    ]
    page = browser.get(link)
    assert "Only the 2 projects of the import “forests.geojson”" in page.text
    some = browser.get(f"{link}&ids={first['id']},{others[0]}").text
    assert "Only the project that you chose of the import “forests.geojson”" in some
    assert "Set GH for the 2 that lie in Ghana" in page.text
    send(browser, "country_missing", link.removeprefix("/eudr"), set="GH")
    assert [metadata(client, each) for each in others] == [{}] * 3
    found: Any = client.get(f"/v1/projects?import_id={record['id']}").json
    assert [each["metadata"] for each in found["data"]] == [{COUNTRY: "GH"}] * 2
    assert len(plots_of(browser, browser.get(link))) == 2
    with client.app.app_context(), transaction():
        db.session.execute(delete(Import).where(Import.account_id == client.account_id))
    assert "the 2 projects of an import that is no longer listed" in browser.get(link).text


def test_an_import_of_points_is_completed_alone(client: Client, browser: Browser) -> None:
    project = plot(client, metadata=OWN)["id"]
    make_asset(client, project, type="plot", location=point(-2.5, 6.5))
    fields = (feature(point(-2 - n / 50, 6.7), ProductionPlace=f"Field {n}") for n in range(2))
    record = ready(client, *fields, kind="assets", project_id=project)
    act(client, record, "apply")
    links = browser.get(f"/imports/{record['id']}").links
    (link,) = [each for each in links if "import_id" in each]
    page = browser.get(link)
    assert "Only the 2 plots of the import" in page.text
    assert "It would hold 2 plots" in page.text
    record = ready(client, feature(point(), name="Mast"), kind="assets", project_id=project)
    act(client, record, "apply")
    assert "Complete the plots" not in browser.get(f"/imports/{record['id']}").text


def test_what_is_ticked_is_checked_and_nothing_else(client: Client, browser: Browser) -> None:
    bad, other = plot(client, 0, metadata={NAME: "Ama"})["id"], plot(client, 1)["id"]
    good = plot(client, 2, metadata=OWN)["id"]
    client.post(f"/v1/projects/{bad}/archive")
    for ids in ([bad], [bad, good]):
        page = post(browser, "/projects/export", format="eudr", ids=ids)
        address, page = followed(browser, page)
        assert ("the project that" if len(ids) == 1 else "the 2 projects that") in page.text
        assert "1 thing to complete" in page.text
        assert followed(browser, post(browser, "/eudr", ids=ids))[0] == address
        assert browser.get(address.replace("?", "/download?")).status == 400
    send(browser, "country_missing", address.removeprefix("/eudr"), which="all", value="GH")
    assert COUNTRY not in metadata(client, other)
    _, page = followed(browser, post(browser, "/projects/export", format="eudr", ids=[bad, good]))
    assert faults_of(file_of(browser, page), variant=2) == []
    assert len(plots_of(browser, page)) == 2


def test_every_door_of_the_pages_leads_to_the_same_list(client: Client, browser: Browser) -> None:
    """A project's menu, a filter, the list of assets."""
    made = plot(client, name="Oak", metadata=OWN | {AREA: 0})["id"]
    plot(client, 1, name="Fir", metadata=OWN | {COUNTRY: "XX"})
    small = make_asset(client, made, type="plot", location=point(-2.5, 6.5), name="Small")["id"]
    make_asset(client, made, type="plot", location=point(-2.6, 6.5), name="Other", metadata=OWN)
    for path, titles in (
        (f"/projects/export?ids={made}&format=eudr", ("The area is too small 1 plot",)),
        ("/projects/export?search=oak&format=eudr", ("The area is too small 1 plot",)),
        ("/projects/export?bbox=-3,6,-1,7&format=eudr", ("is not a country code 1 plot",)),
        ("/assets/export?search=small&format=eudr",
         ("Only the plot that you chose", "country of production is missing 1 plot")),
        (f"/assets/export?ids={small}&format=eudr",
         ("Only the plot that you chose", "country of production is missing 1 plot")),
    ):  # fmt: skip
        page = browser.get(path)
        for title in titles:
            assert title in page.text, path
    page = browser.get("/assets/export?search=other&format=eudr")
    assert [each["properties"][NAME] for each in plots_of(browser, page)] == [OWN[NAME]]
    other = make_project(client, metadata=OWN | {"CadastralIdentifier": "7"})["id"]
    page = browser.get(f"/projects/export?ids={other}&format=eudr_simplified")
    assert "Ready: 1 plot of 1 producer in Ghana, " in page.text  # without a boundary
    assert file_of(browser, page).decode().splitlines()[1].startswith('Ama Mensah,GH,"7",,,,Tepa,')
    page = browser.get(f"/projects/export?ids={made}&format=eudr_simplified")
    assert "The place is missing" in page.text
    assert "micro and small primary operators" in page.text


def test_many_that_are_ticked_are_kept_for_an_hour(
    client: Client, browser: Browser, viewer: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [plot(client, n, metadata=OWN)["id"] for n in range(3)]
    plot(client, 5)
    monkeypatch.setattr(choices, "LIST_IDS", 2)
    address, page = followed(browser, post(browser, "/eudr", ids=ids))
    assert address.startswith("/eudr?selection=sel_")
    assert "Only the 3 projects that you chose" in page.text
    assert "Ready: 3 plots" in page.text
    assert len(plots_of(browser, page)) == 3
    assert viewer.get(address).status == 400  # it is another person's
    with client.app.app_context():
        (key,) = valkey().client.keys(f"canopy:selection:{client.account_id}:*")
        assert 0 < valkey().client.ttl(key) <= 3600
        valkey().client.delete(key)
    for path in (address, address.replace("?", "/download?"), "/eudr?selection=x"):
        gone = browser.get(path)
        assert gone.status == 400
        assert "is kept for an hour, and is gone" in gone.text
    monkeypatch.setattr(choices, "SELECTED_IDS", 2)
    assert post(browser, "/eudr", ids=ids).status == 400
    assert post(browser, "/eudr").status == 400


def test_wrong_choices_never_become_all_plots(client: Client, browser: Browser) -> None:
    plot(client)
    for query in ("ids=" + ",".join(["x"] * 101), "import_id=imp_1", "ids=,"):
        assert browser.get(f"/eudr?{query}").status == 400, query
        assert post(browser, f"/eudr/fill?{query}", code="producer_missing", which="all",
                    value="x").status == 400  # fmt: skip
    unknown = "imp_01k9zq5n0c3f8v2gq7w6r4x1yt"
    assert "No plots match" in browser.get(f"/eudr?import_id={unknown}").text


def test_the_producers_are_in_a_column(client: Client, browser: Browser) -> None:
    own = {COUNTRY: "GH", PLACE: "Tepa"}
    for n in range(2):
        plot(client, n, metadata=own | {"farmer": f"Farmer {n}"})
    page = browser.get("/eudr")
    assert "take them in this file from a column: farmer (2)" in page.text
    assert "/eudr?producer_key=farmer" in page.links
    page = browser.get("/eudr?producer_key=farmer")
    assert "Ready: 2 plots of 2 producers" in page.text
    assert "The producer is missing" not in page.text
    plots = plots_of(browser, page)
    assert {each["properties"][NAME] for each in plots} == {"Farmer 0", "Farmer 1"}


def test_the_reference_number_is_kept_with_the_plots_of_a_file(
    client: Client, browser: Browser
) -> None:
    ids = [plot(client, n, metadata=OWN)["id"] for n in range(2)]
    other = plot(client, 2, name="Other")["id"]
    address = f"/eudr?ids={','.join(ids)}"
    page = browser.get(address)
    (form,) = [each for each in page.forms if each.fields.get("field") == "StatementReference"]
    sent: dict[str, Any] = form.fields | {"value": "26FIXX1234", "which": "all"}
    assert browser.send(form.action, **sent).status == 303
    assert [metadata(client, each)["StatementReference"] for each in ids] == ["26FIXX1234"] * 2
    assert metadata(client, other) == {}


def test_what_is_split_and_rounded_is_said_in_the_open(client: Client, browser: Browser) -> None:
    outer = square(-2, 6.5, size=0.002)["coordinates"][0]
    hole = square(-1.9995, 6.5005, size=0.001)["coordinates"][0][::-1]
    plot(client, geometry={"type": "Polygon", "coordinates": [outer, hole]}, metadata=OWN)
    plot(client, 1, geometry=square(-1.9000001, 6.5, size=0.002), metadata=OWN)
    page = browser.get("/eudr")
    assert (
        "2 projects become 3 plots: 1 hole is left out, and splits its plot; positions of 1 are "
        "rounded to six decimals, by at most 8 centimeters."
    ) in page.text
    assert "2 projects become 2 plots: 1 hole is filled;" in browser.get("/eudr?holes=ignore").text
