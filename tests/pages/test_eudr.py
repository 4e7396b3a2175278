"""The page of plots for the EUDR."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from unittest.mock import Mock

import pytest

from app.eudr import checking, report
from app.http.errors import Forbidden
from app.pages.eudr import filling, overview, views
from app.pages.eudr.overview import GROUP_PLOTS
from app.policy.request_limits import METADATA_BYTES
from tests.eudr.plots import fill, make_plots
from tests.eudr.validator import faults_of
from tests.geometry.expensive_shapes import squares_with_holes
from tests.make import (
    Browser,
    Client,
    make_asset,
    make_project,
    multi_square,
    point,
    square,
)
from tests.make.browser import Page
from tests.make.geometry import square_ring
from tests.pages.support import HOSTILE, post

NAME, COUNTRY, PLACE, AREA = "ProducerName", "ProducerCountry", "ProductionPlace", "Area"
OWN = {NAME: "Ama Mensah", COUNTRY: "GH", PLACE: "Tepa"}


def plot(client: Client, n: int = 0, **values: Any) -> dict[str, Any]:
    """A project with a small boundary in Ghana."""
    place = square(-2 + n / 100, 6.5, size=0.002)
    return make_project(client, **{"name": f"Plot {n}", "geometry": place, **values})


def metadata(client: Client, project_id: str, asset_id: str = "") -> dict[str, Any]:
    path = f"/v1/projects/{project_id}" + (f"/assets/{asset_id}" if asset_id else "")
    found: dict[str, Any] = client.get(path).json["data"]["metadata"] or {}
    return found


def send(browser: Browser, code: str, query: str = "", **fields: Any) -> Page:
    """Send the form of a group, and follow to the page that it leads to."""
    page = post(browser, f"/eudr/fill{query}", code=code, **fields)
    return browser.get(page.response.headers["Location"]) if page.status == 303 else page


def test_an_account_without_plots_is_told_what_to_do(browser: Browser, viewer: Browser) -> None:
    page = browser.get("/eudr")
    assert "No plots yet" in page.text
    assert {"/imports/new", "/projects/new"} <= set(page.links)
    assert "/imports/new" not in viewer.get("/eudr").links
    assert "No plot matches these choices" in browser.get("/eudr?search=beech").text


def test_a_complete_file_is_described_and_downloaded(client: Client, viewer: Browser) -> None:
    first = plot(client, metadata=OWN)
    assert "It is for one producer: upload it at the producer." in viewer.get("/eudr").text
    plot(client, 1, metadata=OWN | {NAME: "Kofi Osei"})
    make_asset(
        client, first["id"], type="plot", location=point(-2.5, 6.5), metadata=OWN | {AREA: 2}
    )
    page = viewer.get("/eudr")
    headline = "Ready: 3 plots of 2 producers in Ghana, 2 with boundaries and 1 as points"
    assert re.search(rf"{headline}, \d+ bytes\.", page.text)
    assert "It is for several producers: upload it at the commodity." in page.text
    (link,) = [each for each in page.links if "download" in each]
    file = viewer.get(link).response
    assert file.headers["Content-Disposition"].startswith("attachment")
    assert faults_of(file.data, variant=2) == []
    assert len(file.json["features"]) == 3
    (entry,) = client.get("/v1/audit-log?action=project.exported").json["data"]
    assert entry["changes"]["format"]["to"] == "eudr"


def test_the_producer_of_one_of_the_selected_and_of_all_is_set(
    client: Client, browser: Browser
) -> None:
    ids = [plot(client, n, metadata={"risk": "low"})["id"] for n in range(5)]
    page = send(browser, "producer_missing", only=ids[0], value=" Ama Mensah ", ids=ids[1])
    assert "ProducerName set for 1 plot." in page.text
    assert [metadata(client, each).get(NAME) for each in ids] == ["Ama Mensah", *[None] * 4]
    send(browser, "producer_missing", which="selected", ids=ids[1:3], value="Kofi Osei")
    page = send(browser, "producer_missing", which="all", value="Yaw Boateng")
    assert "ProducerName set for 2 plots." in page.text
    names = ["Ama Mensah", "Kofi Osei", "Kofi Osei", "Yaw Boateng", "Yaw Boateng"]
    assert [metadata(client, each) for each in ids] == [
        {"risk": "low", NAME: name} for name in names
    ]
    entries = client.get("/v1/audit-log?action=project.updated").json["data"]
    assert len(entries) == 5
    assert {each["actor"]["id"] for each in entries} == {client.owner_id}
    page = send(browser, "producer_missing", which="all", value="Again")
    assert "Nothing was changed." in page.text
    assert len(client.get("/v1/audit-log?action=project.updated").json["data"]) == 5


def test_countries_are_proposed_from_the_place(client: Client, browser: Browser) -> None:
    in_ghana = [plot(client, n, metadata={NAME: "Ama"})["id"] for n in range(2)]
    other = plot(client, 2, geometry=square(-6.5, 6.5, size=0.002), metadata={NAME: "Aya"})["id"]
    values = {"type": "plot", "location": point(-2.5, 6.5), "metadata": {NAME: "Ama"}}
    asset = make_asset(client, in_ghana[0], **values)["id"]
    page = browser.get("/eudr")
    assert "Set GH for the 3 that lie in Ghana" in page.text
    assert "Set CI for the 1 that lies in Côte d'Ivoire" in page.text
    page = send(browser, "country_missing", set="GH", value="")
    assert "ProducerCountry set for 3 plots." in page.text
    assert [metadata(client, each)[COUNTRY] for each in in_ghana] == ["GH", "GH"]
    assert metadata(client, in_ghana[0], asset)[COUNTRY] == "GH"
    assert COUNTRY not in metadata(client, other)
    send(browser, "country_missing", set="CI", value="")
    assert metadata(client, other)[COUNTRY] == "CI"
    assert "Ready: 4 plots of 2 producers in Ghana and Côte d'Ivoire" in browser.get("/eudr").text
    text = browser.get("/eudr?country=CI&search=plot").text
    assert "active projects with “plot”, plots in Côte d'Ivoire" in text
    assert "Ready: 1 plot of 1 producer in Côte d'Ivoire" in text


def test_an_area_is_measured_or_typed(client: Client, browser: Browser) -> None:
    ids = [plot(client, n, metadata=OWN | {AREA: "much"})["id"] for n in range(2)]
    asset = make_asset(
        client, ids[0], type="plot", location=point(-2.5, 6.5), metadata=OWN | {"area": 7}
    )["id"]
    send(browser, "area_text", measure="selected", ids=ids[0])
    send(browser, "area_text", which="all", value="4,9")
    assert [metadata(client, each).get(AREA) for each in ids] == [None, 4.9]
    page = browser.get("/eudr")
    assert "Points of more than 4 hectares" in page.text
    browser.headers["Accept-Language"] = "de-DE"
    send(browser, "point_over_4_ha", which="all", value="1.000,5")
    assert metadata(client, ids[0], asset)["area"] == 1000.5
    send(browser, "point_over_4_ha", which="all", value="3.5")
    assert metadata(client, ids[0], asset)["area"] == 3.5
    assert "Ready" in browser.get("/eudr").text


def test_wrong_values_are_refused(client: Client, browser: Browser) -> None:
    made = plot(client, metadata={AREA: 0})
    for code, fields, message in (
        ("producer_missing", {"which": "all", "value": " "}, "Type the name of the producer first"),
        ("producer_missing", {"which": "all", "value": "x" * 501}, "Shorten it to 500 characters"),
        ("producer_missing", {"which": "selected", "value": "Ama"}, "Tick the plots first"),
        ("country_missing", {"which": "all", "value": "EL"}, "The code of Greece is GR"),
        ("area_invalid", {"which": "all", "value": "-1"}, "as a number above 0"),
        ("area_invalid", {"which": "all", "value": "nan"}, "as a number above 0"),
        ("no_place", {"which": "all", "value": "1"}, "Reload the page"),
    ):
        page = send(browser, code, **fields)
        assert page.status == 422
        assert message in page.text
    assert metadata(client, made["id"]) == {AREA: 0}


def test_the_boundaries_of_all_are_not_kept(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot(client, metadata=OWN | {AREA: 0})
    find, found = views.find_plots, []

    def kept(*args: Any) -> Any:
        found.extend(find(*args))
        return list(found)

    monkeypatch.setattr(views, "find_plots", kept)
    send(browser, "area_invalid", measure="all")
    assert [each.geometry for each in found] == [None]


def test_all_of_many_are_set_in_turns(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_plots(5, plots=120, producers=4, each=0)
    for each in made.plots:
        each.metadata.pop(NAME)
    fill(client.app, client.account_id, made)
    monkeypatch.setattr(views, "SECONDS", 0)
    page = browser.get("/eudr")
    assert "And 70 more" in page.text
    page = send(browser, "producer_missing", which="all", value=HOSTILE[:40])
    seen = []
    while "Setting ProducerName" in page.text:
        seen.append(page.text.partition("plots")[0].rpartition("ProducerName: ")[2].strip())
        page = browser.submit("/eudr/fill")
    assert seen == ["50 of 120", "100 of 120"]
    assert "ProducerName set for 120 plots." in page.text
    assert "producer is missing" not in page.text
    entries = client.get("/v1/audit-log?per_page=100&action=project.updated").json["data"]
    entries += client.get("/v1/audit-log?per_page=100&action=asset.updated").json["data"]
    assert len({each["target"]["id"] for each in entries}) == len(entries) > 50


def test_a_plot_without_room_is_named_and_the_others_are_set(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = plot(client, 0, name="Full", metadata={"x": "y" * (METADATA_BYTES - 30)})["id"]
    other = plot(client, 1)["id"]
    page = send(browser, "producer_missing", which="all", value="Ama Mensah")
    assert "ProducerName set for 1 plot." in page.text
    assert "“Full” was not changed. Its metadata has no room for ProducerName" in page.text
    assert NAME not in metadata(client, full)
    assert metadata(client, other)[NAME] == "Ama Mensah"


def test_what_stops_the_filling_is_told(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plot(client)["id"]
    full = Forbidden("storage", "The account is full.")
    monkeypatch.setattr(filling, "update_project", Mock(side_effect=full))
    page = send(browser, "producer_missing", which="all", value="Ama Mensah")
    words = "“Plot 0” and the plots after it were not changed. The account is full."
    assert words in page.text
    assert metadata(client, made) == {}


def test_too_many_plots_are_to_be_filtered(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(2):
        plot(client, n)
    monkeypatch.setattr(report, "REPORT_PLOTS", 1)
    page, response = browser.get("/eudr"), client.get("/v1/eudr")
    message = "There are more than 1 plots. Filter them, and look at one part after the other."
    assert message in page.text
    assert (response.status_code, response.json["error"]["message"]) == (400, message)


def test_what_somebody_changes_meanwhile_is_kept(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plot(client)["id"]
    gone = plot(client, 1, name="Gone")["id"]
    find = filling._plots_of

    def found(*args: Any) -> Any:
        yield from list(find(*args))
        client.put(f"/v1/projects/{made}", json={"metadata": {NAME: "Theirs"}})
        client.post(f"/v1/projects/{gone}/archive")
        client.delete(f"/v1/projects/{gone}")

    monkeypatch.setattr(filling, "_plots_of", found)
    page = send(browser, "producer_missing", which="all", value="Ama")
    assert "“Plot 0” was not changed. Somebody has changed it in the meantime." in page.text
    assert "“Gone” was not changed. It has been deleted in the meantime." in page.text
    assert metadata(client, made) == {NAME: "Theirs"}


def test_the_choices_are_in_the_address(client: Client, browser: Browser) -> None:
    hole = [[*reversed(square(-1.9995, 6.5005, size=0.001)["coordinates"][0])]]
    outer = square(-2, 6.5, size=0.002)
    outer["coordinates"] += hole
    plot(client, geometry=outer, metadata=OWN)
    archived = plot(client, 1)["id"]
    client.post(f"/v1/projects/{archived}/archive")
    assert "Ready: 2 plots" in browser.get("/eudr").text
    page = browser.get("/eudr?holes=refuse&points=false&points=true&status=any&cattle=true")
    assert "all projects" in page.text
    assert "Boundaries with holes" in page.text
    assert "Split around holes" in page.text
    assert "The producer is missing" in page.text
    links = [each for each in page.links if each.startswith("/eudr?")]
    assert any("holes=ignore" in each for each in links)
    assert all("points=false" in each and "cattle=true" in each for each in links)
    assert "Ready: 1 plot " in browser.get("/eudr?holes=ignore").text
    assert "No plots match" in browser.get("/eudr?points=true&boundaries=false").text
    page = browser.get("/eudr?holes=x&status=y")
    assert "holes:" in page.text
    assert "Ready: 2 plots" in page.text
    assert "status=archived" in str(browser.get("/projects?status=archived").links)


def test_the_broken_part_of_many_is_shown(client: Client, browser: Browser) -> None:
    corners = [(-2 + n / 100, 6.5) for n in range(120)]
    parts = multi_square(*corners, size=0.002)["coordinates"]
    broken = [square_ring(-0.5, 6.5, 2e-7)]
    plot(client, geometry={"type": "MultiPolygon", "coordinates": [*parts, broken]})
    text = browser.get("/eudr").response.text
    (shape,) = json.loads(unescape(text.partition('data-shapes="')[2].partition('"')[0]))
    assert shape["fault"] == [-0.5, 6.5]
    assert shape["outlines"][-1] == [[-0.5, 6.5]]
    assert len(shape["outlines"]) <= GROUP_PLOTS


def test_holes_are_shown_but_not_of_a_large_boundary(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings = [
        square_ring(-2, 6.5, 1.0),
        *(square_ring(-2 + n / 100, 6.6, 0.005) for n in range(1, 60)),
    ]
    plot(client, geometry={"type": "Polygon", "coordinates": rings})
    for most, shown in ((1_000, GROUP_PLOTS), (300, 0)):
        monkeypatch.setattr(overview, "_DRAWN_POSITIONS", most)
        text = browser.get("/eudr?holes=refuse").response.text
        (shape,) = json.loads(unescape(text.partition('data-shapes="')[2].partition('"')[0]))
        assert len(shape["holes"]) == shown


def test_a_boundary_that_takes_too_long_has_its_holes_filled(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot(client, geometry=squares_with_holes(5_000))
    monkeypatch.setattr(checking, "BATCH_SECONDS", 0.05)
    page = browser.get("/eudr")
    assert "Boundaries that take too long to check 1 plot" in page.text
    assert "/eudr?holes=ignore" in page.links


def test_a_place_is_set_by_country(client: Client, browser: Browser) -> None:
    own = {NAME: "Ama", COUNTRY: "GH"}
    here = [plot(client, n, metadata=own)["id"] for n in range(2)]
    there = plot(client, 2, geometry=square(-6.5, 6.5, size=0.002), metadata=own)["id"]
    page = browser.get("/eudr")
    assert "Set for the 2 in Ghana Set for the 1 in Côte d'Ivoire" in page.text
    send(browser, "place_missing", set="CI", value="Aboisso")
    assert metadata(client, there)[PLACE] == "Aboisso"
    assert PLACE not in metadata(client, here[0])


def test_a_country_that_the_plots_do_not_lie_in_is_told(client: Client, browser: Browser) -> None:
    made = plot(client, geometry=square(5.5, 52.1, size=0.002), metadata=OWN)["id"]
    text = browser.get("/eudr").text
    assert "Worth a look: The plot does not lie in the country of production (1)" in text
    assert "the plot lies in the Netherlands" in text
    page = send(browser, "country_differs", set="NL")
    assert "1 plot of 1 producer in the Netherlands" in page.text
    assert metadata(client, made)[COUNTRY] == "NL"
    send(browser, "plots", field=COUNTRY, which="all", value="côte d'ivoire")
    assert metadata(client, made)[COUNTRY] == "CI"


def test_what_was_set_is_shown_and_changed(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [plot(client, n, metadata=OWN)["id"] for n in range(3)]
    page = browser.get("/eudr")
    assert "Ama Mensah · GH · Tepa" in page.text
    assert {form.fields["code"] for form in page.forms if "fill" in form.action} == {"plots"}
    send(browser, "plots", field=NAME, which="selected", ids=ids[:2], value="Coop Aboisso")
    page = send(browser, "plots", field=PLACE, only=ids[0], value="Enchi")
    assert "ProductionPlace set for 1 plot." in page.text
    assert "Coop Aboisso · GH · Enchi" in page.text
    send(browser, "plots", named="selected", ids=ids[2])
    assert [metadata(client, each)[NAME] for each in ids] == ["Coop Aboisso"] * 2 + ["Plot 2"]
    monkeypatch.setattr(views, "SECONDS", 0)
    monkeypatch.setattr(views, "TRANSACTION_PLOTS", 1)
    page = send(browser, "plots", field=COUNTRY, which="all", value="ci")
    while "Setting ProducerCountry" in page.text:
        path = next(form.action for form in page.forms if form.action.startswith("/eudr/fill"))
        page = browser.submit(path)
    assert "ProducerCountry set for 3 plots." in page.text
    assert {metadata(client, each)[COUNTRY] for each in ids} == {"CI"}
    assert "Set GH for the 3 that lie in Ghana" in page.text
    assert send(browser, "plots", field="Other", which="all", value="x").status == 422
