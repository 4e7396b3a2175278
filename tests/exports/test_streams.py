"""Exports by a real server: clients that read slowly, that leave, and what fails in the middle."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.policy.files import EXPORT_CHECK_SECONDS, EXPORT_RETRY_SECONDS
from tests.api.server import Server, gunicorn
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

PROJECTS = 350  # of 40 KB each: more than the buffers of a connection hold
FORMATS = pytest.mark.parametrize("format_name", ["geojson", "gpkg"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(folder: Path, valkey_url: str) -> Iterator[Server]:
    with gunicorn(folder, code=PATIENT, REDIS_URL=valkey_url, LOG_LEVEL="info") as running:
        fill(running.client, projects=PROJECTS, positions=1_000)
        yield running


@pytest.fixture(autouse=True)
def _free(server: Server) -> None:
    """No export of the test before is running anymore."""
    wait_until_free(server)


def _path(format_name: str) -> str:
    return f"/v1/exports/projects?format={format_name}"


def _status(server: Server, format_name: str = "geojsonl&search=nothing") -> int:
    return server.send(f"GET {_path(format_name)} HTTP/1.1").status


@FORMATS
@pytest.mark.slow
def test_a_whole_file(server: Server, format_name: str, folder: Path) -> None:
    answer = server.send(f"GET {_path(format_name)} HTTP/1.0")
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
    with half_read(server, _path(format_name)) as connection:
        refused = server.send("GET /v1/exports/assets HTTP/1.1")
        assert refused.status == 503
        assert refused.headers["retry-after"] == str(EXPORT_RETRY_SECONDS)
        assert "Another export" in refused.json["error"]["message"]
        if format_name == "geojson":
            assert rest(connection).endswith(b"0\r\n\r\n")
            wait_until_free(server)


@pytest.mark.slow
@FORMATS
def test_a_client_that_leaves_gives_its_slot_back(
    server: Server, format_name: str, folder: Path
) -> None:
    before = set(folder.iterdir())
    with half_read(server, _path(format_name)):
        assert _status(server) == 503
        assert set(folder.iterdir()) == before
    wait_until_free(server)
    assert set(folder.iterdir()) == before


@pytest.mark.slow
def test_a_client_that_leaves_before_the_file_is_written(server: Server) -> None:
    request(server, _path("gpkg")).close()
    wait_until_free(server)


@pytest.mark.slow
def test_other_requests_go_on_meanwhile(server: Server) -> None:
    other = make_account(server.client.app)
    fill(other, projects=3, positions=10)
    third = make_account(server.client.app)
    with half_read(server, _path("geojson")):
        assert server.send("GET /v1/projects?per_page=1 HTTP/1.1").status == 200
        mine = Server(server.port, other, server.pid)
        assert _status(mine, "geojson") == 200
        with closing(request(mine, _path("geojson"))) as second:
            assert second.recv(100).startswith(b"HTTP/1.1 200")
        assert _status(Server(server.port, third, server.pid)) in (200, 503)
    wait_until_free(server)


@pytest.mark.slow
def test_no_more_than_two_run_at_once(server: Server) -> None:
    app = server.client.app
    second, third = make_account(app), make_account(app)
    fill(second, projects=PROJECTS, positions=1_000)
    with half_read(server, _path("geojson")), half_read(server, _path("geojson"), second):
        assert _status(Server(server.port, third, server.pid)) == 503
    wait_until_free(Server(server.port, third, server.pid))
    wait_until_free(server)


@pytest.mark.slow
def test_the_log_of_sqlite_can_be_written_back_meanwhile(server: Server, folder: Path) -> None:
    with half_read(server, _path("geojson")) as connection:
        wait_until_stuck(connection)
        wait_for(lambda: can_write_back(folder))
    wait_until_free(server)


@pytest.mark.slow
def test_a_failure_in_the_middle_does_not_look_like_the_end(server: Server, folder: Path) -> None:
    with half_read(server, _path("csv")) as connection:
        wait_until_stuck(connection)
        with without_table(folder, "projects"):
            received = rest(connection)
    assert len(received) > 50_000
    assert not received.endswith(b"0\r\n\r\n")
    wait_until_free(server)
    assert _status(server, "csv") == 200


@pytest.mark.slow
@FORMATS
def test_a_reader_who_may_no_longer_have_it(server: Server, folder: Path, format_name: str) -> None:
    key, before = make_key(server.client), len((folder / "gunicorn.log").read_text())
    with half_read(server, _path(format_name), key) as connection:
        wait_until_stuck(connection)
        time.sleep(EXPORT_CHECK_SECONDS + 0.5)
        with closing(open_database(folder)) as database:
            revoked = "UPDATE credentials SET revoked_at = created_at WHERE id = ?"
            database.execute(revoked, (key.credential_id,))
        received = rest(connection)
    assert 50_000 < len(received) < PROJECTS * 40_000
    assert not received.endswith(b"0\r\n\r\n")
    wait_until_free(server)
    log = (folder / "gunicorn.log").read_text()[before:]
    assert "an export ended early: The token is invalid, expired or revoked." in log
    assert '"ERROR"' not in log


@pytest.mark.slow
def test_a_failure_before_the_first_byte_is_an_error_response(server: Server, folder: Path) -> None:
    with without_table(folder, "projects"):
        answer = server.send("GET /v1/exports/projects?format=csv HTTP/1.1")
    assert (answer.status, answer.headers["content-type"]) == (500, "application/json")
    wait_until_free(server)
