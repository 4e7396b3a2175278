"""A project that is too large to be deleted in one transaction, once batches are small."""

from __future__ import annotations

import dataclasses
from copy import copy
from typing import Any, Final

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.db import batched_deletion
from app.db.extensions import db
from app.db.transactions import transaction
from app.doctor.counters import wrong_counters
from app.models import Asset, BoundaryEntry, BoundaryShape, Project
from app.projects import deletion
from app.projects.jobs import delete_projects
from app.usage.counters import recount_usage
from app.values import clock
from app.values.ids import new_id
from tests.jobs.due import run_if_due
from tests.make import (
    Client,
    make_asset,
    make_former_boundary,
    make_project,
    point,
    square,
)

ASSETS: Final = 7
_METADATA: Final = '{"maker": "Somebody"}'


def make_batches_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (batched_deletion, deletion):
        monkeypatch.setattr(module, "BATCH_ROWS", 2)
    monkeypatch.setattr(batched_deletion, "MAX_ROWS", 2)


class LargeProject:
    """A project with more rows than a batch has, and in its account another one that differs in
    nothing but its names. Both are archived."""

    def __init__(self, client: Client) -> None:
        self.client = client
        ids = [self._make(name) for name in ("Beech kept", "Beech gone")]
        (self.kept, self.kept_asset, _), (self.gone, self.asset, self.boundary) = ids
        with client.app.app_context(), transaction():
            recount_usage(client.account_id)
        for each in (self.kept, self.gone):
            client.post(f"/v1/projects/{each}/archive")

    def _make(self, name: str) -> tuple[str, str, str]:
        client = self.client
        fields = {"external_id": name, "description": "With a hut", "metadata": {"owner": "A"}}
        project_id = make_project(client, name=name, **fields)["id"]
        boundary = make_former_boundary(client, project_id)
        client.put(f"/v1/projects/{project_id}", json={"geometry": square(10, 40)})
        fields = {"location": point(10.1, 40.1), "type": "sensor"}
        asset = make_asset(client, project_id, name=name, **fields)["id"]
        with client.app.app_context(), transaction():
            rows = [self._asset(project_id, f"{name} {n}") for n in range(1, ASSETS)]
            db.session.execute(Asset.__table__.insert(), rows)
        return project_id, asset, boundary

    def _asset(self, project_id: str, name: str) -> dict[str, Any]:
        moment = clock.now()
        return {
            "id": new_id("asset"), "account_id": self.client.account_id, "project_id": project_id,
            "type": "sensor", "status": "active", "created_at": moment, "updated_at": moment,
            "name": name, "search_text": name.lower(), "longitude": 10.1, "latitude": 40.1,
            "location": '{"type":"Point","coordinates":[10.1,40.1]}', "metadata_json": _METADATA,
        }  # fmt: skip

    def path(self, form: str) -> str:
        names = {"kept": self.kept, "gone": self.gone, "asset": self.asset}
        return form.format(boundary=self.boundary, **names)

    def on(self, app: Flask) -> LargeProject:
        """The same in the database of another application."""
        other = copy(self)
        other.client = dataclasses.replace(self.client, app=app)
        return other

    def delete(self) -> None:
        assert self.client.delete(f"/v1/projects/{self.gone}").status_code == 204

    def rows(self) -> dict[str, int]:
        """How many rows are left of it."""
        with self.client.app.app_context():
            row = select(Project.row).where(Project.id == self.gone).scalar_subquery()
            counts = {
                "projects": select(func.count()).where(Project.id == self.gone),
                "assets": select(func.count()).where(Asset.project_id == self.gone),
                "boundaries": select(func.count()).where(BoundaryEntry.project_id == self.gone),
                "shapes": select(func.count()).where(BoundaryShape.project_row == row),
            }
            return {name: db.session.scalar(count) or 0 for name, count in counts.items()}

    def run_job(self) -> int:
        with self.client.app.app_context():
            return run_if_due(delete_projects)

    def stored_bytes(self) -> int:
        usage = self.client.get("/v1/account/usage").json["data"]
        return int(usage["stored_bytes"]["current"])

    def wrong_counters(self) -> list[Any]:
        with self.client.app.app_context(), db.engine.connect() as connection:
            found = wrong_counters(connection)
            return [each for each in found if each.account_id == self.client.account_id]
