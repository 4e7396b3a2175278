"""Importing features with the command, and what is there afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Run
from tests.make import Client
from tests.make.features import collection, feature


def features_file(folder: Path, *features: tuple[dict[str, Any], Any]) -> Path:
    """A file with these features, each as its properties and its geometry."""
    path = folder / "features.geojson"
    made = (feature(geometry, **properties) for properties, geometry in features)
    path.write_bytes(collection(*made))
    return path


def imported(run: Run, client: Client, path: Path, *options: str) -> dict[str, Any]:
    result = run("import", str(path), "--account", client.account_id, "--json", *options)
    assert result.exit_code in (0, 1), result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (1 if document["rejected"] else 0)
    return document


def projects(client: Client) -> dict[str, dict[str, Any]]:
    listed = client.get("/v1/projects?per_page=100&sort=name").json["data"]
    return {project["name"]: project for project in listed}
