"""Archives by a real server: clients that read slowly, that leave, and what fails in the middle."""

from __future__ import annotations

import io
import socket
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.account.operator import find_account
from app.auth.operator import acting_for, first_owner
from app.db.extensions import db
from app.geometry import read_boundary
from app.policy.files import EXPORT_CHECK_SECONDS
from app.projects.service import create_project
from bench.instance import polygon
from tests.account_export.archives import PATH, Archive
from tests.api.server import Server, gunicorn
from tests.make import Client

pytestmark = pytest.mark.one_database

PROJECTS = 150
POSITIONS = 20_000  # of each: nearly 500 KB, which compress to a third
LARGE = 70_000_000  # bytes: so much is in the archive
GROWTH = 30  # megabytes of memory that it may take
THREADS = 4  # of the worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(folder: Path, valkey_url: str) -> Iterator[Server]:
    with gunicorn(
        folder, REDIS_URL=valkey_url, LOG_LEVEL="warning", WEB_THREADS=str(THREADS)
    ) as running:
        _fill(running.client)
        yield running


def _fill(client: Client) -> None:
    boundary = read_boundary(polygon(POSITIONS))
    with client.app.app_context():
        owner = acting_for(find_account(client.account_id), first_owner(client.account_id))
        for number in range(PROJECTS):
            create_project(owner, name=f"District {number}", geometry=boundary)
        db.session.commit()


@contextmanager
def _half_read(server: Server) -> Iterator[socket.socket]:
    """An archive of which the client has read the beginning, and reads no more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(
            f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {server.client.token}\r\n\r\n".encode()
        )
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200 OK")
        yield connection


def _rest(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(1024 * 1024):
        received += piece
        if received.endswith(b"\r\n0\r\n\r\n"):
            break
    return received


def _wait_until_free(server: Server) -> None:
    deadline = time.monotonic() + 10
    while server.send("GET /v1/exports/assets HTTP/1.1").status == 503:
        assert time.monotonic() < deadline, "the slot was not given back"
        time.sleep(0.05)


def _database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "canopy.sqlite3", isolation_level=None)


def test_a_client_that_needs_the_length(server: Server) -> None:
    answer = server.send(f"GET {PATH} HTTP/1.0")
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert len(Archive(answer.body).features("projects.geojson")) == PROJECTS
    _wait_until_free(server)


def test_a_large_archive_takes_little_memory(server: Server) -> None:
    worker = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().strip()
    for _ in range(THREADS):  # each of them keeps some memory of its own
        server.send(f"GET {PATH} HTTP/1.1")
    Path(f"/proc/{worker}/clear_refs").write_text("5")  # the peak begins anew
    before = _kilobytes(worker, "VmRSS")
    answer = server.send(f"GET {PATH} HTTP/1.1")
    unpacked = sum(each.file_size for each in Archive(_unchunked(answer.body)).zip.infolist())
    assert unpacked > LARGE
    assert _kilobytes(worker, "VmHWM") - before < GROWTH * 1024
    _wait_until_free(server)


def _kilobytes(process: str, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _unchunked(body: bytes) -> bytes:
    file, whole = io.BytesIO(body), b""
    while size := int(file.readline(), 16):
        whole += file.read(size)
        file.readline()
    return whole


def test_it_is_an_export_like_others(server: Server) -> None:
    with _half_read(server):
        assert server.send("GET /v1/exports/assets HTTP/1.1").status == 503
        assert server.send(f"GET {PATH} HTTP/1.1").status == 503
    _wait_until_free(server)


def test_a_slow_client_holds_nothing(server: Server, folder: Path) -> None:
    with _half_read(server):
        time.sleep(0.5)  # the export waits for its client now
        with closing(_database(folder)) as database:
            database.execute("UPDATE accounts SET updated_at = updated_at")
            busy, _, _ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert busy == 0
    _wait_until_free(server)


def test_what_fails_in_the_middle_cannot_be_opened(server: Server, folder: Path) -> None:
    with _half_read(server) as connection, closing(_database(folder)) as database:
        time.sleep(0.5)
        database.execute("ALTER TABLE events RENAME TO hidden")
        try:
            received = _rest(connection)
        finally:
            database.execute("ALTER TABLE hidden RENAME TO events")
    assert len(received) > 1_000_000
    assert not received.endswith(b"0\r\n\r\n")
    assert zipfile.stringEndArchive not in received
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(received))
    _wait_until_free(server)


def test_a_failure_before_the_first_byte_is_an_error_response(server: Server, folder: Path) -> None:
    with closing(_database(folder)) as database:
        database.execute("ALTER TABLE memberships RENAME TO hidden")
        try:
            answer = server.send(f"GET {PATH} HTTP/1.1")
        finally:
            database.execute("ALTER TABLE hidden RENAME TO memberships")
    assert answer.headers["content-type"] == "application/json"
    _wait_until_free(server)


def test_a_key_that_is_revoked_meanwhile_gets_no_archive(server: Server, folder: Path) -> None:
    change = "UPDATE credentials SET revoked_at = ? WHERE account_id = ?"
    with _half_read(server) as connection, closing(_database(folder)) as database:
        time.sleep(EXPORT_CHECK_SECONDS + 0.5)
        database.execute(change, ("2026-11-23 00:00:00.000000", server.client.account_id))
        try:
            received = _rest(connection)
        finally:
            database.execute(change, (None, server.client.account_id))
    assert len(received) > 1_000_000
    assert not received.endswith(b"0\r\n\r\n")
    assert zipfile.stringEndArchive not in received
    _wait_until_free(server)
