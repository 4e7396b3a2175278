"""What only PostgreSQL can do to us: vanish, hang, or not confirm a commit."""

from __future__ import annotations

import dataclasses
import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from flask import Flask
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from app.api import expensive
from app.db import queries
from app.db.extensions import db
from app.db.postgresql.connection import LimitedConnection
from app.factory import create_app
from app.monitoring import storage
from app.values import circuit_breaker
from config import SettingsError, load_settings
from tests.make import Client, make_account, second_app
from tests.postgres import PostgresServer
from tests.waiting import wait_for

pytestmark = pytest.mark.both

WAIT_MS = 2000  # what takes as long by chance is taken for a fault
GIVEN_UP = 30.0  # seconds; who waits longer for what never comes has not given it up


@pytest.fixture
def impatient(app: Flask) -> Iterator[Client]:
    """A caller of an application that does not wait for its database for long."""
    if app.config["SETTINGS"].uses_sqlite:
        pytest.skip("SQLite has no server")
    with second_app(app, database_timeout_ms=WAIT_MS) as made:
        yield make_account(made)


@contextmanager
def lost_standby(server: PostgresServer) -> Iterator[None]:
    """Commits wait for a standby that is not there."""
    with psycopg.connect(server.url, autocommit=True) as operator:
        operator.execute("ALTER SYSTEM SET synchronous_standby_names = 'lost'")
        operator.execute("SELECT pg_reload_conf()")
        try:
            wait_for(lambda: _has_to_wait(operator, server.url))
            yield
        finally:
            operator.execute("ALTER SYSTEM RESET synchronous_standby_names")
            operator.execute("SELECT pg_reload_conf()")
            wait_for(lambda: not _has_to_wait(operator, server.url))


def _has_to_wait(operator: psycopg.Connection[Any], url: str) -> bool:
    """Whether a commit waits for a standby: several processes have to know of a change."""
    with psycopg.connect(url, autocommit=True) as probe:

        def commit() -> None:
            with suppress(psycopg.Error):
                probe.execute("SELECT pg_logical_emit_message(true, 'probe', '')")

        committing = threading.Thread(target=commit)
        committing.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'SyncRep'"
        pid = [probe.info.backend_pid]

        def waits() -> bool:
            return operator.execute(waiting, pid).fetchone() == (1,)

        wait_for(lambda: not committing.is_alive() or waits())
        has_to_wait = committing.is_alive() and waits()
        operator.execute("SELECT pg_terminate_backend(%s)", pid)
        committing.join()
    return has_to_wait


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[LimitedConnection]:
    """The connections of the changes that PostgreSQL was asked to commit."""
    asked, commit = [], LimitedConnection.commit

    def noted(connection: LimitedConnection) -> None:
        if connection.info.transaction_status == TransactionStatus.INTRANS and connection.commits:
            asked.append(connection)
        commit(connection)

    monkeypatch.setattr(LimitedConnection, "commit", noted)
    return asked


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Stops the clock of pauses; moves it on by so many seconds."""
    moment = time.monotonic()

    def move(seconds: float) -> None:
        nonlocal moment
        moment += seconds

    monkeypatch.setattr(circuit_breaker, "time", SimpleNamespace(monotonic=lambda: moment))
    return move


@pytest.mark.slow
@pytest.mark.provokes(503)
def test_a_commit_that_is_not_confirmed_is_told_and_found_out(
    impatient: Client, postgres: PostgresServer
) -> None:
    impatient.get("/v1/account")
    sent: dict[str, Any] = {"json": {"name": "A"}, "headers": {"Idempotency-Key": "unconfirmed"}}
    with lost_standby(postgres):
        began = time.monotonic()
        response = impatient.post("/v1/projects", **sent)
        assert time.monotonic() - began < GIVEN_UP
        assert response.status_code == 503
        assert "may have been made" in response.json["error"]["message"]
        assert int(response.headers["Retry-After"]) >= 1
        assert impatient.get("/v1/projects").status_code == 200
    again = wait_for(
        lambda: (answer := impatient.post("/v1/projects", **sent)).status_code != 503 and answer
    )
    assert again.status_code == 201
    assert again.headers["Idempotency-Replayed"] == "true"
    assert impatient.get("/v1/projects").json["meta"]["total"] == 1


@pytest.mark.provokes(503)
@pytest.mark.slow
def test_further_changes_fail_at_once_and_reads_go_on(
    impatient: Client,
    postgres: PostgresServer,
    commits: list[LimitedConnection],
    moved: Callable[[float], None],
) -> None:
    other, names = make_account(impatient.app), map(str, itertools.count())
    third, taken = make_account(impatient.app), {"name": "B", "external_id": "b"}
    third.post("/v1/projects", json=taken)

    def create() -> int:
        return other.post("/v1/projects", json={"name": next(names)}).status_code

    with lost_standby(postgres):
        impatient.post("/v1/projects", json={"name": "A"})
        commits.clear()
        assert {create() for _ in range(10)} == {503}
        assert other.get("/v1/projects").status_code == 200
        assert commits == []
        moved(1.1)  # then one change finds out
        assert [create() for _ in range(3)] == [503] * 3
        assert len(commits) == 1
        moved(1.1)  # or, if it commits nothing, one a second later
        assert third.post("/v1/projects", json=taken).status_code == 409
        moved(1.1)
        assert third.post("/v1/projects", json={"name": "C"}).status_code == 503
        assert len(commits) == 2
    wait_for(lambda: moved(1.1) or create() == 201)


@pytest.mark.provokes(503)
def test_the_locks_of_an_unconfirmed_commit_are_waited_for_once(
    impatient: Client,
    postgres: PostgresServer,
    commits: list[LimitedConnection],
    moved: Callable[[float], None],
) -> None:
    """In another process, which has seen no commit fail."""
    settings = impatient.app.config["SETTINGS"]
    with second_app(impatient.app, database_timeout_ms=settings.database_timeout_ms) as process:
        same, other = dataclasses.replace(impatient, app=process), make_account(process)
        with lost_standby(postgres):
            impatient.post("/v1/projects", json={"name": "A"})
            assert same.post("/v1/projects", json={"name": "B"}).status_code == 503
            commits.clear()
            assert other.post("/v1/projects", json={"name": "C"}).status_code == 503
            assert commits == []
            assert other.get("/v1/projects").status_code == 200


@pytest.mark.provokes(503)
def test_a_server_that_hangs_is_not_waited_for(impatient: Client) -> None:
    with impatient.app.app_context():
        pids = [_pid(db.engine.raw_connection()), _pid(queries.reading_engine().raw_connection())]
    impatient.get("/v1/projects")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        statuses = [impatient.get("/v1/projects").status_code for _ in range(2)]
        assert time.monotonic() - began < GIVEN_UP
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert statuses[0] in (200, 503)
    assert impatient.post("/v1/projects", json={"name": "A"}).status_code == 201


@pytest.mark.provokes(503)
def test_nobody_is_told_to_ask_for_less_of_a_server_that_hangs(
    impatient: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.3)
    with impatient.app.app_context():
        pids = [_pid(db.engine.raw_connection()), _pid(queries.reading_engine().raw_connection())]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        statuses = [impatient.get("/v1/projects").status_code for _ in range(2)]
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert set(statuses) <= {200, 503}


@pytest.mark.provokes(503)
def test_a_server_that_hangs_is_waited_for_once_in_a_request(
    impatient: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that are as old as the one that was lost are not tried."""
    impatient.post("/v1/projects", json={"name": "A"})
    with impatient.app.app_context():
        pids = [_pid(db.engine.raw_connection()), _pid(queries.reading_engine().raw_connection())]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        lost, note = [], LimitedConnection._note_loss
        monkeypatch.setattr(
            LimitedConnection, "_note_loss", lambda self: lost.append(self) or note(self)
        )
        impatient.post("/v1/projects", json={"name": "B"})
        assert len(lost) == 1
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_the_host_that_responded_is_asked_first(app: Flask) -> None:
    settings = app.config["SETTINGS"]
    if settings.uses_sqlite:
        pytest.skip("SQLite has no server")
    known = conninfo_to_dict(settings.database_url.replace("+psycopg", ""))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = f"host=127.0.0.1,{quote(str(known['host']), safe='')}"
        ports = f"port={silent.getsockname()[1]},5432&connect_timeout=2"
        url = f"postgresql+psycopg://{known['user']}:@/{known['dbname']}?{hosts}&{ports}"
        with second_app(app, database_url=url) as made, made.app_context():
            for engine in (db.engine, queries.reading_engine()):
                with engine.connect() as connection:
                    connection.exec_driver_sql("SELECT 1")
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):  # it was not asked twice
            silent.accept()


