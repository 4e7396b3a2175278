"""The report on plots for the EUDR, against plots of many producers with planted faults."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from app.eudr import checking, report, writer
from app.geometry import timed
from app.lists import scanning
from app.policy.eudr import COMPARISON_SECONDS
from tests.countries import needs_countries
from tests.eudr.plots import Plots, differences, fill, make_plots
from tests.geometry.drawing import TEN, box, multipolygon, polygon
from tests.geometry.expensive_shapes import comb, squares_with_holes, tiny_squares
from tests.make import Client, make_project, square


def _report(client: Client, query: str = "points=true") -> dict[str, Any]:
    response = client.get(f"/v1/eudr?{query}")
    assert response.status_code == 200, response.text
    return response.json["data"]


def _found(report: dict[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    for kind in ("problem", "warning"):
        for each in report[f"{kind}s"]:
            yield kind, each["name"], each["code"]


def _check(client: Client, made: Plots, variant: int, holes: str, points: bool) -> None:
    query = f"variant={variant}&holes={holes}&points={str(points).lower()}"
    report = _report(client, query)
    found = _found(report)
    assert differences(made, found, holes=holes, points=points) == [], query
    assert not report["ready"]
    of_file = {each["code"] for each in report["warnings"] if not each["name"]}
    assert of_file == ({"several_producers"} if variant == 1 else set())


@needs_countries
@pytest.mark.both
def test_every_planted_fault_is_found_and_no_other(client: Client) -> None:
    made = make_plots(1, plots=500, producers=40, each=3)
    fill(client.app, client.account_id, made)
    _check(client, made, 1, "split", True)
    _check(client, made, 2, "refuse", False)


@needs_countries
@pytest.mark.trial
def test_every_planted_fault_of_many_plots_is_found_whatever_is_asked_for(client: Client) -> None:
    made = make_plots(1, plots=2_000, producers=120)
    fill(client.app, client.account_id, made)
    for variant, holes, points in product((1, 2), ("split", "ignore", "refuse"), (True, False)):
        _check(client, made, variant, holes, points)


def test_large_boundaries_are_checked_at_six_decimals(client: Client) -> None:
    for name, scale in (("good", 1e-1), ("fine", 1e-3)):
        rings = np.array(comb(1_200)["coordinates"]) * scale
        make_project(client, name=name, geometry=polygon(*rings.tolist()))
    broken = [name for _, name, code in _found(_report(client)) if code == "breaks_at_six_decimals"]
    assert broken == ["fine"]


@pytest.mark.provokes(503)
def test_a_report_ends_when_its_client_has_gone(client: Client) -> None:
    for number in range(3):
        make_project(client, geometry=square(number))
    here, there = socket.socketpair()
    read = scanning.batched_by_bytes

    def leave(*args: Any) -> Any:
        there.close()
        return read(*args)

    with here, there, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "batched_by_bytes", leave)
        response = client.get("/v1/eudr", environ_overrides={"gunicorn.socket": here})
    assert response.status_code == 503
    assert "closed the connection" in response.json["error"]["message"]


def test_some_of_each_code_are_listed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "LISTED", 2)
    monkeypatch.setattr(report, "CACHED_POSITIONS", 0)
    for _ in range(4):
        make_project(client, geometry=square())
    found = _report(client)
    assert found["warning_counts"] == {
        "producer_missing": 4, "place_missing": 4, "overlap": 6,
    }  # fmt: skip
    assert found["problem_counts"] == {"country_missing": 4}
    codes = [code for _, _, code in _found(found)]
    assert {code: codes.count(code) for code in codes} == dict.fromkeys(codes, 2)


def test_comparing_in_another_process_takes_time(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: Any) -> float:
        timed._thread.seconds = getattr(timed._thread, "seconds", 0.0) + COMPARISON_SECONDS
        return 1e4

    for _ in range(3):
        make_project(client, geometry=square())
    monkeypatch.setattr(report, "common_area", slow)
    found = _report(client)
    assert found["warning_counts"]["overlap"] == 1
    assert "rounded to six decimals, it has 1.00 ha in common with" in str(found["warnings"])
    assert not found["overlaps_complete"]


def test_all_but_the_first_few_plots_are_checked_in_another_process(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seconds_there() -> float:
        began = getattr(timed._thread, "seconds", 0.0)
        _report(client)
        return getattr(timed._thread, "seconds", 0.0) - began

    for number in range(2):
        make_project(client, geometry=square(2 * number))
    assert seconds_there() == 0
    with monkeypatch.context() as patch:
        patch.setattr(checking, "_BATCH_POSITIONS", 1)
        assert seconds_there() > 0
    make_project(client, geometry=tiny_squares(1_050))
    assert seconds_there() > 0


def test_a_plot_that_takes_too_long_is_a_problem_of_its_own(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(client, geometry=square())
    make_project(client, name="Sieve", geometry=squares_with_holes(5_000))
    monkeypatch.setattr(checking, "BATCH_SECONDS", 0.05)
    found = _report(client, "producer_country=DE")
    (problem,) = found["problems"]
    assert (problem["name"], problem["code"]) == ("Sieve", "too_complex")
    assert found["plots"] == 1
    response = client.get("/v1/exports/projects?format=eudr&producer_country=DE")
    assert [each["code"] for each in response.json["error"]["details"]] == ["too_complex"]


def test_plots_that_take_too_long_together(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(client, geometry=square())
    for module, name in ((report, "REPORT_SECONDS"), (writer, "FILE_SECONDS")):
        monkeypatch.setattr(module, name, -1.0)
    for path in ("eudr?", "exports/projects?format=eudr"):
        response = client.get(f"/v1/{path}")
        assert response.status_code == 400, path
        assert "Filter them" in response.json["error"]["message"], path


def test_the_parts_of_a_plot_are_compared_where_holes_are_filled(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hole, island = box(4, 4, 6, 6)[::-1], box(4.5, 4.5, 5.5, 5.5)
    make_project(client, geometry=multipolygon([TEN, hole], [island]))
    assert _report(client, "holes=ignore")["warning_counts"]["overlap"] == 1
    monkeypatch.setattr(report, "common_area", lambda *_: pytest.fail("they were compared"))
    assert _report(client)["plots"] == 3


def test_plots_that_take_too_long_to_compare(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        make_project(client, geometry=square())
    monkeypatch.setattr(report, "common_area", lambda *_: None)
    found = _report(client)
    assert "overlap" not in found["warning_counts"]
    assert not found["overlaps_complete"]
