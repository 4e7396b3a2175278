"""Lists are read from a replica, which must never show an older state than the primary."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from prometheus_client import REGISTRY

from app.db import replica
from app.factory import create_app
from config import SettingsError, load_settings
from tests.db.postgresql.standby import Standby, standby_of
from tests.make import Client, make_account, make_project, second_app
from tests.postgres import PostgresServer
from tests.waiting import wait_for

pytestmark = pytest.mark.both


Reads = Callable[[], tuple[float, float]]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that got no turn for a moment is neither behind nor gone."""
    for name in ("_CATCH_UP", "_REPLY_SECONDS", "_CONNECT_SECONDS"):
        monkeypatch.setattr(replica, name, 30)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, _patient: None) -> None:
    """What is behind, or hangs, is not waited for."""
    monkeypatch.setattr(replica, "_CATCH_UP", 0.05)
    monkeypatch.setattr(replica, "_REPLY_SECONDS", 0.5)


@pytest.fixture
def caller(app: Flask, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A caller of an application that has a replica."""
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        pytest.skip("SQLite has no replicas")
    url = request.getfixturevalue("standby").url(settings.database_url)
    with second_app(app, database_replica_url=url) as made:
        yield make_account(made)


@pytest.fixture
def reads() -> Reads:
    """How many lists were read from the replica and from the primary, since the last call."""
    last = {"replica": 0.0, "primary": 0.0}

    def count() -> tuple[float, float]:
        found = []
        for source, before in list(last.items()):
            sample = REGISTRY.get_sample_value("canopy_replica_reads_total", {"source": source})
            last[source] = sample or 0.0
            found.append(last[source] - before)
        return found[0], found[1]

    count()
    return count


def names(caller: Client) -> list[str]:
    response = caller.get("/v1/projects")
    assert response.status_code == 200
    return [project["name"] for project in response.json["data"]]


@pytest.mark.slow
def test_lists_are_read_from_it_and_show_what_was_just_written(
    caller: Client, reads: Reads
) -> None:
    for number in range(30):
        made = make_project(caller, name=f"Forest {number}")
        assert names(caller)[0] == f"Forest {number}"
        caller.get(f"/v1/projects/{made['id']}/assets")
    from_replica, from_primary = reads()
    assert from_replica + from_primary == 60
    assert from_replica > 20


def test_single_resources_are_read_from_the_primary(caller: Client, reads: Reads) -> None:
    made = make_project(caller)
    assert caller.get(f"/v1/projects/{made['id']}").status_code == 200
    assert reads() == (0, 0)


@pytest.mark.usefixtures("impatient")
def test_one_that_is_behind_is_not_read(caller: Client, reads: Reads, standby: Standby) -> None:
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        make_project(caller, name="New")
        assert names(caller) == ["New"]
        assert reads() == (0, 1)
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")
    assert names(caller) == ["New"]


def test_one_that_is_gone_is_not_read(caller: Client, reads: Reads, standby: Standby) -> None:
    caller.app.extensions["canopy_replica"]._failures._pause = 0.5
    make_project(caller, name="New")
    names(caller)
    standby.stop()
    try:
        reads()
        for _ in range(3):
            assert names(caller) == ["New"]
        assert reads() == (0, 3)
    finally:
        standby.start()
    wait_for(lambda: names(caller) == ["New"] and reads()[0])


@pytest.mark.usefixtures("impatient")
def test_one_that_is_back_and_behind_is_read_once_it_is_not(
    caller: Client, reads: Reads, standby: Standby
) -> None:
    caller.app.extensions["canopy_replica"]._failures._pause = 0.1
    make_project(caller, name="Old")
    standby.stop()
    try:
        names(caller)
    finally:
        standby.start()
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        make_project(caller, name="New")
        time.sleep(0.2)
        reads()
        assert names(caller) == ["New", "Old"]
        assert reads() == (0, 1)
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")
    wait_for(lambda: names(caller) and reads()[0])


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_one_that_hangs_is_not_read(caller: Client, reads: Reads, standby: Standby) -> None:
    make_project(caller, name="New")
    names(caller)
    reads()
    with standby.hanging():
        began = time.monotonic()
        assert [names(caller) for _ in range(3)] == [["New"]] * 3
        assert time.monotonic() - began < 30
    assert reads() == (0, 3)


@pytest.mark.slow
def test_one_that_cancels_a_query_is_not_read_again(
    caller: Client, reads: Reads, standby: Standby
) -> None:
    make_project(caller, name="New")
    names(caller)
    reads()
    standby.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    assert names(caller) == ["New"]
    assert sum(reads()) == 1


@pytest.mark.slow
def test_one_that_was_promoted_is_left(
    app: Flask, postgres: PostgresServer, scratch: Path, reads: Reads
) -> None:
    """Its sessions go on, and its history is another one."""
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        pytest.skip("SQLite has no replicas")
    with standby_of(postgres, scratch / "promoted") as standby:
        url = standby.url(settings.database_url)
        with second_app(app, database_replica_url=url) as made:
            caller = make_account(made)
            make_project(caller, name="Old")
            assert names(caller) == ["Old"]
            assert sum(reads()) == 1
            standby.run("pg_ctl", "-w", "-D", str(standby.folder), "promote")
            make_project(caller, name="New")
            assert names(caller) == ["New", "Old"]
            assert reads() == (0, 1)


def test_a_primary_is_not_read_as_a_replica(app: Flask, reads: Reads) -> None:
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        pytest.skip("SQLite has no replicas")
    with second_app(app, database_replica_url=settings.database_url) as made:
        caller = make_account(made)
        make_project(caller, name="New")
        assert names(caller) == ["New"]
        assert reads() == (0, 1)


@pytest.mark.slow
def test_a_replica_of_another_database_is_not_read(
    app: Flask,
    request: pytest.FixtureRequest,
    reads: Reads,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        pytest.skip("SQLite has no replicas")
    standby: Standby = request.getfixturevalue("standby_of_another")
    url = standby.url("postgresql://postgres:@/postgres")
    with second_app(app, database_replica_url=url) as made:
        caller = make_account(made)
        make_project(caller, name="New")
        assert names(caller) == ["New"]
        assert reads() == (0, 1)
    assert "it is not a replica of the database at DATABASE_URL" in caplog.text


@pytest.mark.slow
def test_nobody_else_sees_the_lists(caller: Client, app: Flask) -> None:
    make_project(caller, name="Mine")
    assert names(make_account(caller.app)) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite:///x", "must begin with postgresql://"),
        ("postgresql://h/d", "needs a DATABASE_URL of PostgreSQL"),
    ],
)
def test_addresses_that_cannot_be_used(tmp_path: Path, url: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=f"DATABASE_REPLICA_URL.*{reason}"):
        load_settings({"INSTANCE_PATH": str(tmp_path), "DATABASE_REPLICA_URL": url})


def test_an_unknown_option(tmp_path: Path) -> None:
    settings = load_settings({"INSTANCE_PATH": str(tmp_path), "DATABASE_URL": "postgresql://h/d"})
    settings = dataclasses.replace(settings, database_replica_url="postgresql+psycopg://h/d?x=y")
    with pytest.raises(SettingsError, match="DATABASE_REPLICA_URL cannot be used"):
        create_app(settings)
