"""``bin/canopy export``: projects or assets to a file."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask

from app.account.lookup import read_account
from app.cli import progress
from app.eudr import writer
from config import ROOT
from tests.cli.conftest import Run
from tests.formats.writers.sources import read_layer
from tests.make import Client, make_asset, make_project, point, square
from tests.make.geometry import square_ring


@pytest.fixture
def project(client: Client) -> str:
    """Of an account with two projects, one of them archived, and two assets."""
    archived = make_project(client, name="Old", geometry=square(3))
    client.post(f"/v1/projects/{archived['id']}/archive")
    made: str = make_project(client, name="New", geometry=square(), metadata={"region": 6})["id"]
    make_asset(client, made, name="Mast", location=point())
    make_asset(client, archived["id"], name="Hut", type="hut")
    return made


def _export(run: Run, client: Client, *words: str, code: int = 0) -> str:
    result = run("export", "--account", client.account_id, *words)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_the_format_follows_from_the_name(
    run: Run, client: Client, project: str, tmp_path: Path
) -> None:
    for ending, format_name in (("csv", "csv"), ("gpkg", "gpkg"), ("zip", "shp")):
        file = tmp_path / f"forests.{ending}"
        shown = json.loads(_export(run, client, "--output", str(file), "--json"))
        assert shown == {
            "file": str(file),
            "format": format_name,
            "records": 2,
            "bytes": file.stat().st_size,
        }
        assert file.stat().st_mode & 0o777 == 0o600
        assert len(read_layer(file).geometries) == 2
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_exported_is_what_the_api_exports(
    run: Run, client: Client, project: str, tmp_path: Path
) -> None:
    file = tmp_path / "forests.geojson"
    _export(run, client, "--output", str(file), "--status", "active", "--bbox", "-180,0,180,90")
    path = "/v1/exports/projects?status=active&bbox=-180,0,180,90"
    assert file.read_bytes() == client.get(path).get_data()
    assert len(json.loads(file.read_bytes())["features"]) == 1


def test_standard_output(run: Run, client: Client, project: str) -> None:
    text = _export(run, client, "--format", "geojsonl", "--output", "-")
    names = [json.loads(line)["properties"]["name"] for line in text.splitlines()]
    assert names == ["Old", "New"]


def test_assets(run: Run, client: Client, project: str, tmp_path: Path) -> None:
    file = tmp_path / "stations.csv"
    _export(run, client, "--assets", "--output", str(file))
    assert read_layer(file).columns["name"] == ["Mast", "Hut"]
    _export(run, client, "--project", project, "--output", str(file), "--yes")
    assert read_layer(file).columns["name"] == ["Mast"]
    gpx = tmp_path / "stations.gpx"
    shown = _export(run, client, "--assets", "--output", str(gpx))
    assert "records  2" in shown
    assert read_layer(gpx, "waypoints").columns["name"] == ["Mast"]


def test_an_existing_file_is_replaced_only_on_confirmation(
    run: Run, client: Client, project: str, tmp_path: Path
) -> None:
    file = tmp_path / "forests.csv"
    file.write_text("mine")
    words = ("export", "--account", client.account_id, "--output", str(file))
    assert run(*words, input="n\n").exit_code == 1
    assert "add --yes" in _export(run, client, "--output", str(file), "--json", code=1)
    assert file.read_text() == "mine"
    assert run(*words, input="y\n").exit_code == 0
    assert file.read_text().startswith("id,")
    assert run(*words, "--yes").exit_code == 0


def test_wrong_usage(run: Run, client: Client) -> None:
    for words, said in (
        (("--output", "forests.xlsx"), "Set --format"),
        (("--output", "-"), "Set --format"),
        (("--output", "x.csv", "--bbox", "1,2"), "--bbox:"),
        (("--output", "x.csv", "--updated-since", "today"), "--updated-since: Must be an RFC 3339"),
        (("--output", "x.csv", "--status", "gone"), "--status: Must be one of: active"),
        (("--output", "x.csv", "--type", "hut"), "--type: Projects have no such filter."),
        (("--output", "x.csv", "--holes", "ignore"), "--holes: Only for format=eudr."),
        (("--output", "x.gpx"), "--format: gpx is for assets."),
        (("--output", "x.csv", "--project", "proj_1"), "--project: Must be the id of a project"),
        (("--assets", "--output", "x.csv", "--producer-name", "Jo"), "Only for format=eudr."),
        (("--assets", "--format", "eudr", "--output", "x.json", "--points"), "no such filter."),
    ):
        assert said in _export(run, client, *words, code=2)


def test_what_does_not_exist(run: Run, client: Client, tmp_path: Path) -> None:
    absent = "proj_01arz3ndektsv4rrffq69g5fav"
    words = ("--output", str(tmp_path / "x.csv"))
    assert "does not exist" in _export(run, client, *words, "--project", absent, code=1)
    assert "There is no account" in run("export", "--account", "nobody", *words).stderr
    assert "is a folder" in _export(
        run, client, "--format", "csv", "--output", str(tmp_path), code=1
    )
    nowhere = str(tmp_path / "absent" / "x.csv")
    assert "cannot be written" in _export(run, client, "--output", nowhere, code=1)


def test_a_file_for_the_eudr(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hole = {
        "type": "Polygon",
        "coordinates": [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]],
    }
    made = make_project(client, geometry=hole)
    make_asset(client, made["id"], type="plot", location=point(10.1, 50.1))
    file = tmp_path / "plots.geojson"
    words = ("--format", "eudr", "--producer-name", "Jo", "--output", str(file))
    refused = _export(run, client, *words, "--variant", "2", code=1)
    assert f"{made['id']}: Set ProducerCountry" in refused
    assert not file.exists()
    words = (*words, "--producer-country", "de", "--yes")
    for more, expected in (
        (("--holes", "ignore"), ["Polygon"]),
        ((), ["Polygon", "Polygon"]),
        (("--points",), ["Polygon", "Polygon", "Point"]),
        (("--points", "--no-boundaries"), ["Point"]),
    ):
        _export(run, client, *words, *more)
        plots = json.loads(file.read_bytes())["features"]
        assert sorted(plot["geometry"]["type"] for plot in plots) == sorted(expected)
    monkeypatch.setattr(writer, "FILE_BYTES", 400)
    assert "divide=true" in _export(run, client, *words, code=1)


def test_nothing_is_left_of_a_file_that_fails(
    run: Run, client: Client, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.formats.writers.shapefile.SHAPEFILE_BYTES", 10)
    refused = _export(run, client, "--output", str(tmp_path / "forests.zip"), code=1)
    assert "2 GB" in refused
    assert list(tmp_path.iterdir()) == []


def _environ(app: Flask) -> dict[str, str]:
    settings = app.config["SETTINGS"]
    return {
        "PATH": "/usr/bin:/bin",
        "INSTANCE_PATH": str(settings.instance_path),
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
    }


@pytest.mark.slow
def test_as_a_command_into_a_pipe_that_closes(app: Flask, client: Client, project: str) -> None:
    with app.app_context():
        slug = read_account(client.account_id)["slug"]
    canopy = f"{shlex.quote(sys.executable)} -m app.cli"
    command = f"{canopy} export --account {slug} --format csv --output - | head -c 2"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=ROOT, env=_environ(app), capture_output=True, check=True
    )
    assert done.stdout == b"id"
    assert b"Traceback" not in done.stderr


def test_a_terminal_shows_a_bar(
    run: Run, client: Client, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is full in the end, though the records are read twice."""
    terminal, end = pty.openpty()
    with os.fdopen(end, "w") as stderr:
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stderr))
        for words in ((), ("--assets",), ("--project", project)):
            _export(run, client, *words, "--output", str(tmp_path / "forests.csv"), "--yes")
    shown = ""
    with suppress(OSError):  # at the end of a terminal that nobody writes to
        while piece := os.read(terminal, 10_000):
            shown += piece.decode()
    os.close(terminal)
    assert (shown.count("100%"), "Exporting" in shown) == (3, True)
