"""Files for the EUDR, exported, imported into an empty account, and exported again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.eudr.plots import fill, make_plots
from tests.eudr.validator import faults_of
from tests.imports.making import act, read, upload, work
from tests.make import Client, make_account, make_project
from tests.make.geometry import square_ring

FILE = "format=eudr&points=true&variant=2"


def exported(client: Client, query: str = FILE) -> bytes:
    response = client.get(f"/v1/exports/projects?{query}")
    assert response.status_code == 200, response.text
    assert faults_of(response.data, variant=2 if "variant=2" in query else 1) == []
    return response.data


def imported(client: Client, data: bytes, **answers: Any) -> dict[str, Any]:
    """An import of a file, applied."""
    record = upload(client, data, "plots.geojson").json["data"]
    work(client)
    if answers:
        response = client.put(f"/v1/imports/{record['id']}", json=answers)
        assert response.status_code == 200, response.text
        work(client)
    return act(client, read(client, record["id"]), "apply")


def _check(client: Client, plots: int, producers: int) -> None:
    fill(client.app, client.account_id, make_plots(2, plots=plots, producers=producers, each=0))
    data = exported(client)
    other = make_account(client.app)
    record = imported(other, data, points_as_plots=True, project_id=None)
    assert record["counts"]["rejected"] == 0
    assert exported(other) == data


@pytest.mark.both
def test_plots_come_back_byte_for_byte(client: Client) -> None:
    _check(client, plots=120, producers=20)


@pytest.mark.trial
def test_many_plots_come_back_byte_for_byte(client: Client) -> None:
    _check(client, plots=800, producers=100)


def test_parts_and_holes_come_back_as_projects(client: Client) -> None:
    rings = [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]]
    other_part = [square_ring(20, 50)]
    own = {"ProducerName": "Jo Oak", "ProducerCountry": "DE"}
    geometry = {"type": "MultiPolygon", "coordinates": [rings, other_part]}
    make_project(client, name="Wald", geometry=geometry, metadata=own)
    data = exported(client, "format=eudr")
    assert data.count(b'"Polygon"') == 3
    other = make_account(client.app)
    imported(other, data)
    assert exported(other, "format=eudr") == data
