"""Archives by a real server: clients that read slowly, that leave, and what fails in the middle."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.policy.files import EXPORT_CHECK_SECONDS
from tests.api.server import Server, gunicorn
from tests.exports.account_export.archives import PATH, Archive
from tests.exports.streams import (
    can_write_back,
    fill,
    half_read,
    open_database,
    rest,
    wait_until_free,
    wait_until_stuck,
    without_table,
)
from tests.processes.web_server.servers import PATIENT
from tests.waiting import wait_for

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
        folder, code=PATIENT, REDIS_URL=valkey_url, LOG_LEVEL="warning", WEB_THREADS=str(THREADS)
    ) as running:
        fill(running.client, projects=PROJECTS, positions=POSITIONS)
        yield running


@pytest.mark.trial
def test_a_client_that_needs_the_length(server: Server) -> None:
    answer = server.send(f"GET {PATH} HTTP/1.0")
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert len(Archive(answer.body).features("projects.geojson")) == PROJECTS
    wait_until_free(server)


@pytest.mark.trial
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
    wait_until_free(server)


def _kilobytes(process: str, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _unchunked(body: bytes) -> bytes:
    file, whole = io.BytesIO(body), b""
    while size := int(file.readline(), 16):
        whole += file.read(size)
        file.readline()
    return whole


@pytest.mark.slow
def test_it_is_an_export_like_others(server: Server) -> None:
    with half_read(server, PATH):
        assert server.send("GET /v1/exports/assets HTTP/1.1").status == 503
        assert server.send(f"GET {PATH} HTTP/1.1").status == 503
    wait_until_free(server)


@pytest.mark.slow
def test_a_slow_client_holds_nothing(server: Server, folder: Path) -> None:
    with half_read(server, PATH) as connection:
        wait_until_stuck(connection)
        wait_for(lambda: can_write_back(folder))
    wait_until_free(server)


@pytest.mark.slow
def test_what_fails_in_the_middle_cannot_be_opened(server: Server, folder: Path) -> None:
    with half_read(server, PATH) as connection:
        wait_until_stuck(connection)
        with without_table(folder, "events"):
            received = rest(connection)
    assert len(received) > 50_000
    assert not received.endswith(b"0\r\n\r\n")
    assert zipfile.stringEndArchive not in received
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(received))
    wait_until_free(server)


@pytest.mark.slow
def test_a_failure_before_the_first_byte_is_an_error_response(server: Server, folder: Path) -> None:
    with without_table(folder, "memberships"):
        answer = server.send(f"GET {PATH} HTTP/1.1")
    assert answer.headers["content-type"] == "application/json"
    wait_until_free(server)


@pytest.mark.slow
def test_a_key_that_is_revoked_meanwhile_gets_no_archive(server: Server, folder: Path) -> None:
    change = "UPDATE credentials SET revoked_at = ? WHERE account_id = ?"
    with half_read(server, PATH) as connection, closing(open_database(folder)) as database:
        wait_until_stuck(connection)
        time.sleep(EXPORT_CHECK_SECONDS + 0.5)
        database.execute(change, ("2026-11-23 00:00:00.000000", server.client.account_id))
        try:
            received = rest(connection)
        finally:
            database.execute(change, (None, server.client.account_id))
    assert len(received) > 50_000
    assert not received.endswith(b"0\r\n\r\n")
    assert zipfile.stringEndArchive not in received
    wait_until_free(server)
