"""An instance of a former version, on tables still to come and with the code of today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from redis import Redis

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from app.values import clock
from config import load_settings
from tests.db.later_version import folder_with_revisions, install
from tests.make import Client
from tests.make.apps import CHEAP_PASSWORDS
from tests.outbound.conftest import NAMES
from tests.outbound.receivers import Authority, make_authority
from tests.templates import DATABASES
from tests.upgrades import fixtures
from tests.upgrades.answers import Answer, Answers, read
from tests.upgrades.former import PUBLIC_URL, SECRET_KEY

VALKEY = 13  # its database that nothing else of the tests uses
FIXTURES = [
    pytest.param((release, database), marks=[pytest.mark.slow] if database != "sqlite" else [])
    for release in fixtures.releases()
    for database in DATABASES
]


@dataclass
class Upgraded:
    """The application of today on the database of a former version, at the time when that answered.

    The clock goes on from there, so that nothing expires because a fixture is old.
    """

    app: Flask
    release: str
    environ: dict[str, str]
    answers: dict[str, Answers]  # by the name of who asked
    kept: dict[str, Any]  # as in tests.upgrades.filling.Kept
    patch: pytest.MonkeyPatch
    certificate: Path

    def caller(self, name: str = "owner") -> Client:
        """Who has a credential of this name."""
        return self.with_token(self.kept["tokens"][name])

    def with_token(self, token: str) -> Client:
        return Client(self.app, self.kept["account"], "", token)

    def get(self, name: str, path: str) -> Answer:
        response = self.caller(name).get(path)
        return read(response.status_code, response.mimetype, response.data)

    def move(self, by: timedelta) -> None:
        """Move the clock on."""
        before = clock.now
        self.patch.setattr(clock, "now", lambda: before() + by)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=FIXTURES, ids="-".join)
def upgraded(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    valkey_url: str,
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Upgraded]:
    release, database = request.param
    kept = fixtures.read_answers(release, database)
    content = fixtures.read_database(release, database)
    install(monkeypatch, folder_with_revisions(tmp_path / "later", True))
    environ = {
        "INSTANCE_PATH": str(tmp_path),
        "REDIS_URL": f"{valkey_url}?db={VALKEY}",
        "SECRET_KEY": SECRET_KEY,
        "PUBLIC_URL": PUBLIC_URL,
        "LOG_LEVEL": "error",
        "RATE_LIMIT_DISABLED": "true",  # more is asked than a minute allows
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
        **CHEAP_PASSWORDS,
    }
    if database == "postgresql":
        environ["DATABASE_URL"] = request.getfixturevalue("postgres").create_database()
        fixtures.restore_postgresql(environ["DATABASE_URL"], content)
    else:
        (tmp_path / "canopy.sqlite3").write_bytes(content)
    with Redis.from_url(valkey_url, db=VALKEY) as valkey:
        valkey.flushdb()
    app = create_app(load_settings(environ))
    with app.app_context():
        upgrade()
    real = clock.now
    ahead = datetime.fromisoformat(kept["answered_at"]) + timedelta(seconds=1) - real()
    monkeypatch.setattr(clock, "now", lambda: real() + ahead)
    certificate = authority.certificate_for(NAMES)
    yield Upgraded(app, release, environ, kept["answers"], kept["kept"], monkeypatch, certificate)
    with app.app_context():
        close_all()
