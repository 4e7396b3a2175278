"""Requests behind a real pgbouncer, in session mode and in transaction mode."""

from __future__ import annotations

import itertools
import time
from contextlib import ExitStack
from functools import partial
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.db import queries
from app.db.extensions import db
from tests.db.postgresql.behind import SIZES, TIMEOUT_MS, Behind
from tests.db.postgresql.pgbouncer import ROLE
from tests.make import Client, make_account, square, together

pytestmark = pytest.mark.slow

THREADS = 8
_numbers = itertools.count(1)


def test_each_caller_sees_its_own_rows(behind: Behind) -> None:
    """With prepared statements, a key would be looked up by another statement, and be wrong."""
    clients = [make_account(behind.app) for _ in range(THREADS)]
    for _ in range(2):
        together(*(partial(_use, client) for client in clients))
    assert [client.get("/v1/projects").json["meta"]["total"] for client in clients] == [2] * THREADS


def _use(client: Client) -> None:
    """Everything that a caller does, and what it sees of it."""
    number = next(_numbers)
    body = {"name": f"Forest {number}", "external_id": f"x-{number}", "geometry": square()}
    headers = {"Idempotency-Key": f"key-{number}"}
    made = client.post("/v1/projects", json=body, headers=headers)
    again = client.post("/v1/projects", json=body, headers=headers)
    assert (made.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    project = made.json["data"]
    assert again.json["data"] == project
    read = client.get(f"/v1/projects/{project['id']}")
    assert read.status_code == 200
    assert read.json["data"] == project
    assert project["created_at"].endswith("Z")
    found = client.get(f"/v1/projects?search=forest {number}").json["data"]
    assert [each["id"] for each in found] == [project["id"]]
    listed = client.get("/v1/projects?bbox=9,49,11,51").json["data"]
    assert project["id"] in [each["id"] for each in listed]
    checked = client.post("/v1/geometry/validate", json={"geometry": square()})
    assert checked.json["data"]["valid"]
    changed = client.put(f"/v1/projects/{project['id']}", json={"name": f"Wood {number}"})
    assert changed.json["data"]["name"] == f"Wood {number}"
    missing = client.get("/v1/projects/prj_00000000000000000000000000")
    assert missing.status_code == 404
    usage = client.get("/v1/account/usage")
    assert usage.status_code == 200
    assert client.get("/v1/account").json["data"]["id"] == client.account_id


def test_repeats_at_the_same_moment_make_one_project(behind: Behind) -> None:
    client = make_account(behind.app)
    headers = {"Idempotency-Key": "once"}
    send = partial(client.post, "/v1/projects", json={"name": "Once"}, headers=headers)
    statuses = [answer.status_code for answer in together(*[send] * THREADS)]
    assert set(statuses) <= {201, 409}
    assert client.get("/v1/projects").json["meta"]["total"] == 1


def test_nothing_of_it_stays_on_the_connections_to_postgresql(behind: Behind) -> None:
    client = make_account(behind.app)
    together(*[partial(_use, client)] * THREADS)
    behind.close()
    expected = _settings_of(behind.pgbouncer.direct_url)
    pool, _ = SIZES[behind.mode]
    with ExitStack() as stack:
        for _ in range(pool - 1):  # at the same time, and so on all of them
            connection = stack.enter_context(behind.pgbouncer.connect())
            connection.execute("BEGIN")
            assert _settings_of(connection) == expected
            prepared = "SELECT count(*) FROM pg_prepared_statements"
            assert connection.execute(prepared).fetchone() == (0,)
    with psycopg.connect(behind.pgbouncer.direct_url) as direct:
        locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        assert direct.execute(locks).fetchone() == (0,)


def _settings_of(where: str | psycopg.Connection[Any]) -> list[Any]:
    if isinstance(where, str):
        with psycopg.connect(where) as connection:
            return _settings_of(connection)
    names = "'statement_timeout', 'lock_timeout', 'jit', 'work_mem', 'TimeZone'"
    names += ", 'idle_in_transaction_session_timeout', 'synchronous_commit'"
    shown = f"SELECT name, setting FROM pg_settings WHERE name IN ({names}) ORDER BY name"
    return where.execute(shown).fetchall()


@pytest.mark.provokes(503)
def test_while_all_connections_are_taken_requests_get_503(behind: Behind) -> None:
    client = make_account(behind.app)
    behind.close()
    pool, _ = SIZES[behind.mode]
    with ExitStack() as stack:
        for _ in range(pool):
            stack.enter_context(behind.pgbouncer.connect()).execute("BEGIN")
        began = time.monotonic()
        assert client.get("/v1/projects").status_code == 503
        assert client.post("/v1/projects", json={"name": "Late"}).status_code == 503
        assert time.monotonic() - began < 60
    assert client.post("/v1/projects", json={"name": "In time"}).status_code == 201
    assert client.get("/v1/projects").json["meta"]["total"] == 1


def test_a_statement_in_a_transaction_has_the_time_limit(behind: Behind) -> None:
    with behind.app.app_context():
        began = time.monotonic()
        with pytest.raises(OperationalError, match="statement timeout"):
            db.session.execute(text("SELECT pg_sleep(60)"))
        assert time.monotonic() - began < 30
        db.session.rollback()
        assert db.session.execute(text("SHOW jit")).scalar_one() == "off"


def test_a_reading_has_that_of_the_role(behind: Behind) -> None:
    if behind.is_shared:
        role = f"ALTER ROLE {ROLE} SET statement_timeout = '{TIMEOUT_MS}ms'"
        behind.as_superuser(role)
    try:
        with (
            behind.app.app_context(),
            queries.reading_connection() as connection,
            pytest.raises(OperationalError, match="statement timeout"),
        ):
            connection.exec_driver_sql("SELECT pg_sleep(60)")
    finally:
        behind.as_superuser(f"ALTER ROLE {ROLE} RESET ALL")
