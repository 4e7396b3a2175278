"""Exports and archives by a real server: clients that read slowly, that leave, and what fails in
the middle."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.policy.files import EXPORT_RETRY_SECONDS
from tests.api.server import Server, gunicorn
from tests.exports.account_export.archives import PATH as ARCHIVE
from tests.exports.account_export.archives import Archive
from tests.exports.streams import (
    can_write_back,
    fill,
    half_read,
    open_database,
    request,
    rest,
    wait_until_free,
    wait_until_stuck,
    without_table,
)
from tests.make import make_account, make_key
from tests.processes.web_server.servers import PATIENT
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

PROJECTS, POSITIONS = 60, 20_000  # nearly 500 KB each, a third compressed: more than buffers hold
THREADS = 4  # of the worker
CHECK_SECONDS = 0.5
OFTEN = f"from app.policy import files; files.EXPORT_CHECK_SECONDS = {CHECK_SECONDS}\n"
LAYER, TABLE, FILE = (f"/v1/exports/projects?format={name}" for name in ("geojson", "csv", "gpkg"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(folder: Path, valkey_url: str) -> Iterator[Server]:
    settings = {"REDIS_URL": valkey_url, "LOG_LEVEL": "info", "WEB_THREADS": str(THREADS)}
    with gunicorn(folder, code=OFTEN + PATIENT, **settings) as running:
        fill(running.client, projects=PROJECTS, positions=POSITIONS)
        yield running


@pytest.fixture(autouse=True)
def _free(server: Server) -> Iterator[None]:
    """No export of the test before is running anymore."""
    wait_until_free(server)
    yield
    wait_until_free(server)


def _status(server: Server, path: str = f"{LAYER}l&search=nothing") -> int:
    return server.send(f"GET {path} HTTP/1.1").status


@pytest.mark.parametrize("path", [FILE, ARCHIVE])
def test_a_slot_is_taken_until_the_client_leaves(server: Server, path: str, folder: Path) -> None:
    before = set(folder.iterdir())
    with half_read(server, path):
        for other in ("/v1/exports/assets", ARCHIVE):
            refused = server.send(f"GET {other} HTTP/1.1")
            assert refused.status == 503
            assert refused.headers["retry-after"] == str(EXPORT_RETRY_SECONDS)
            assert "Another export" in refused.json["error"]["message"]
    wait_until_free(server)
    assert set(folder.iterdir()) == before


def test_a_client_that_leaves_before_the_file_is_written(server: Server) -> None:
    request(server, FILE).close()
    wait_until_free(server)


def test_other_requests_go_on_and_no_more_than_two_run_at_once(server: Server) -> None:
    app = server.client.app
    second, third = make_account(app), make_account(app)
    fill(second, projects=PROJECTS // 2, positions=POSITIONS)
    with half_read(server, LAYER), half_read(server, LAYER, second):
        assert server.send("GET /v1/projects?per_page=1 HTTP/1.1").status == 200
        assert _status(Server(server.port, third, server.pid)) == 503
    wait_until_free(Server(server.port, third, server.pid))


def test_the_log_of_sqlite_can_be_written_back_meanwhile(server: Server, folder: Path) -> None:
    with half_read(server, ARCHIVE) as connection:
        wait_until_stuck(connection)
        wait_for(lambda: can_write_back(folder))


@pytest.mark.parametrize(("path", "table"), [(TABLE, "projects"), (ARCHIVE, "events")])
def test_a_failure_in_the_middle_does_not_look_like_the_end(
    server: Server, folder: Path, path: str, table: str
) -> None:
    with half_read(server, path) as connection:
        wait_until_stuck(connection)
        with without_table(folder, table):
            received = rest(connection)
    _check_that_it_ended_early(received)


def _check_that_it_ended_early(received: bytes) -> None:
    assert len(received) > 50_000
    assert not received.endswith(b"0\r\n\r\n")
    assert zipfile.stringEndArchive not in received


@pytest.mark.parametrize("path", [LAYER, ARCHIVE])
def test_a_reader_who_may_no_longer_have_it(server: Server, folder: Path, path: str) -> None:
    key = make_key(server.client, permissions=["admin"])
    before = len((folder / "gunicorn.log").read_text())
    with half_read(server, path, key) as connection, closing(open_database(folder)) as database:
        wait_until_stuck(connection)
        time.sleep(CHECK_SECONDS + 0.5)
        revoked = "UPDATE credentials SET revoked_at = created_at WHERE id = ?"
        database.execute(revoked, (key.credential_id,))
        received = rest(connection)
    _check_that_it_ended_early(received)
    wait_until_free(server)
    log = (folder / "gunicorn.log").read_text()[before:]
    assert "an export ended early: The token is invalid, expired or revoked." in log
    assert '"ERROR"' not in log


@pytest.mark.parametrize(("path", "table"), [(TABLE, "projects"), (ARCHIVE, "memberships")])
def test_a_failure_before_the_first_byte_is_an_error_response(
    server: Server, folder: Path, path: str, table: str
) -> None:
    with without_table(folder, table):
        answer = server.send(f"GET {path} HTTP/1.1")
    assert (answer.status, answer.headers["content-type"]) == (500, "application/json")


@pytest.mark.trial
def test_a_large_archive_takes_little_memory(server: Server) -> None:
    fill(server.client, projects=100, positions=POSITIONS)
    worker = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().strip()
    for _ in range(THREADS):  # each of them keeps some memory of its own
        server.send(f"GET {ARCHIVE} HTTP/1.1")
    Path(f"/proc/{worker}/clear_refs").write_text("5")  # the peak begins anew
    before = _kilobytes(worker, "VmRSS")
    answer = server.send(f"GET {ARCHIVE} HTTP/1.1")
    unpacked = sum(each.file_size for each in Archive(_unchunked(answer.body)).zip.infolist())
    assert unpacked > 70_000_000
    assert _kilobytes(worker, "VmHWM") - before < 30 * 1024


def _kilobytes(process: str, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _unchunked(body: bytes) -> bytes:
    file, whole = io.BytesIO(body), b""
    while size := int(file.readline(), 16):
        whole += file.read(size)
        file.readline()
    return whole
