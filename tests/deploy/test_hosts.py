"""The files for several hosts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from config import load_settings
from tests.architecture.sources import ROOT
from tests.deploy.files import SETTINGS, command, environment, fill, missing_programs, text
from tests.deploy.test_compose import docker_compose

COMPOSE = text("deploy/hosts/compose.yaml")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
FILLED = {
    "SECRET_KEY": "x" * 32,
    "PUBLIC_URL": "https://forest.example.org",
    "DATABASE_URL": "postgresql://canopy:p@10.0.0.41,10.0.0.42/canopy"
    "?target_session_attrs=read-write",
    "REDIS_URL": "redis://10.0.0.51:6379/0",
    "HOST_ADDRESS": "10.0.0.21",
}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_the_same_as_on_one_host(name: str) -> None:
    alone = yaml.safe_load(text("compose.yaml"))["services"][name]
    service = SERVICES[name]
    for key in alone.keys() - {"build", "networks", "depends_on", "environment", "env_file"}:
        assert service[key] == alone[key], key
    # The password of PostgreSQL is in DATABASE_URL there.
    own = alone["environment"].keys() - {"PGPASSWORD", "CANOPY_COMMAND"}
    assert service["environment"].keys() == own <= SETTINGS
    waits = {"migrate"} & alone.get("depends_on", {}).keys()
    assert service.get("depends_on", {}).keys() == waits
    words = service.get("command", command(text("Dockerfile")))
    assert list(missing_programs(words)) == []
    assert (
        service["environment"]["INSTANCE_PATH"] == environment(text("Dockerfile"))["INSTANCE_PATH"]
    )


def test_the_settings_can_be_used(tmp_path: Path) -> None:
    given = yaml.safe_load(fill(COMPOSE, FILLED))["services"]["web"]["environment"]
    settings = load_settings(given | {"INSTANCE_PATH": str(tmp_path), "CANOPY_ENV": "production"})
    assert "host=10.0.0.41,10.0.0.42" in settings.database_url
    assert urlsplit(settings.redis_url or "").hostname == "10.0.0.51"


def test_only_the_private_network_reaches_the_web_server() -> None:
    page = yaml.safe_load(fill(COMPOSE, FILLED))
    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["web"]
    assert page["services"]["web"]["ports"] == ["10.0.0.21:8000:8000"]


def test_docker_compose_reads_the_file(tmp_path: Path) -> None:
    words = docker_compose()
    target = tmp_path / "deploy/hosts"
    target.mkdir(parents=True)
    shutil.copy(ROOT / "deploy/hosts/compose.yaml", target)
    written = "".join(f"{name}={value}\n" for name, value in FILLED.items())
    (tmp_path / ".env").write_text(written)
    options = ["--env-file", ".env", "--file", "deploy/hosts/compose.yaml", "config", "--quiet"]
    done = subprocess.run([*words, *options], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
