"""Exports of a real server: read in part, and while a table is missing."""

from __future__ import annotations

import fcntl
import socket
import sqlite3
import struct
import termios
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.account.lookup import find_account
from app.auth.operator import acting_for, first_owner
from app.db.transactions import transaction
from app.geometry import read_boundary
from app.projects.service import create_project
from tests.api.server import Server
from tests.make import Client
from tests.make.wavy import polygon
from tests.waiting import PATIENCE, wait_for


def fill(client: Client, *, projects: int, positions: int) -> None:
    """Create so many projects, with boundaries of so many positions."""
    boundary = read_boundary(polygon(positions))
    with client.app.app_context(), transaction():
        owner = acting_for(find_account(client.account_id), first_owner(client.account_id))
        for number in range(projects):
            create_project(owner, name=f"District {number}", geometry=boundary)


def request(server: Server, path: str, client: Client | None = None) -> socket.socket:
    """A connection on which an export was requested."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    connection.sendall(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {(client or server.client).token}\r\n\r\n".encode()
    )
    return connection


@contextmanager
def half_read(server: Server, path: str, client: Client | None = None) -> Iterator[socket.socket]:
    """An export of which the client has read the beginning, and reads no more."""
    with request(server, path, client) as connection:
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200 OK")
        yield connection


def rest(connection: socket.socket) -> bytes:
    """All that follows, until the end of the response or of the connection."""
    received = b""
    while piece := connection.recv(1024 * 1024):
        received += piece
        if received.endswith(b"\r\n0\r\n\r\n"):
            break
    return received


def wait_until_free(server: Server) -> None:
    """Wait until no export of the server's account is running."""
    wait_for(lambda: server.send("GET /v1/exports/assets HTTP/1.1").status != 503)


def wait_until_stuck(connection: socket.socket) -> None:
    """Wait until so much was sent that the export waits for its client, or soon does."""

    def arrived() -> int:
        (size,) = struct.unpack("i", fcntl.ioctl(connection, termios.FIONREAD, bytes(4)))
        return int(size)

    wait_for(lambda: arrived() > 60_000)


@contextmanager
def without_table(folder: Path, table: str) -> Iterator[None]:
    """Let each query of a table fail in the block."""
    with closing(open_database(folder)) as database:
        database.execute(f"ALTER TABLE {table} RENAME TO hidden")
        try:
            yield
        finally:
            database.execute(f"ALTER TABLE hidden RENAME TO {table}")


def can_write_back(folder: Path) -> bool:
    """Whether all of SQLite's log can be written back to the database: nobody reads it."""
    with closing(open_database(folder)) as database:
        database.execute("UPDATE accounts SET updated_at = updated_at")
        busy, _, _ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def open_database(folder: Path) -> sqlite3.Connection:
    """The server's database."""
    return sqlite3.connect(folder / "canopy.sqlite3", isolation_level=None)
