"""Redocly and Spectral find nothing to say about the descriptions, not even a warning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.clients import run_node
from tests.make import Client

pytestmark = pytest.mark.slow

REDOCLY = "node_modules/@redocly/cli/bin/cli.js"
SPECTRAL = "node_modules/@stoplight/spectral-cli/dist/index.js"
ADDRESS = "https://canopy.forest.org"  # one on this machine gets a warning from Redocly


@pytest.fixture(params=["/v1/openapi.json", pytest.param("/ogc/api", marks=pytest.mark.trial)])
def folder(request: pytest.FixtureRequest, client: Client, tmp_path: Path) -> Path:
    """A folder with the description of a part of the API, and Spectral's rules."""
    described = client.get(request.param, base_url=ADDRESS)
    (tmp_path / "openapi.json").write_bytes(described.data)
    (tmp_path / "rules.json").write_text('{"extends": ["spectral:oas"]}')
    return tmp_path


def _redocly(folder: Path) -> list[dict[str, Any]]:
    options = ("lint", "openapi.json", "--extends", "recommended", "--format", "json")
    done = run_node(folder, REDOCLY, *options)
    problems: list[dict[str, Any]] = json.loads(done.stdout)["problems"]
    return problems


def _spectral(folder: Path) -> list[dict[str, Any]]:
    options = ("lint", "openapi.json", "--ruleset", "rules.json", "--format", "json", "--quiet")
    done = run_node(folder, SPECTRAL, *options)
    problems: list[dict[str, Any]] = json.loads(done.stdout)
    return problems


@pytest.mark.trial
def test_redocly_has_nothing_to_say(folder: Path) -> None:
    assert _redocly(folder) == []


def test_spectral_has_nothing_to_say(folder: Path) -> None:
    assert _spectral(folder) == []
