"""Plots with every fault, mended by the page alone, until the file is taken."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import count
from typing import Any

import numpy as np
import pytest
import shapely
from shapely.geometry import mapping, shape

from app.geometry import geodesic_area
from tests.eudr.plots import Plot, Plots, fill, make_plots
from tests.eudr.validator import faults_of
from tests.make import Browser, Client
from tests.pages.support import metadata_of, post

FORMS = "/projects/{}/edit", "/assets/{}/{}/edit"


def _send(browser: Browser, code: str, **fields: Any) -> None:
    """Send the form of a group, and go on until all is done."""
    page = post(browser, "/eudr/fill", code=code, **fields)
    while page.status == 200:
        path = next(each for each in page.forms if each.startswith("/eudr/fill"))
        page = browser.send(path, **page.form(path).fields)
    assert page.status == 303, page.text


def _edit(
    browser: Browser, report: dict[str, Any], *, shorten: bool = False, **fields: Any
) -> None:
    """Change a project or asset by its own form.

    Args:
        shorten: the values of its metadata.
    """
    own = (report["project_id"], report["asset_id"])
    path = FORMS[1].format(*own) if own[1] else FORMS[0].format(own[0])
    form = browser.get(path)
    sent = form.form(path).fields | metadata_of(form)
    if shorten:
        sent["metadata_value"] = [value[:100] for value in sent["metadata_value"]]
    page = browser.send(path, **(sent | fields))
    assert page.status == 303, page.text


def _mend(client: Client, browser: Browser, made: Plots) -> None:
    _send(browser, "producer_missing", which="all", value="The cooperative")
    for code in ("country_invalid", "country_missing", "country_differs"):
        for country in ("GH", "CI", "EC"):
            _send(browser, code, set=country)
    for code in ("area_invalid", "area_text", "area_differs"):
        _send(browser, code, measure="all")
    _send(browser, "point_over_4_ha", which="all", value="3.5")
    numbers = count()
    for each in client.get("/v1/eudr?points=true&variant=2").json["data"]["problems"]:
        plot = made.plot(each["name"])
        if each["code"] == "no_place":
            _draw(browser, each, plot, next(numbers))
        elif each["code"] == "breaks_at_six_decimals":
            assert plot.geometry is not None
            hull = shapely.convex_hull(shape(plot.geometry)).buffer(0.0002, quad_segs=2)
            plot.geometry = mapping(hull)
            _edit(browser, each, geometry=json.dumps(plot.geometry))
        else:
            assert each["code"] == "too_long"
            _edit(browser, each, shorten=True)


def _draw(browser: Browser, report: dict[str, Any], plot: Plot, number: int) -> None:
    """Give a plot a place."""
    x, y = -1.5 - number / 500, 6.9
    if report["asset_id"]:
        plot.geometry = {"type": "Point", "coordinates": [x, y]}
        _edit(browser, report, longitude=str(x), latitude=str(y))
    else:
        plot.geometry = mapping(shapely.box(x, y, x + 0.001, y + 0.001))
        _edit(browser, report, geometry=json.dumps(plot.geometry))


def _six_decimals(polygon: Any) -> Any:
    return shapely.transform(polygon, lambda positions: np.round(positions, 6))


def _area(geometry: dict[str, Any]) -> float:
    """Square meters of the outlines at six decimals less their holes."""
    parts = shapely.get_parts(_six_decimals(shape(geometry)))
    return sum(
        geodesic_area([np.array(part.exterior.coords).tolist()])
        - sum(geodesic_area([np.array(hole.coords).tolist()]) for hole in part.interiors)
        for part in parts
    )


def _check(made: Plots, features: list[dict[str, Any]]) -> None:
    """Each plot is in the file exactly once, with its area."""
    found = defaultdict(list)
    for feature in features:
        found[feature["properties"]["ProductionPlace"]].append(feature)
    assert found.keys() == {plot.name for plot in made.plots}
    for plot in made.plots:
        own = found[plot.name]
        assert plot.geometry is not None
        if plot.geometry["type"] == "Point":
            (only,) = own
            place = plot.geometry["coordinates"][:2]
            assert only["geometry"]["coordinates"] == pytest.approx(place, abs=6e-7)
            continue
        drawn = [shape(feature["geometry"]) for feature in own]
        area = _area(plot.geometry)
        measured = sum(geodesic_area(feature["geometry"]["coordinates"]) for feature in own)
        assert measured == pytest.approx(area, abs=max(1, 2e-5 * area)), plot.name
        together = shapely.union_all(drawn).area
        assert together == pytest.approx(sum(each.area for each in drawn), rel=1e-9), plot.name


@pytest.mark.slow
def test_plots_with_every_fault_are_mended(client: Client, browser: Browser) -> None:
    made = make_plots(3, plots=300, producers=30, each=2)
    fill(client.app, client.account_id, made)
    _mend(client, browser, made)
    report = client.get("/v1/eudr?points=true&variant=2").json["data"]
    assert report["problem_counts"] == {}
    assert report["ready"]
    data = browser.get("/eudr/download?variant=2").response.data
    assert len(data) == report["bytes"]
    assert faults_of(data, variant=2) == []
    _check(made, json.loads(data)["features"])
