"""The report on plots for the EUDR, against plots of many producers with planted faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.eudr_plots import Plots, differences, fill, make_plots
from tests.make import Client

MANY = 3_000
OWN = {"ProducerName": "Jo Oak", "ProducerCountry": "DE", "ProductionPlace": "North"}


def _report(client: Client, query: str = "points=true") -> dict[str, Any]:
    response = client.get(f"/v1/eudr?{query}")
    assert response.status_code == 200, response.text
    return response.json["data"]


def _found(report: dict[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    for kind in ("problem", "warning"):
        for each in report[f"{kind}s"]:
            yield kind, each["name"], each["code"]


@pytest.fixture
def made(client: Client) -> Plots:
    plots = make_plots(1, plots=MANY, producers=120)
    fill(client.app, client.account_id, plots)
    return plots


@pytest.mark.both
def test_every_planted_fault_is_found_and_no_other(
    client: Client, made: Plots, subtests: pytest.Subtests
) -> None:
    for variant in (1, 2):
        for holes in ("split", "ignore", "refuse"):
            for points in (True, False):
                with subtests.test(variant=variant, holes=holes, points=points):
                    query = f"variant={variant}&holes={holes}&points={str(points).lower()}"
                    report = _report(client, query)
                    wanted = {"variant": variant, "holes": holes, "points": points}
                    assert differences(made, _found(report), **wanted) == []
                    assert not report["ready"]
                    of_file = {each["code"] for each in report["warnings"] if not each["name"]}
                    assert of_file == ({"several_producers"} if variant == 1 else set())
