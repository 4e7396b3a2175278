"""The made-up plots are what they say: sound, apart and in their countries but for what was planted
on them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import shapely
from flask import Flask

from app.geometry import read_boundary
from app.geometry.countries import country_of, load_world
from tests.eudr_plots import KINDS, Plot, Plots, differences, fill, make_plots
from tests.eudr_validator import faults_of
from tests.make import Client, make_account, make_asset, make_project

SMALL = {"plots": 900, "producers": 40, "each": 6}

# What becomes of shapes at six decimals, by their kinds.
BREAKS = {
    "touching": "sides_touch", "touching_corners": "sides_touch", "overlapping": "sides_overlap",
    "crossing": "sides_cross", "collapsing": "straight_line", "part_collapsing": "straight_line",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(seed: int) -> Plots:
    return make_plots(seed, **SMALL)


def kinds_of(made: Plots) -> dict[str, tuple[str, str]]:
    """The code and kind of each plot with something planted on it, by its name."""
    return {name: (each.code, each.kind) for each in made.planted for name in each.names}


def as_file(plots: list[Plot]) -> bytes:
    """The plots as they are, in a file."""
    features = [
        {"type": "Feature", "properties": plot.metadata, "geometry": plot.geometry}
        for plot in plots
        if plot.geometry is not None
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def shape_codes(plots: list[Plot]) -> dict[str, dict[str, set[str]]]:
    """The codes of each plot's shape, with the readings in which it has them, by its name."""
    placed = [plot for plot in plots if plot.geometry is not None]
    found: dict[str, dict[str, set[str]]] = {}
    for fault in faults_of(as_file(placed), notes=False):
        if fault.readings and fault.feature is not None:
            codes = found.setdefault(placed[fault.feature].name, {})
            codes[fault.code] = set(fault.readings)
    return found


def test_one_seed_makes_the_same_plots(seed: int, made: Plots) -> None:
    again = make_plots(seed, **SMALL)
    assert again == made
    assert make_plots(seed + 1, **SMALL).plots != made.plots


def test_there_are_as_many_as_asked_for(seed: int, made: Plots) -> None:
    assert len(made.plots) == 900
    assert len({plot.name for plot in made.plots} | set(made.holders)) == 900 + len(made.holders)
    assert set(kinds_of(made)) <= {plot.name for plot in made.plots}
    assert Counter((each.code, each.kind) for each in made.planted) == {
        (kind.code, kind.name): 6 for kind in KINDS
    }
    named = [name for each in made.planted for name in each.names]
    assert len(named) == len(set(named))  # nothing is planted on what was planted on
    clean = make_plots(seed, plots=200, producers=40, each=0)
    assert clean.planted == []
    owners = {(each.metadata["ProducerName"], each.metadata["ProducerCountry"]) for each in
              clean.plots}  # fmt: skip
    assert owners == set(clean.producers)
    assert len(owners) == 40 > len({name for name, _ in owners})


def test_only_planted_plots_have_a_fault_in_a_file(made: Plots) -> None:
    """Plots that are sound lie in a file with at most too many decimals, which the export cuts."""
    planted = kinds_of(made)
    sound = [plot for plot in made.plots if plot.name not in planted]
    assert len(sound) > 500
    faults = faults_of(as_file(sound), variant=2)
    assert {fault.code for fault in faults} <= {"decimals", "not_grouped"}
    assert {plot.geometry["type"] for plot in sound if plot.geometry} == {
        "Point", "Polygon", "MultiPolygon"
    }  # fmt: skip


def test_planted_shapes_break_at_six_decimals_and_no_others(made: Plots) -> None:
    planted = kinds_of(made)
    found = shape_codes(made.plots)
    breaking = {name for name, (code, _) in planted.items() if code == "breaks_at_six_decimals"}
    near = {name for name, (_, kind) in planted.items() if "equal at six" in kind}
    assert set(found) == breaking | near
    at_six = {"binary", "truncated", "rounded"}
    for name, codes in found.items():
        _, kind = planted[name]
        if name in near:
            assert codes == {"equal_positions": at_six}
        elif kind == "binary_touching":
            assert set(codes) == {"sides_touch"}
            assert codes["sides_touch"] == {"binary"}
        else:
            assert codes.get(BREAKS[kind]) == at_six, (kind, codes)
    assert {kind for code, kind in planted.values() if code == "breaks_at_six_decimals"} == {
        *BREAKS, "binary_touching"
    }  # fmt: skip


