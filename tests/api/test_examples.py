"""The examples of the description are what the service takes and answers."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.account.credentials.schemas import VerificationSchema
from app.account.schemas import AccountSchema, UsageSchema
from app.account.service import create_account
from app.assets.schemas import AssetCreateSchema, AssetSchema, AssetUpdateSchema
from app.db.extensions import db
from app.projects.boundaries.schemas import GeometryCheckSchema, GeometryReportSchema
from app.projects.schemas import ProjectCreateSchema, ProjectSchema, ProjectUpdateSchema
from app.values import clock
from tests.make import Client, make_asset, make_key, make_project

PROJECT = ProjectSchema.example
ASSET = AssetSchema.example
MOMENT = clock.parse_time(PROJECT["created_at"])
IDS = {"id", "project_id", "account_id"}


@pytest.fixture
def owner(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The account of the examples, at the moment of the examples; anew for each test."""
    monkeypatch.setattr(clock, "now", lambda: MOMENT)
    example = AccountSchema.example
    with app.app_context():
        made = create_account(
            name=example["name"], owner_email="owner@example.org", plan=example["plan"]
        )
        db.session.commit()
        client = Client(app, made.account.id, made.owner.id, None)
    return make_key(client, permissions=["admin"])


def _as_created(example: dict[str, Any]) -> dict[str, Any]:
    """The example, which was changed since, as it was when it was created."""
    return example | {"updated_at": example["created_at"]}


def _without_ids(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in IDS}


@pytest.mark.both
def test_project(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: MOMENT)
    project = make_project(client, **ProjectCreateSchema.example)
    assert _without_ids(project) == _without_ids(_as_created(PROJECT))
    assert list(project) == list(PROJECT)
    assert [len(project[name]) for name in ("id",)] == [len(PROJECT["id"])]
    changed = client.put(f"/v1/projects/{project['id']}", json=ProjectUpdateSchema.example).json[
        "data"
    ]
    assert changed == project | ProjectUpdateSchema.example


@pytest.mark.both
def test_asset(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: MOMENT)
    asset = make_asset(client, make_project(client)["id"], **AssetCreateSchema.example)
    assert _without_ids(asset) == _without_ids(_as_created(ASSET))
    assert list(asset) == list(ASSET)
    path = f"/v1/projects/{asset['project_id']}/assets/{asset['id']}"
    assert (
        client.put(path, json=AssetUpdateSchema.example).json["data"]
        == asset | AssetUpdateSchema.example
    )


def test_report_of_a_geometry(client: Client) -> None:
    report = client.post("/v1/geometry/validate", json=GeometryCheckSchema.example).json["data"]
    assert report == GeometryReportSchema.example


def test_account_and_usage(owner: Client) -> None:
    make_project(owner, **ProjectCreateSchema.example)
    usage = owner.get("/v1/account/usage").json["data"]
    assert usage == UsageSchema.example
    account = owner.get("/v1/account").json["data"]
    expected = AccountSchema.example
    assert list(account) == list(expected)
    numbered = account["slug"].startswith(expected["slug"])
    assert numbered
    assert _without_ids(account) | {"slug": expected["slug"]} == _without_ids(expected)


def test_verification(owner: Client) -> None:
    example = VerificationSchema.example
    key = make_key(owner, permissions=example["permissions"])
    assert _without_ids(key.get("/v1/auth/verify").json) == _without_ids(example)
