"""How commands fail, and what they do on a database that is not ready."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from flask import Flask
from sqlalchemy import text

from app.cli import canopy
from app.db.extensions import db
from app.db.migrations import upgrade
from app.db.revisions import current_revision, is_supported, newest_revision
from app.db.transactions import transaction
from tests.cli.conftest import Run, runner
from tests.make.apps import bare_app
from tests.postgres import PostgresServer


def test_a_wrong_setting_is_one_sentence_and_2(tmp_path: Path) -> None:
    environ = {"INSTANCE_PATH": str(tmp_path), "PORT": "high"}
    result = CliRunner(env=environ).invoke(canopy, ["account", "list", "--json"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "PORT must be a whole number from 1 to 65535, not 'high'.\n"


def test_a_database_out_of_reach_is_one_sentence_and_1(tmp_path: Path) -> None:
    url = "postgresql://canopy:secret@127.0.0.1:1/canopy"
    environ = {"INSTANCE_PATH": str(tmp_path), "DATABASE_URL": url, "SECRET_KEY": "k" * 32}
    result = CliRunner(env=environ).invoke(canopy, ["account", "list", "--json"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: The database ")
    assert "cannot be reached" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "secret" not in result.stderr


@pytest.mark.slow
def test_a_wrong_password_says_that_it_may_have_to_be_encoded(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """``%41`` is an A in a URL: nothing before the server can know that it was not meant so."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE forester LOGIN PASSWORD 'a%41'")
        hba = Path(connection.execute("SHOW hba_file").fetchall()[0][0])
        hba.write_text("local all forester scram-sha-256\n" + hba.read_text())
        connection.execute("SELECT pg_reload_conf()")
    url = postgres.url.replace("postgres:@", "forester:a%41@")
    environ = {"INSTANCE_PATH": str(tmp_path), "DATABASE_URL": url, "SECRET_KEY": "k" * 32}
    result = CliRunner(env=environ).invoke(canopy, ["account", "list"])
    assert result.exit_code == 1
    assert "in DATABASE_URL, characters such as % and @ must be percent-encoded)" in result.stderr


def test_a_database_locked_by_a_long_change_is_one_sentence(tmp_path: Path) -> None:
    with bare_app(tmp_path, DATABASE_TIMEOUT_MS="100") as app:
        other = sqlite3.connect(tmp_path / "canopy.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        run = runner(app)
        result = run("account", "create", "--name", "A", "--owner-email", "a@example.org")
        assert run("account", "list").exit_code == 0  # reading waits for nobody
        other.close()
    assert result.exit_code == 1
    assert "is busy" in result.stderr


def test_only_demo_and_migrate_make_tables(empty_app: Flask) -> None:
    run = runner(empty_app)
    result = run("account", "create", "--name", "A", "--owner-email", "a@example.org", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has no tables" in result.stderr
    assert "bin/canopy migrate" in result.stderr
    with empty_app.app_context():
        assert current_revision() is None
    assert run("demo").exit_code == 0
    assert len(json.loads(run("account", "list", "--json").stdout)) == 1


def test_an_empty_instance_has_no_accounts(empty_app: Flask) -> None:
    run = runner(empty_app)
    assert run("migrate").exit_code == 0
    assert json.loads(run("account", "list", "--json").stdout) == []
    assert "bin/canopy account create" in run("account", "list").stdout


@pytest.mark.slow
def test_tables_of_a_version_before_1_0_stay(empty_app: Flask) -> None:
    with empty_app.app_context(), transaction():
        upgrade()
        db.session.execute(text("UPDATE alembic_version SET version_num = '0036'"))
    run = runner(empty_app)
    result = run("account", "list")
    assert (result.exit_code, result.stdout) == (1, "")
    refusal = "of a version of Canopy before 1.0: export its projects with that version"
    assert refusal in result.stderr
    refused = run("migrate")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refusal in refused.stderr


def test_migrate(empty_app: Flask) -> None:
    run = runner(empty_app)
    first = json.loads(run("migrate", "--json").stdout)
    assert first == {"revision": newest_revision(), "previous": None}
    with empty_app.app_context():
        assert is_supported()
    again = json.loads(run("migrate", "--json").stdout)
    assert again == {"revision": newest_revision(), "previous": newest_revision()}


def test_an_unknown_command_is_2(run: Run) -> None:
    assert run("acount").exit_code == 2
    assert "Did you mean 'account'?" in run("acount").stderr
    assert "Did you mean 'export'?" in run("account", "exprot").stderr
