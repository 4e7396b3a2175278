"""Real servers for the tests, one of a kind for each worker of pytest-xdist."""

from __future__ import annotations

import ipaddress
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from redis import Redis
from werkzeug.test import TestResponse

from app.api.expensive import TURNS
from app.db.connections import close_all
from app.db.migrations import use_flask_migrate
from app.factory import create_app
from app.processes import embedded_valkey
from config import load_settings
from tests import contract, entry_checks, statement_checks, templates
from tests.make import Application, Client, make_account, make_application, new_email
from tests.make.apps import CHEAP_PASSWORDS, app_without_tables
from tests.postgres import PostgresServer
from tests.templates import DATABASES

_addresses = itertools.count(11 << 24 | 1)  # 11.0.0.1


class Visitor(FlaskClient):
    """A test client with an address of its own, as requests of one address are limited together.

    It reads and closes each response, as a server does, unless ``buffered`` is False: others wait
    until a large one is closed.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.environ_base["REMOTE_ADDR"] = str(ipaddress.ip_address(next(_addresses)))

    def open(self, *args: Any, buffered: bool = True, **options: Any) -> TestResponse:
        return super().open(*args, buffered=buffered, **options)


Flask.test_client_class = Visitor


pytest_plugins = ["tests.dearest", "tests.tiers"]


@pytest.fixture(scope="session", autouse=True)
def _check_statements() -> None:
    """Statements are checked from the first one on."""
    statement_checks.install()
    entry_checks.install()


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The number that everything random comes from."""
    return int(pytestconfig.option.seed)


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder of this worker's own; its path is short, as sockets need."""
    folder = Path(tempfile.mkdtemp(prefix="canopy-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(scratch: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL server."""
    with PostgresServer(scratch / "pg") as server:
        yield server


@pytest.fixture(scope="session")
def valkey_url(scratch: Path) -> str:
    """A Valkey server; it ends with the last process that uses it, which is this one."""
    return embedded_valkey.ensure_valkey(scratch / "valkey")


@pytest.fixture
def own_valkey(valkey_url: str) -> Iterator[Redis]:
    """A client of that server's database 10, which no application uses unless a test says so."""
    client = Redis.from_url(valkey_url, db=10)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


@pytest.fixture(scope="session")
def app(request: pytest.FixtureRequest, scratch: Path, valkey_url: str) -> Iterator[Flask]:
    """The application, with its schema and nothing in it, on the database of ``request.param``."""
    environ = {
        "INSTANCE_PATH": str(scratch / request.param),
        "REDIS_URL": f"{valkey_url}?db={DATABASES.index(request.param)}",
        "METRICS_TOKEN": "the-metrics-token",
        "LOG_LEVEL": "error",
        **CHEAP_PASSWORDS,
    }
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        environ["DATABASE_URL"] = server.create_database(has_tables=True)
    else:
        templates.copy_sqlite(scratch / request.param)
    made = create_app(load_settings(environ))
    yield made
    with made.app_context():
        close_all()


@pytest.fixture
def email() -> str:
    """An email address that nobody has."""
    return new_email()


@pytest.fixture
def empty_app(request: pytest.FixtureRequest, tmp_path: Path, valkey_url: str) -> Iterator[Flask]:
    """The application on a database of its own, without tables, for Flask-Migrate's functions."""
    environ = {"REDIS_URL": valkey_url}
    if request.param == "postgresql":
        environ["DATABASE_URL"] = request.getfixturevalue("postgres").create_database()
    with app_without_tables(tmp_path / "instance", **environ) as made:
        use_flask_migrate(made)
        yield made


@pytest.fixture
def client(app: Flask) -> Client:
    """A caller with an API key that may do everything, in an account of its own."""
    return make_account(app)


@pytest.fixture
def stranger(app: Flask) -> Client:
    """The same for another account."""
    return make_account(app)


@pytest.fixture
def application(client: Client) -> Application:
    """An application with a secret and all scopes, registered by the account of ``client``."""
    return make_application(client)


@pytest.fixture(autouse=True)
def _check_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test fails when a statement or an entry was wrong, when a request was answered 5xx that the
    test does not say it provokes (``@pytest.mark.provokes(503)``), or when a large response was
    not closed."""
    mark = request.node.get_closest_marker("provokes")
    contract.provoked = frozenset(mark.args if mark else ())
    yield
    contract.provoked = frozenset()
    found = statement_checks.take_findings() + entry_checks.take_findings()
    if TURNS.is_taken:
        found.append("a large response was not closed")
    assert not found, "\n".join(found)


@pytest.fixture(autouse=True)
def _same_umask() -> Iterator[None]:
    """A command that ran in this process made its files private; later tests make files that other
    users read."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the shell that runs the tests reaches them."""
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "INSTANCE_PATH", "PORT", "HOST"):
        if name in os.environ:
            monkeypatch.delenv(name)
