"""GET /v1/projects/{project_id}/assets: filters, order and pages (docs/api-conventions.md,
"Lists")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import Client, make_asset, make_project


@pytest.fixture
def path(client: Client) -> str:
    return f"/v1/projects/{make_project(client)['id']}/assets"


def _make(client: Client, path: str, **fields: Any) -> dict[str, Any]:
    return make_asset(client, path.split("/")[3], **fields)


def test_the_newest_come_first(client: Client, path: str) -> None:
    make_asset(client, make_project(client)["id"])
    meta = {"total": 0, "page": 1, "per_page": 20, "total_pages": 0}
    assert client.get(path).json == {"data": [], "meta": meta}
    made = [_make(client, path) for _ in range(3)]
    assert client.get(path).json["data"] == made[::-1]
    first = client.get(f"{path}?per_page=2")
    assert len(first.json["data"]) == 2
    assert 'rel="next"' in first.headers["Link"]
    assert client.get(f"{path}?per_page=101").status_code == 400


@pytest.mark.both
def test_filters_add_up(client: Client, path: str) -> None:
    _make(client, path, name="North tower", type="tower", status="retired")
    _make(client, path, name="South tower", type="tower")
    _make(client, path, name="North gate", metadata={"note": 1})
    for query, number in (
        ("?type=tower", 2),
        ("?type=mast", 0),
        ("?status=retired", 1),
        ("?type=tower&status=active", 1),
        ("?search=NORTH&type=tower&status=retired", 1),
        ("?search=note", 0),
    ):
        response = client.get(path + query).json
        assert (len(response["data"]), response["meta"]["total"]) == (number, number)
