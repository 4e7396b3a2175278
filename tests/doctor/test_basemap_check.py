"""What the doctor says of the instance's own map."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from app.audit.entries import changes_of_new, write_instance_entry
from app.basemap.own import FILE
from app.db.snapshots import database_url, open_snapshot
from app.db.transactions import transaction
from app.doctor.checks.basemap import MADE, check_basemap
from app.doctor.findings import Finding, Status
from tests.basemap.planet import LAND, make_planet
from tests.make import make_account, make_project, square


def _check(app: Flask) -> Finding:
    settings = app.config["SETTINGS"]
    with open_snapshot(database_url(settings)) as connection:
        (found,) = check_basemap(connection, settings)
    return found


def _made_on(app: Flask, host: str | None) -> None:
    with app.app_context(), transaction():
        write_instance_entry(MADE, changes_of_new({"host": host}))


def test_a_host_without_a_map_that_another_has(sqlite: Flask) -> None:
    found = _check(sqlite)
    assert found.status is Status.OK
    assert "basemap makes one" in found.found
    _made_on(sqlite, "larch")
    found = _check(sqlite)
    assert found.status is Status.WARNING
    assert "but larch has one of" in found.found


def test_projects_that_it_does_not_have(instance: Flask) -> None:
    path: Path = instance.config["SETTINGS"].instance_path / FILE
    make_planet(path)
    client = make_account(instance)
    make_project(client, geometry=square((LAND[0] + LAND[2]) / 2, 46.5, size=0.001))
    make_project(client, geometry=None)
    found = _check(instance)
    assert found.status is Status.OK
    assert "zooms 0 to 14, from an unknown source" in found.found
    for _ in range(2):
        make_project(client, geometry=square(24, 46.5, size=0.001))
    found = _check(instance)
    assert found.status is Status.WARNING
    assert found.found.endswith("; 2 projects outside of it")


def test_a_file_that_is_no_map(sqlite: Flask) -> None:
    path: Path = sqlite.config["SETTINGS"].instance_path / FILE
    path.write_bytes(b"<html>")
    found = _check(sqlite)
    assert (found.status, found.found) == (Status.WARNING, f"{path} is not a PMTiles file")
