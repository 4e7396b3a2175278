"""``bin/canopy account export``: the archive with everything that an account has."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import pytest

from app.exports.account_export import contents
from tests.cli.conftest import Run
from tests.exports.account_export.archives import Archive, archive_of
from tests.make import Client, make_asset, make_project, make_webhook, square


def _fill(client: Client) -> str:
    """Two projects and six assets. Returns the secret of a webhook."""
    project = make_project(client, geometry=square())
    make_project(client)
    for number in range(6):
        make_asset(client, project["id"], name=f"Hut {number}")
    secret: str = make_webhook(client)["secret"]
    return secret


def test_the_archive_is_that_of_the_api(run: Run, client: Client, tmp_path: Path) -> None:
    secret = _fill(client)
    file = tmp_path / "export.zip"
    result = run("account", "export", client.account_id, "--output", str(file), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "file": str(file),
        "bytes": file.stat().st_size,
        "projects": 2,
        "assets": 6,
    }
    assert file.stat().st_mode & 0o777 == 0o600
    mine, theirs = Archive(file.read_bytes()), archive_of(client)
    assert mine.names == theirs.names
    for name in ("projects.geojson", "assets.geojson", "members.json", "webhooks.json"):
        assert mine.text(name) == theirs.text(name)
    assert all(secret not in mine.text(name) for name in mine.names)
    (entry,) = (
        entry
        for entry in mine.lines("audit-log.ndjson")
        if entry.get("action") == "account.exported"
    )
    assert entry["actor"] == {"type": "operator", "id": None, "label": getpass.getuser()}


def test_it_says_where_it_is_from(run: Run, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    assert run("account", "export", client.account_id, "--output", str(file)).exit_code == 0
    settings = client.app.config["SETTINGS"]
    assert Archive(file.read_bytes()).json("manifest.json")["instance"] == settings.public_url


def test_it_can_go_to_standard_output(run: Run, client: Client) -> None:
    make_project(client)
    result = run("account", "export", client.account_id, "--output", "-")
    assert result.exit_code == 0, result.output
    assert len(Archive(result.stdout_bytes).features("projects.geojson")) == 1


def test_a_file_is_replaced_only_by_force(run: Run, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    file.write_text("mine")
    arguments = ("account", "export", client.account_id, "--output", str(file))
    refused = run(*arguments)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "exists" in refused.stderr
    assert file.read_text() == "mine"
    assert run(*arguments, "--force").exit_code == 0
    assert Archive(file.read_bytes()).features("projects.geojson") == []


def test_what_fails_leaves_nothing(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError("a defect")

    monkeypatch.setitem(contents.CONTENTS, "usage.json", contents.json_object(fail))
    with pytest.raises(RuntimeError, match="a defect"):
        run("account", "export", client.account_id, "--output", str(tmp_path / "export.zip"))
    assert list(tmp_path.iterdir()) == []
