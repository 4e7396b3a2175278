"""``bin/canopy audit``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.core import create_core
from app.db.connections import close_all
from app.policy.audit import INSTANCE
from config import ROOT
from tests.audit.log.logs import PATH, exported, prune, seal, sealed_log
from tests.captured import captured
from tests.cli.conftest import Run, runner
from tests.make import Client


@pytest.fixture
def run(app: Flask) -> Any:
    core = create_core(app.config["SETTINGS"])
    yield runner(core)
    with core.app_context():
        close_all()


@pytest.fixture
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return sealed_log(client, monkeypatch)


@pytest.mark.slow
def test_a_file_is_verified_without_the_service(
    client: Client, run: Run, made: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "log.ndjson"
    file.write_bytes(b"\n".join([*exported(client), b""]))
    environ = {"PATH": os.environ["PATH"], "DATABASE_URL": "nothing", "PORT": "none"}
    command = [sys.executable, "-m", "app.cli", "audit", "verify", str(file)]
    found = captured(command, cwd=ROOT, env=environ)
    assert (found.returncode, found.stderr) == (0, "")
    assert "Problems: none." in found.stdout
    changed = file.read_bytes().replace(made[3].encode(), made[4].encode())
    file.write_bytes(changed)
    found = run("audit", "verify", str(file), "--json")
    assert found.exit_code == 1
    (problem, _) = json.loads(found.stdout)["findings"]
    assert (problem["kind"], problem["entry_id"]) == ("entry_changed", made[4])


def test_an_export_is_complete_and_entered(
    client: Client, run: Run, made: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "log.ndjson"
    found = run("audit", "export", "--account", client.account_id, "--output", str(file))
    assert found.exit_code == 0, found.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert all(entry_id in file.read_text() for entry_id in made)
    entry = client.get(PATH).json["data"][0]
    assert (entry["action"], entry["actor"]["type"]) == ("audit_log.exported", "operator")
    assert entry["changes"] == {"format": {"from": None, "to": "ndjson"}}
    assert run("audit", "verify", str(file)).exit_code == 0
    slug, before = client.get("/v1/account").json["data"]["slug"], file.read_bytes()
    words = ("audit", "export", "--account", slug, "--output", str(file))
    assert f"Replace {file}?" in run(*words, input="n\n").output
    assert file.read_bytes() == before
    assert run(*words, "--yes").exit_code == 0
    assert file.read_bytes() != before
    assert made[0] in file.read_text()


def test_checkpoints_that_were_kept_show_what_is_missing(
    client: Client, run: Run, made: list[str], tmp_path: Path
) -> None:
    kept, file = tmp_path / "kept.json", tmp_path / "log.ndjson"
    listed = run("audit", "checkpoints", "--account", client.account_id, "--json")
    kept.write_text(listed.stdout)
    lines = exported(client)
    cut = next(at for at, line in enumerate(lines) if b'"number":4' in line)
    file.write_bytes(b"\n".join([*lines[:cut], b'{"end":{"checkpoints":3,"entries":0}}\n']))
    found = run("audit", "verify", str(file), "--checkpoints", str(kept))
    assert found.exit_code == 1
    assert "The end of the log is missing (checkpoint 4)" in found.output
    assert made


def test_another_key_is_named(client: Client, run: Run, made: list[str], tmp_path: Path) -> None:
    file = tmp_path / "log.ndjson"
    file.write_bytes(b"\n".join(exported(client)))
    keys = {key["id"]: key["public_key"] for key in client.get(f"{PATH}/keys").json["data"]}
    own = [word for key in keys.values() for word in ("--key", key)]
    alone = run("audit", "verify", str(file))
    assert f"log      {client.account_id}\n" in alone.output
    assert "The file names its keys itself" in alone.output
    found = run("audit", "verify", str(file), *own)
    assert (found.exit_code, "names its keys itself" in found.output) == (0, False)
    other = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
    found = run("audit", "verify", str(file), "--key", other)
    assert found.exit_code == 1
    assert "A key is not the one that you named" in found.output
    assert run("audit", "verify", str(file), "--key", "x").exit_code == 1
    assert made


def test_kept_checkpoints_that_cannot_be_read_are_told(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    for text in ("", "{}", "[" * 100_000, '{"data":[{"previous_hash":1}]}'):
        kept.write_text(text)
        found = run("audit", "verify", str(kept), "--checkpoints", str(kept))
        assert found.exit_code == 1
        assert "--checkpoints cannot be used" in found.output


def test_how_long_entries_had_to_be_kept_is_compared(
    client: Client, run: Run, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With ``--days``, and in the database with ``AUDIT_DAYS``."""
    prune(client, monkeypatch, [1, 2])
    seal(client, monkeypatch)
    file = tmp_path / "log.ndjson"
    file.write_bytes(b"\n".join(exported(client)))
    alone = run("audit", "verify", str(file))
    assert (alone.exit_code, "Entries were deleted by age" in alone.output) == (0, True)
    for where in ((str(file), "--days", "1"), ("--account", client.account_id)):
        found = run("audit", "verify", *where)
        assert found.exit_code == 1
        assert "Entries were deleted too early" in found.output
    assert made


@pytest.mark.both
def test_the_log_of_the_instance(run: Run) -> None:
    assert run("audit", "checkpoints", "--account", INSTANCE).exit_code == 0
    found = run("audit", "verify", "--account", INSTANCE, "--json")
    assert json.loads(found.stdout)["account_id"] == INSTANCE


def test_wrong_usage_is_told(run: Run, tmp_path: Path) -> None:
    assert run("audit", "verify").exit_code == 2
    missing = run("audit", "verify", str(tmp_path / "none"))
    assert missing.exit_code == 1
    assert "cannot be read" in missing.output
    (tmp_path / "kept").write_text("{}")
    found = run("audit", "verify", "-", "--checkpoints", str(tmp_path / "kept"))
    assert "there is no checkpoint in it" in found.output
