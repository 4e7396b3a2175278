"""A new field is a column, a migration and an entry in ``app/policy/fields.py``; it is then taken
and shown everywhere."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.new_field import edits, interfaces
from tests.captured import captured

TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
GIVEN: dict[str, Any] = {
    "create": "North",
    "reject": 422,
    "read": "North",
    "list": "North",
    "filter by ecoregion=North": [1, "North wood"],
    "filter by ecoregion=North&search=wood": [1, "North wood"],
    "filter by ecoregion=North&status=active": [1, "North wood"],
    "filter out": 0,
    "update": "South",
    "event": ["South", {"from": "North", "to": "South"}],
    "row": "applied",
    "event of a row": ["East", {"from": "South", "to": "East"}],
    "row with a fault": ["ecoregion"],
    "schema of project.updated": [TEXT_OR_NULL, TEXT_OR_NULL, "Cascades"],
    "import": [["West", 1950, '{"age":90}'], ["7", 1951, '{"age":90}'], "properties.Ecoregion"],
    "year: create": 1950,
    "year: reject": ["planting_year"] * 4,
    "year: filter by 1950": [200, 1],
    "year: filter by 1951": [200, 0],
    "year: filter by x": [400, 0],
    "year: filter by 1799": [400, 0],
    "year: min_planting_year=1950": [1, 1, 1, 1],
    "year: max_planting_year=1949": [0, 0, 0, 0],
    "year: min_planting_year=1950&max_planting_year=1950&status=active": [1, 1, 1, 1],
    "year: min_planting_year=1951&max_planting_year=1950": [-400, -400, -400, -400],
    "year: has_planting_year=true": [1, 1, 1, 1],
    "year: update": 1960,
    "year: event": [1960, {"from": 1950, "to": 1960}],
    "year: audit entry": {"planting_year": {"from": 1950, "to": 1960}},
    "year: /ogc planting_year=1960": [1960],
    "year: /ogc filter=planting_year BETWEEN 1955 AND 1965": [1960],
    "year: /ogc filter=planting_year < 1900": [],
    "year: /ogc schema": "integer",
    "year: CSV": "1960",
    "year: chat": [1960],
    "year: page": True,
    "year: form": True,
    "year: wrong": [422, True],
    "year: conflict": [412, True],
    "year: saved": [303, True],
    "chat": [["North wood", "North"]],
    "chat's arguments": True,
    "bench rows of projects": 0,
    "schemas": [
        "Asset.maker",
        "AssetCreate.maker",
        "AssetFields.maker",
        "AssetProperties.maker",
        "AssetUpdate.maker",
        *(
            f"{schema}.{field}"
            for schema in (
                "Project",
                "ProjectCreate",
                "ProjectFields",
                "ProjectProperties",
                "ProjectUpdate",
            )
            for field in ("ecoregion", "planting_year")
        ),
    ],
    "parameters": ["ecoregion"] * 4 + ["maker"] * 3 + ["planting_year"] * 4,
    "create asset": "North",
    "read asset": "North",
    "filter assets": [1, "North"],
    "filter out assets": 0,
    "update asset": "South",
    "event of asset": ["South", {"from": "North", "to": "South"}],
    "row of asset": "applied",
    "event of a row of assets": ["East", {"from": "South", "to": "East"}],
    "schema of asset.updated": [TEXT_OR_NULL, TEXT_OR_NULL, "Vaisala"],
    "chat's arguments for assets": True,
    "bench rows of assets": 0,
}


@pytest.mark.slow
def test_a_new_field_is_taken_and_shown_everywhere(tmp_path: Path, valkey_url: str) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    assert len(edits.add_fields(copy)) <= edits.MOST_FILES
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(copy), "REDIS_URL": valkey_url}
    done = captured(
        [sys.executable, interfaces.__file__, str(tmp_path / "instance")],
        cwd=copy,
        env=environ,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("module").startswith(str(copy))
    assert found == GIVEN
