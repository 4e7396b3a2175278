"""Imports that were read, without a worker."""

from __future__ import annotations

from app.account.lookup import find_account
from app.auth.operator import acting_for, first_owner
from app.db.extensions import db
from app.db.transactions import transaction
from app.imports.service import create_import
from app.models import ImportFeature
from app.values import clock
from tests.make.accounts import Client


def make_import(client: Client, status: str = "ready") -> str:
    """An import of projects with one new feature. Returns its id."""
    return _make(client, status, kind="projects", filename="a.geojson")


def make_asset_import(client: Client, project_id: str, filename: str = "a.geojson") -> str:
    """One of assets of a project, which is ready. Returns its id."""
    return _make(client, "ready", kind="assets", filename=filename, project_id=project_id)


def _make(client: Client, status: str, **values: str) -> str:
    with client.app.app_context(), transaction():
        account = find_account(client.account_id)
        owner = acting_for(account, first_owner(account.id))
        made = create_import(owner, upload_id="upl_none", **values)
        made.status, made.format, made.crs = status, "geojson", "EPSG:4326"
        made.layer, made.mapping, made.match = "a", {"name": "name"}, "none"
        made.counts = {"new": 1}
        db.session.flush()
        db.session.add(_feature(client.account_id, made.id, is_applied=status == "applied"))
        import_id: str = made.id
        return import_id


def _feature(account_id: str, import_id: str, *, is_applied: bool) -> ImportFeature:
    return ImportFeature(
        import_id=import_id,
        account_id=account_id,
        number=1,
        name="Alpine",
        verdict="new",
        state="applied" if is_applied else None,
        target_id="proj_01arz3ndektsv4rrffq69g5fav" if is_applied else None,  # gone meanwhile
        written_at=clock.now() if is_applied else None,
        changes=[],
        problems=[],
        is_namesake=False,
        values={"name": "Alpine", "own_id": None, "is_numbered": False, "columns": {}},
    )