def _pid(connection: Any) -> int:
    pid: int = connection.driver_connection.info.backend_pid
    connection.close()
    return pid


@pytest.mark.provokes(503)
def test_a_server_that_takes_no_changes_any_more_is_left(
    impatient: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a pgbouncer leads to it that does not know."""
    monkeypatch.setattr(storage, "TRY_EVERY", 0.0)
    with impatient.app.app_context():
        for engine in (db.engine, queries.reading_engine()):
            with engine.connect() as connection:
                connection.exec_driver_sql("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
                connection.commit()
    for state in ("failed", "ok"):
        ready = impatient.get("/readyz")
        assert (ready.status_code, ready.json["checks"]["storage"]) == (200, state)
    assert impatient.post("/v1/projects", json={"name": "A"}).status_code == 503
    assert impatient.post("/v1/projects", json={"name": "A"}).status_code == 201


def test_a_host_that_vanishes_is_noticed(impatient: Client) -> None:
    with impatient.app.app_context():
        for engine in (db.engine, queries.reading_engine()):
            with engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                assert driver.info.get_parameters()["tcp_user_timeout"] == "4000"
                assert driver.reply_seconds == WAIT_MS / 1000 + 1


def test_the_address_may_have_other_limits(app: Flask) -> None:
    if app.config["SETTINGS"].uses_sqlite:
        pytest.skip("SQLite has no server")
    url = f"{app.config['SETTINGS'].database_url}&tcp_user_timeout=9000"
    with (
        second_app(app, database_url=url) as made,
        made.app_context(),
        db.engine.connect() as connection,
    ):
        driver: Any = connection.connection.driver_connection
        assert driver.info.get_parameters()["tcp_user_timeout"] == "9000"


def test_an_address_that_cannot_be_used_is_refused_at_start(
    tmp_path: Any, subtests: pytest.Subtests
) -> None:
    for url, reason in (
        ("postgresql://u@h:port/d", "a number from 1 to 65535 as its port"),
        ("postgresql://u@h/d?sslmod=require", 'invalid connection option "sslmod"'),
        ("postgresql://u@h/d?connect_timeout=abc", "bad value for connect_timeout: 'abc'"),
        ("postgresql://u@/d?host=a:x&host=b:1", "non-integer port"),
        ("postgresql://u@a:1:2,b/d", "must name its hosts"),
    ):
        with subtests.test(url):
            with pytest.raises(SettingsError, match=reason) as raised:
                create_app(load_settings({"INSTANCE_PATH": str(tmp_path), "DATABASE_URL": url}))
            assert "DATABASE_URL" in str(raised.value)
