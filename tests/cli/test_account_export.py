"""``bin/canopy account export``: the whole account as one JSON document."""

from __future__ import annotations

import json
from pathlib import Path

from app.values.version import VERSION
from tests.cli.conftest import Run
from tests.make import Client, make_asset, make_member, make_project, make_webhook, square


def listed(client: Client, path: str) -> list[object]:
    records: list[object] = client.get(f"{path}?per_page=100").json["data"]
    return records


def test_the_document_has_what_the_api_shows(
    run: Run, client: Client, stranger: Client, tmp_path: Path
) -> None:
    make_project(stranger)
    project = make_project(client, geometry=square())
    assets = [make_asset(client, project["id"], name=f"Hut {n}") for n in range(6)]
    archived = make_project(client)
    client.post(f"/v1/projects/{archived['id']}/archive")
    webhook = make_webhook(client)
    make_member(client, "viewer")
    file = tmp_path / "export.json"
    result = run("account", "export", client.account_id, "--output", str(file), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "file": str(file),
        "bytes": file.stat().st_size,
        "projects": 2,
        "assets": 6,
    }
    assert file.stat().st_mode & 0o777 == 0o600
    document = json.loads(file.read_bytes())
    assert list(document) == [
        "format", "format_version", "made_at", "made_by",
        "account", "members", "webhooks", "projects", "assets",
    ]  # fmt: skip
    assert (document["format"], document["format_version"]) == ("canopy-account", 1)
    assert document["made_by"] == f"Canopy {VERSION}"
    assert document["account"] == client.get("/v1/account").json["data"]
    assert document["members"] == client.get("/v1/account/members").json["data"]
    assert document["webhooks"] == client.get("/v1/webhooks").json["data"]
    by_id = {record["id"]: record for record in listed(client, "/v1/projects")}  # type: ignore[index]
    assert {record["id"]: record for record in document["projects"]} == by_id
    assert [record["id"] for record in document["assets"]] == [asset["id"] for asset in assets]
    assert document["assets"][0] == assets[0]
    assert webhook["secret"] not in file.read_text()


def test_the_document_can_go_to_standard_output(run: Run, client: Client) -> None:
    make_project(client)
    result = run("account", "export", client.account_id, "--output", "-")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert len(document["projects"]) == 1
    assert document["assets"] == []


def test_a_file_is_replaced_only_by_force(run: Run, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text("mine")
    arguments = ("account", "export", client.account_id, "--output", str(file))
    refused = run(*arguments)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "exists" in refused.stderr
    assert file.read_text() == "mine"
    assert run(*arguments, "--force").exit_code == 0
    assert json.loads(file.read_text())["projects"] == []
