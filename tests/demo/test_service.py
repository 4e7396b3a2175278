"""The demo account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import shapely
import shapely.geometry
from flask import Flask

from app import demo
from app.db.migrations import upgrade
from app.db.transactions import transaction
from app.demo.service import EXAMPLE, Demo, find_demo, make_demo
from app.policy.request_limits import ASSET_STATUSES, ASSET_TYPES
from tests.make import Client

FOLDER = Path(demo.__file__).parent


@pytest.fixture
def made(empty_app: Flask) -> tuple[Client, Demo]:
    with empty_app.app_context(), transaction():
        upgrade()
        account = make_demo()
    client = Client(empty_app, account.account_id, account.owner_id, account.api_key)
    return client, account


def assets() -> list[dict[str, Any]]:
    return json.loads((FOLDER / "assets.json").read_text())


@pytest.mark.slow
def test_the_account_has_its_projects_assets_owner_and_key(made: tuple[Client, Demo]) -> None:
    client, account = made
    record = client.get("/v1/account").json["data"]
    assert record["plan"] == "enterprise"
    assert record["usage"]["projects"] == account.projects == 24
    example = client.get(f"/v1/projects/{account.example_id}").json["data"]
    assert example["name"] == EXAMPLE
    assert account.owner_password is not None
    listed = client.get(f"/v1/projects/{account.example_id}/assets").json["data"]
    kept = ("name", "type", "status", "location", "metadata")
    expected = [
        {name: asset[name] for name in kept} for asset in assets() if asset["project"] == EXAMPLE
    ]
    found = [{name: asset[name] for name in kept} for asset in listed]
    assert sorted(found, key=lambda asset: asset["name"]) == sorted(
        expected, key=lambda asset: asset["name"]
    )


@pytest.mark.slow
def test_it_is_found_by_its_slug(made: tuple[Client, Demo]) -> None:
    client, account = made
    with client.app.app_context():
        assert find_demo().id == account.account_id


def test_the_data_is_small() -> None:
    assert (FOLDER / "districts.geojson").stat().st_size < 400_000


@pytest.mark.parametrize("asset", assets(), ids=lambda asset: asset["name"])
def test_an_asset_lies_inside_its_project(asset: dict[str, Any]) -> None:
    districts = json.loads((FOLDER / "districts.geojson").read_text())["features"]
    (district,) = [d for d in districts if d["properties"]["district"] == asset["project"]]
    boundary = shapely.geometry.shape(district["geometry"])
    assert boundary.contains(shapely.geometry.shape(asset["location"]))


@pytest.mark.parametrize("asset", assets(), ids=lambda asset: asset["name"])
def test_an_asset_uses_the_documented_words(asset: dict[str, Any]) -> None:
    assert asset["type"] in ASSET_TYPES
    assert asset["status"] in ASSET_STATUSES
