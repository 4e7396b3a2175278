"""From one instance into another: by the program in ``docs/account-export.md``, run unchanged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.architecture.documents import documents
from tests.architecture.sources import ROOT
from tests.docs.pages import blocks
from tests.exports.account_export.archives import PATH
from tests.instances.served import Served, served
from tests.make import (
    Client,
    make_account,
    make_asset,
    make_former_boundary,
    make_project,
    multi_square,
    point,
)

pytestmark = pytest.mark.slow

DISTRICTS: Final = ROOT / "app/demo/districts.geojson"
METADATA: Final = {
    "region": 6,
    "share": 0.25,
    "old": True,
    "code": "007",
    "id": 12,
    "metadata_note": "x",
}
PROJECT: Final = ("name", "external_id", "description", "status", "metadata", "area_hectares")
ASSET: Final = ("name", "external_id", "type", "status", "location", "metadata")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Another instance, with a worker."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "instance").mkdir()
    with served(folder / "instance", folder, settings={"LOG_LEVEL": "warning"}) as running:
        yield running


def _districts() -> list[dict[str, Any]]:
    """Ranger districts of the US, with islands and holes."""
    features: list[dict[str, Any]] = json.loads(DISTRICTS.read_text())["features"]
    return features


def _program() -> str:
    (found,) = (
        each.text for each in blocks(documents()["docs/account-export.md"]) if "LINE" in each.text
    )
    return found


def _import(client: Client, there: Served, new: Client, folder: Path, code: str) -> str:
    """Have the program import the archive of an account. Returns what it says."""
    (folder / "archive.zip").write_bytes(client.get(PATH).get_data())
    environ = {
        "PATH": os.environ["PATH"],
        "CANOPY_URL": f"http://127.0.0.1:{there.port}",
        "CANOPY_KEY": new.token or "",
    }
    command = [sys.executable, "-I", "-c", code, "archive.zip"]
    done = subprocess.run(
        command, cwd=folder, env=environ, text=True, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _projects(client: Client) -> dict[str, dict[str, Any]]:
    found = client.get("/v1/projects?per_page=100").json["data"]
    return {each["name"]: each for each in found}


def _chosen(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: record[name] for name in names}


def _assets(client: Client, project_id: str) -> list[dict[str, Any]]:
    found = client.get(f"/v1/projects/{project_id}/assets?per_page=100").json["data"]
    return sorted((_chosen(each, ASSET) for each in found), key=lambda each: str(each["name"]))


def _fill(client: Client) -> None:
    wood = make_project(
        client,
        name="Hazel Wood",
        external_id="HW-1",
        description="A text, “quoted”; über Wälder",
        geometry=multi_square((1, 1), (3, 3)),
        metadata=METADATA,
    )
    for number in range(3):
        where = point(1.5 + number / 7, 1.25)
        make_asset(client, wood["id"], location=where, metadata=METADATA, status="maintenance")
    make_asset(client, wood["id"], type="weather_station", external_id="WX-1")
    districts = _districts()
    for status in ("archived", "draft"):
        district = districts[len(status)]
        project = make_project(client, name=f"An {status} one", geometry=district["geometry"])
        make_asset(client, project["id"], name="Hut", location=point(2, 2))
        client.put(f"/v1/projects/{project['id']}", json={"status": status})
    make_former_boundary(client, make_project(client, name="Redrawn")["id"])
    make_project(client, name="Without a boundary")


def test_projects_and_assets_arrive_as_they_were(
    client: Client, elsewhere: Served, tmp_path: Path
) -> None:
    _fill(client)
    new = make_account(elsewhere.app)
    code = _program().replace("AT_ONCE = 500", "AT_ONCE = 3").replace("sleep(1)", "sleep(0.1)")
    said = _import(client, elsewhere, new, tmp_path, code)
    assert said.count("new: ") == 5
    assert "rejected" not in said

    before, after = _projects(client), _projects(new)
    assert after.keys() == before.keys()
    for name, project in before.items():
        assert _chosen(after[name], PROJECT) == _chosen(project, PROJECT)
        assert after[name]["geometry"] == project["geometry"]
        assert after[name]["slug"] == project["slug"]
        assert after[name]["id"] != project["id"]
        assert _assets(new, after[name]["id"]) == _assets(client, project["id"])
    assert len(_assets(new, after["Hazel Wood"]["id"])) == 4
