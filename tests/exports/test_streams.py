"""Exports by a real server: clients that read slowly, that leave, and what fails in the middle."""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.account.operator import find_account
from app.auth.operator import acting_for, first_owner
from app.db.extensions import db
from app.geometry import read_boundary
from app.policy.files import EXPORT_RETRY_SECONDS
from app.projects.service import create_project
from bench.instance import polygon
from tests.api.server import Server, gunicorn
from tests.make import Client, make_account, make_project

pytestmark = pytest.mark.one_database

PROJECTS = 350  # of 40 KB each: more than the buffers of a connection hold
FORMATS = pytest.mark.parametrize("format_name", ["geojson", "gpkg"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(folder: Path, valkey_url: str) -> Iterator[Server]:
    with gunicorn(folder, REDIS_URL=valkey_url, LOG_LEVEL="warning") as running:
        _fill(running.client)
        yield running


def _fill(client: Client) -> None:
    boundary = read_boundary(polygon(1_000))
    with client.app.app_context():
        owner = acting_for(find_account(client.account_id), first_owner(client.account_id))
        for number in range(PROJECTS):
            create_project(owner, name=f"District {number}", geometry=boundary)
        db.session.commit()


@pytest.fixture(autouse=True)
def _free(server: Server) -> None:
    """No export of the test before is running anymore."""
    _wait_until_free(server)


def _request(server: Server, format_name: str, client: Client | None = None) -> socket.socket:
    """A connection on which an export was asked for."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    token = (client or server.client).token
    connection.sendall(
        f"GET /v1/exports/projects?format={format_name} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    return connection


@contextmanager
def _half_read(
    server: Server, format_name: str, client: Client | None = None
) -> Iterator[socket.socket]:
    """An export of which the client has read the beginning, and reads no more."""
    with _request(server, format_name, client) as connection:
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200 OK")
        yield connection


def _rest(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(1024 * 1024):
        received += piece
        if received.endswith(b"\r\n0\r\n\r\n"):
            break
    return received


def _status(server: Server, format_name: str = "geojsonl&search=nothing") -> int:
    return server.send(f"GET /v1/exports/projects?format={format_name} HTTP/1.1").status


def _wait_until_free(server: Server) -> None:
    deadline = time.monotonic() + 10
    while _status(server) == 503:
        assert time.monotonic() < deadline, "the slot was not given back"
        time.sleep(0.05)


def _database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "canopy.sqlite3", isolation_level=None)


@FORMATS
def test_a_whole_file(server: Server, format_name: str, folder: Path) -> None:
    answer = server.send(f"GET /v1/exports/projects?format={format_name} HTTP/1.0")
    assert int(answer.headers["content-length"]) == len(answer.body)
    if format_name == "geojson":
        assert len(json.loads(answer.body)["features"]) >= PROJECTS
    else:
        (folder / "copy").write_bytes(answer.body)
        with closing(sqlite3.connect(folder / "copy")) as copy:
            assert copy.execute("SELECT count(*) FROM projects").fetchone()[0] >= PROJECTS
        (folder / "copy").unlink()


@FORMATS
def test_a_slot_is_taken_until_the_client_has_read_all(server: Server, format_name: str) -> None:
    with _half_read(server, format_name) as connection:
        refused = server.send("GET /v1/exports/assets HTTP/1.1")
        assert refused.status == 503
        assert refused.headers["retry-after"] == str(EXPORT_RETRY_SECONDS)
        assert "Another export" in refused.json["error"]["message"]
        if format_name == "geojson":
            assert _rest(connection).endswith(b"0\r\n\r\n")
            _wait_until_free(server)


@FORMATS
def test_a_client_that_leaves_gives_its_slot_back(
    server: Server, format_name: str, folder: Path
) -> None:
    before = set(folder.iterdir())
    with _half_read(server, format_name):
        assert _status(server) == 503
        assert set(folder.iterdir()) == before
    _wait_until_free(server)
    assert set(folder.iterdir()) == before


def test_a_client_that_leaves_before_the_file_is_written(server: Server) -> None:
    _request(server, "gpkg").close()
    _wait_until_free(server)


def test_other_requests_go_on_meanwhile(server: Server) -> None:
    other = make_account(server.client.app)
    _fill_a_little(other)
    third = make_account(server.client.app)
    with _half_read(server, "geojson"):
        began = time.monotonic()
        assert server.send("GET /v1/projects?per_page=1 HTTP/1.1").status == 200
        mine = Server(server.port, other, server.pid)
        assert _status(mine, "geojson") == 200
        assert time.monotonic() - began < 5
        with closing(_request(mine, "geojson")) as second:
            assert second.recv(100).startswith(b"HTTP/1.1 200")
        assert _status(Server(server.port, third, server.pid)) in (200, 503)
    _wait_until_free(server)


def _fill_a_little(client: Client) -> None:
    for _ in range(3):
        make_project(client)


def test_no_more_than_two_run_at_once(server: Server) -> None:
    app = server.client.app
    second, third = make_account(app), make_account(app)
    _fill(second)
    with _half_read(server, "geojson"), _half_read(server, "geojson", second):
        assert _status(Server(server.port, third, server.pid)) == 503
    _wait_until_free(Server(server.port, third, server.pid))
    _wait_until_free(server)


def test_the_log_of_sqlite_can_be_written_back_meanwhile(server: Server, folder: Path) -> None:
    with _half_read(server, "geojson"):
        time.sleep(0.5)  # the export waits for its client now
        make_project(server.client)
        with closing(_database(folder)) as database:
            busy, _, _ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert busy == 0
    _wait_until_free(server)


def test_a_failure_in_the_middle_does_not_look_like_the_end(server: Server, folder: Path) -> None:
    with _half_read(server, "csv") as connection, closing(_database(folder)) as database:
        time.sleep(0.5)
        database.execute("ALTER TABLE projects RENAME TO hidden")
        try:
            received = _rest(connection)
        finally:
            database.execute("ALTER TABLE hidden RENAME TO projects")
    assert len(received) > 1_000_000
    assert not received.endswith(b"0\r\n\r\n")
    _wait_until_free(server)
    assert _status(server, "csv") == 200


def test_a_failure_before_the_first_byte_is_an_error_response(server: Server, folder: Path) -> None:
    with closing(_database(folder)) as database:
        database.execute("ALTER TABLE projects RENAME TO hidden")
        try:
            answer = server.send("GET /v1/exports/projects?format=csv HTTP/1.1")
        finally:
            database.execute("ALTER TABLE hidden RENAME TO projects")
    assert (answer.status, answer.headers["content-type"]) == (500, "application/json")
    _wait_until_free(server)
