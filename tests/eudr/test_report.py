"""The report on plots for the EUDR, against plots of many producers with planted faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.eudr_plots import differences, fill, make_plots
from tests.make import Client

OWN = {"ProducerName": "Jo Oak", "ProducerCountry": "DE", "ProductionPlace": "North"}


def _report(client: Client, query: str = "points=true") -> dict[str, Any]:
    response = client.get(f"/v1/eudr?{query}")
    assert response.status_code == 200, response.text
    return response.json["data"]


def _found(report: dict[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    for kind in ("problem", "warning"):
        for each in report[f"{kind}s"]:
            yield kind, each["name"], each["code"]


@pytest.mark.both
@pytest.mark.parametrize(
    ("plots", "producers"), [(3_000, 120), pytest.param(10_000, 400, marks=pytest.mark.slow)]
)
def test_every_planted_fault_is_found_and_no_other(
    client: Client, plots: int, producers: int, subtests: pytest.Subtests
) -> None:
    made = make_plots(1, plots=plots, producers=producers)
    fill(client.app, client.account_id, made)
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
