"""The compose file: every part is locked down, waits for what it needs and can be configured."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from config import load_settings
from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.deploy.files import (
    DEFAULTS,
    SETTINGS,
    assignments,
    command,
    compose,
    environment,
    fill,
    missing_programs,
    text,
    tool,
    variables,
)

SERVICES: dict[str, dict[str, Any]] = compose()["services"]
OURS = ["migrate", "web", "worker"]
EXAMPLE = text("deploy/compose.env.example")
SECRETS = ["POSTGRES_PASSWORD", "SECRET_KEY"]
# What .env has for the compose file itself, beside settings of the service.
FOR_COMPOSE = {"CANOPY_TAG", "DOMAIN", "POSTGRES_PASSWORD"}
# What has no default that would show its form.
SHOWN_BY_EXAMPLE = {
    *("MAIL_URL", "MAIL_FROM", "SIGN_UP", "DEFAULT_PLAN"),
    *("SUPPORT_EMAIL", "PRIVACY_URL", "IMPRINT_URL"),
}
FILLED = {name: f"{name.lower()}-{'x' * 32}" for name in SECRETS} | {"DOMAIN": "forest.example.org"}


def volumes(service: str) -> Iterator[tuple[str, str]]:
    for volume in SERVICES[service].get("volumes", []):
        source, target = volume.split(":")[:2]
        yield source, target


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_locked_down_and_bounded(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert any(place.startswith("/tmp") for place in service.get("tmpfs", [])) or name == "valkey"
    if name != "migrate":
        assert service["restart"] == "unless-stopped"
        assert service["deploy"]["resources"]["limits"]["memory"]
        assert service["logging"]["options"]["max-size"]


def test_migrations_run_once_and_everything_waits_for_them() -> None:
    assert SERVICES["migrate"]["restart"] == "no"
    for name in ("web", "worker"):
        waits = SERVICES[name]["depends_on"]
        assert waits["migrate"] == {"condition": "service_completed_successfully"}


def test_nobody_but_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert compose()["networks"]["inside"] == {"internal": True}
    for name in ("postgres", "valkey"):
        assert SERVICES[name]["networks"] == ["inside"]
    assert SERVICES["proxy"]["networks"] == ["outside"]


def test_networks_and_volumes_are_declared_and_used() -> None:
    networks = {name for service in SERVICES.values() for name in service["networks"]}
    assert networks == compose()["networks"].keys()
    sources = {source for name in SERVICES for source, _ in volumes(name)}
    named = {source for source in sources if not source.startswith(".")}
    assert named == compose()["volumes"].keys()
    assert [source for source in sources - named if not (ROOT / source).exists()] == []


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_ours_has_its_folder_and_settings(name: str) -> None:
    assert dict(volumes(name)) == {"instance": environment(text("Dockerfile"))["INSTANCE_PATH"]}
    assert SERVICES[name]["environment"].keys() <= SETTINGS | {"PGPASSWORD", "CANOPY_COMMAND"}
    assert SERVICES[name]["env_file"] == ".env"
    words = SERVICES[name].get("command", command(text("Dockerfile")))
    assert list(missing_programs(words)) == []


@pytest.mark.parametrize("name", OURS)
def test_the_settings_of_a_service_can_be_used(name: str, tmp_path: Path) -> None:
    given = yaml.safe_load(fill(text("compose.yaml"), FILLED))["services"][name]["environment"]
    here = {"INSTANCE_PATH": str(tmp_path), "CANOPY_ENV": "production"}
    settings = load_settings(assignments(EXAMPLE, commented=False) | given | here)
    assert settings.public_url == "https://forest.example.org"
    assert settings.trusted_proxies == 1
    for url in (settings.database_url, settings.redis_url):
        assert urlsplit(url).hostname in SERVICES


def test_the_same_password_reaches_both_ends() -> None:
    page = yaml.safe_load(fill(text("compose.yaml"), FILLED))["services"]
    here, there = page["web"]["environment"], page["postgres"]["environment"]
    url = urlsplit(here["DATABASE_URL"])
    assert url.password is None
    assert here["PGPASSWORD"] == there["POSTGRES_PASSWORD"]
    assert url.username == there["POSTGRES_USER"]
    assert url.path == f"/{there['POSTGRES_DB']}"


def test_the_proxy_leads_to_the_web_server() -> None:
    host, port = SERVICES["proxy"]["environment"]["UPSTREAM"].split(":")
    assert host == "web"
    assert port == SERVICES["web"]["environment"]["PORT"]
    for name in SERVICES["proxy"]["environment"]:
        assert "{$" + name in text("deploy/Caddyfile")


def test_valkey_takes_as_much_memory_as_the_settings_say(tmp_path: Path) -> None:
    """As an embedded one would."""
    server = tmp_path / "valkey-server"
    server.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    server.chmod(0o755)
    for given, memory in (
        ({}, 256),
        ({"SMALL": "true"}, 16),
        ({"SMALL": "yes", "VALKEY_MEMORY_MB": "32"}, 32),
        ({"SMALL": "no"}, 256),
    ):
        valkey = yaml.safe_load(fill(text("compose.yaml"), FILLED | given))["services"]["valkey"]
        words = [word.replace("$$", "$") for word in valkey["command"]]
        environ = valkey["environment"] | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        environ = {name: str(value) for name, value in environ.items() if value is not None}
        said = captured(words, env=environ, check=True).stdout
        assert said == (
            f"--appendonly|yes|--save||--maxmemory|{memory}mb|--maxmemory-policy|noeviction|"
        )
        used = load_settings({"INSTANCE_PATH": str(tmp_path)} | given).valkey_memory_mb
        assert used == memory


def test_secrets_must_be_set() -> None:
    used = variables(text("compose.yaml"))
    assert sorted(name for name, (operator, _) in used.items() if operator == "?") == SECRETS
    for name in SECRETS:
        assert assignments(EXAMPLE)[name] == ""
    assert ".env" in text(".gitignore").splitlines()


def test_the_example_names_every_variable_and_no_other() -> None:
    names = assignments(EXAMPLE).keys()
    assert variables(text("compose.yaml")).keys() <= names
    assert names <= SETTINGS | FOR_COMPOSE
    for name in names & DEFAULTS.keys() - {*SECRETS, "METRICS_TOKEN", *SHOWN_BY_EXAMPLE}:
        assert assignments(EXAMPLE)[name] == DEFAULTS[name]


def docker_compose() -> list[str]:
    """The words that run Docker Compose, which reads a file without an engine."""
    for words in (["docker", "compose"], ["docker-compose"]):
        if program := tool(words[0]):
            found = [program, *words[1:]]
            shown = captured([*found, "version"])
            if shown.returncode == 0 and "version v2" in shown.stdout:
                return found
    pytest.skip("Docker Compose is not installed")


def test_docker_compose_reads_the_file(tmp_path: Path) -> None:
    words = docker_compose()
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    filled = assignments(EXAMPLE, commented=False) | FILLED
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in filled.items()))
    done = subprocess.run([*words, "config", "--quiet"], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
