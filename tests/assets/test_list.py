"""GET /v1/projects/{project_id}/assets: filters, order and pages (docs/api-conventions.md,
"Lists")."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.values import clock
from tests.make import Client, make_account, make_asset, make_project
from tests.make.properties import examples

pytestmark = pytest.mark.both


START = clock.now()
TYPES = ("tower", "equipment")
STATUSES = ("active", "retired")


@pytest.fixture
def path(client: Client) -> str:
    return f"/v1/projects/{make_project(client)['id']}/assets"


def _make(client: Client, path: str, **fields: Any) -> dict[str, Any]:
    return make_asset(client, path.split("/")[3], **fields)


def test_nothing_is_an_empty_list(client: Client, path: str) -> None:
    meta = {"total": 0, "page": 1, "per_page": 20, "total_pages": 0}
    assert client.get(path).json == {"data": [], "meta": meta}


def test_the_newest_come_first(client: Client, path: str) -> None:
    made = [_make(client, path) for _ in range(3)]
    assert client.get(path).json["data"] == made[::-1]


def test_assets_of_other_projects_are_not_listed(client: Client, path: str) -> None:
    make_asset(client, make_project(client)["id"])
    assert client.get(path).json["meta"]["total"] == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?type=tower", 2),
        ("?type=mast", 0),
        ("?status=retired", 1),
        ("?type=tower&status=active", 1),
        ("?search=north", 2),
        ("?search=NORTH&type=tower&status=retired", 1),
        ("?search=note", 0),
    ],
)
def test_filters_add_up(client: Client, path: str, query: str, found: int) -> None:
    _make(client, path, name="North tower", type="tower", status="retired")
    _make(client, path, name="South tower", type="tower")
    _make(client, path, name="North gate", metadata={"note": 1})
    body = client.get(path + query).json
    assert (len(body["data"]), body["meta"]["total"]) == (found, found)


def test_per_page_is_as_for_projects(client: Client, path: str) -> None:
    for _ in range(21):
        _make(client, path)
    first = client.get(path)
    assert len(first.json["data"]) == 20
    assert 'rel="next"' in first.headers["Link"]
    assert len(client.get(f"{path}?per_page=100").json["data"]) == 21
    assert client.get(f"{path}?per_page=101").status_code == 400


plans = st.tuples(st.sampled_from(TYPES), st.sampled_from(STATUSES), st.integers(0, 1))


@pytest.mark.slow
@given(st.lists(plans, max_size=7), st.integers(1, 3))
@examples(12)
def test_pages_are_what_a_model_says(
    app: Flask, made: list[tuple[str, str, int]], per_page: int
) -> None:
    """Every filter, with equal moments, page by page and one past the end."""
    client = make_account(app)
    path = f"/v1/projects/{make_project(client)['id']}/assets"
    assets = []
    for kind, status, minute in made:
        with mock.patch.object(clock, "now", return_value=START + timedelta(minutes=minute)):
            assets.append(_make(client, path, type=kind, status=status))
    assets.sort(key=lambda asset: (asset["created_at"], asset["id"]), reverse=True)
    for kind, status in itertools.product((None, *TYPES), (None, *STATUSES)):
        wanted = [a for a in assets if kind in (None, a["type"]) and status in (None, a["status"])]
        filters = "".join(
            f"&{name}={word}" for name, word in (("type", kind), ("status", status)) if word
        )
        for page in range(1, len(wanted) // per_page + 3):
            body = client.get(f"{path}?page={page}&per_page={per_page}{filters}").json
            assert body["data"] == wanted[(page - 1) * per_page : page * per_page]
            assert body["meta"]["total"] == len(wanted)
            assert body["meta"]["total_pages"] == -(-len(wanted) // per_page)
