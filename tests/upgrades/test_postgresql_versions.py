"""A new major version of PostgreSQL, by the steps of docs/repair.md, and back."""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg
import pytest

from app.maintenance.backup_file import BackupReader
from tests.architecture.sources import ROOT
from tests.postgres import VERSIONS, PostgresServer
from tests.upgrades.former import Caller, Former

OLD, NEW = min(VERSIONS), max(VERSIONS)


def _version(server: PostgresServer) -> int:
    with psycopg.connect(server.url) as connection:
        return connection.info.server_version // 10_000


def _content(path: Path) -> dict[str, tuple[int, str]]:
    """Rows and checksum of each table of a backup, but the log that tells of it."""
    with BackupReader(path) as backup:
        tables = backup.manifest.tables
        found = {each.name: (each.rows, each.sha256) for each in tables}
    return {name: each for name, each in found.items() if name != "audit_entries"}


@pytest.mark.trial
def test_there_and_back(scratch: Path, tmp_path: Path) -> None:
    assert OLD < NEW
    first, second, third = (tmp_path / f"{number}.zip" for number in range(3))

    def on(url: str) -> Former:
        python = Path(sys.executable)
        return Former(python, tmp_path / "instance", {"DATABASE_URL": url}, tree=ROOT)

    with PostgresServer(scratch / "old", version=OLD) as server:
        assert _version(server) == OLD
        old = server.create_database()
        canopy = on(old)
        canopy.command("migrate")
        account = ("--name", "Woods", "--owner-email", "owner@woods.example")
        key = canopy.command("account", "create", *account)["api_key"]
        with canopy.running():
            before = Caller(canopy, key).post("/v1/projects", {"name": "Before"})
        canopy.command("backup", str(first))
    with PostgresServer(scratch / "new", version=NEW) as server:
        assert _version(server) == NEW
        canopy = on(server.create_database())
        canopy.command("restore", str(first), "--yes")
        canopy.command("backup", str(second))
        assert _content(second) == _content(first)
        with canopy.running():
            caller = Caller(canopy, key)
            assert caller.get(f"/v1/projects/{before['id']}") == before
            after = caller.post("/v1/projects", {"name": "After"})
            canopy.command("doctor")
        canopy.command("backup", str(third))
    with PostgresServer(scratch / "old", version=OLD):
        canopy = on(old)
        with canopy.running():  # as it was left
            assert [each["name"] for each in Caller(canopy, key).get("/v1/projects")] == ["Before"]
        canopy.command("restore", str(third), "--yes")
        with canopy.running():
            found = Caller(canopy, key).get("/v1/projects")
        assert {each["id"] for each in found} == {before["id"], after["id"]}