def test_all_boundaries_are_valid_as_they_are(made: Plots) -> None:
    for plot in made.plots:
        if plot.holder is None and plot.geometry is not None:
            assert shapely.is_valid(shapely.geometry.shape(plot.geometry))
            read = read_boundary(plot.geometry)
            assert abs(read.area_m2 - plot.hectares * 10_000) <= 1


def test_only_planted_pairs_overlap(made: Plots) -> None:
    placed = [plot for plot in made.plots if plot.geometry is not None]
    shapes = [shapely.geometry.shape(plot.geometry) for plot in placed]
    tree = shapely.STRtree(shapes)
    pairs = set()
    for one, other in zip(*tree.query(shapes, predicate="intersects"), strict=True):
        if one < other and not shapely.touches(shapes[one], shapes[other]):
            pairs.add(frozenset((placed[one].name, placed[other].name)))
    assert pairs == {frozenset(each.names) for each in made.planted if each.code == "overlap"}


def test_sizes_and_corners_are_those_of_plots(made: Plots) -> None:
    planted = kinds_of(made)
    areas, corners = [], []
    for plot in made.plots:
        if plot.holder is None and plot.name not in planted:
            assert plot.geometry is not None
            areas.append(plot.hectares)
            if plot.geometry["type"] == "Polygon":
                corners.append(len(plot.geometry["coordinates"][0]) - 1)
            assert plot.metadata.get("Area") in (None, round(areas[-1], 4))
    assert 0.19 < min(areas) < 0.5
    assert 10 < max(areas) < 21
    assert (min(corners), max(corners)) == (4, 40)


def test_plots_are_in_their_countries(made: Plots) -> None:
    if load_world() is None:
        pytest.skip("bin/test installs the countries with the browser code of the pages")
    planted = kinds_of(made)
    for plot in made.plots:
        if plot.holder is None and plot.name not in planted:
            boundary = read_boundary(plot.geometry)
            found = country_of(boundary.rings, boundary.bounds)
            assert found == plot.metadata["ProducerCountry"]


def reported(made: Plots, **options: Any) -> list[tuple[str, str | None, str]]:
    """A report that is right; of each pair it names the first."""
    variant, holes = options.get("variant", 1), options.get("holes", "split")
    return [
        (each.severity(variant), each.names[0], each.code)
        for each in made.planted
        if each.code
        and each.holes in (None, holes)
        and (options.get("points", True) or not each.points)
    ]


def test_differences_of_a_right_report_are_none(made: Plots) -> None:
    for options in ({}, {"variant": 2}, {"holes": "refuse"}, {"points": False}):
        found = [*reported(made, **options), ("warning", None, "several_producers")]
        assert differences(made, found, **options) == []


def test_differences_name_what_is_missing_and_what_is_too_much(made: Plots) -> None:
    found = reported(made)
    severity, name, code = found.pop()
    assert differences(made, found)[0].startswith(f"missing: {severity} {code}")
    harmless = next(each for each in made.planted if not each.code).names[0]
    for wrong in (
        ("problem", name, "country_missing"),
        ("problem" if severity == "warning" else "warning", name, code),
        ("warning", harmless, "area_differs"),
    ):
        lines = differences(made, [*found, (severity, name, code), wrong])
        assert lines == [f"too much: {wrong[0]} {wrong[2]} of {wrong[1]}"]
    hole = next(each for each in made.planted if each.code == "hole").names[0]
    assert differences(made, [*reported(made), ("problem", hole, "hole")]) != []


@pytest.mark.both
def test_an_account_is_filled_as_by_requests(app: Flask, client: Client, seed: int) -> None:
    made = make_plots(seed, plots=200, producers=20, each=1)
    ids = fill(app, client.account_id, made)
    assert len(ids) == 200 + len(made.holders)
    other = make_account(app)
    for body in made.projects[-8:]:
        sent = make_project(other, **body)
        read = client.get(f"/v1/projects/{ids[body['name']]}").json["data"]
        assert without_times(read) == without_times(sent)
    holder = make_project(other)["id"]
    for name, body in made.assets[:8]:
        sent = make_asset(other, holder, **body)
        read = client.get(f"/v1/projects/{ids[name]}/assets/{ids[body['name']]}").json["data"]
        assert without_times(read) == without_times(sent)
    areas = sum(plot.hectares for plot in made.plots if plot.holder is None and plot.geometry)
    usage = client.get("/v1/account/usage").json["data"]
    assert usage["hectares"]["current"] == pytest.approx(areas, abs=0.05)


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what differs between two of the same body."""
    left_out = {"id", "project_id", "created_at", "updated_at"}
    return {name: value for name, value in record.items() if name not in left_out}
