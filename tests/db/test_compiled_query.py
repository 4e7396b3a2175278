"""``CompiledQuery`` reads what SQLAlchemy itself would read, whatever the types. app.db.queries."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import bindparam, func, make_url, select

from app import models
from app.db import queries
from app.db.column_types import api_column
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import Account, Credential, Project
from tests.make import Client, make_asset, make_project, make_service_token, point, square

pytestmark = pytest.mark.both


@pytest.fixture
def filled(client: Client) -> Client:
    """An account with something in most tables."""
    project = make_project(client, geometry=square())
    make_asset(client, project["id"], location=point(), metadata={"a": [1, None]})
    make_project(client)
    make_service_token(client, ip_allowlist=["10.0.0.0/8"])
    client.put("/v1/account", json={"name": "B"}, headers={"Idempotency-Key": "prepared"})
    return client


def test_every_column_of_every_table(filled: Client, subtests: pytest.Subtests) -> None:
    for name in models.__all__:
        table = getattr(models, name).__table__
        statement = select(*table.c).order_by(*table.primary_key).limit(200)
        if "account_id" in table.c:
            statement = statement.where(table.c.account_id == filled.account_id)
        with subtests.test(name), filled.app.app_context():
            prepared = [tuple(row) for row in CompiledQuery(statement).all()]
            expected = [tuple(row) for row in db.session.execute(statement)]
            assert prepared == expected


def test_rows_have_names(filled: Client) -> None:
    statement = CompiledQuery(
        select(Credential.id, Credential.ip_allowlist, func.length(Credential.name).label("size"))
        .where(Credential.account_id == bindparam("account_id"))
        .order_by(Credential.id.desc())
    )
    with filled.app.app_context():
        row = statement.first(account_id=filled.account_id)
    assert (row.id[:4], row.ip_allowlist, row.size) == ("svc_", ["10.0.0.0/8"], 4)


def test_moments_can_be_read_as_they_are_shown(filled: Client) -> None:
    statement = CompiledQuery(
        select(api_column(Project.created_at)).where(Project.account_id == bindparam("account_id"))
    )
    with filled.app.app_context():
        found = {row.created_at for row in statement.all(account_id=filled.account_id)}
    listed = filled.get("/v1/projects").json["data"]
    assert found == {project["created_at"] for project in listed}


def test_nothing_is_none(app: Flask) -> None:
    statement = CompiledQuery(select(Account.id).where(Account.id == bindparam("id")))
    with app.app_context():
        assert statement.first(id="x") is None
        assert statement.all(id="x") == []


def test_a_moment_is_a_parameter_too(filled: Client) -> None:
    statement: Any = CompiledQuery(
        select(func.count().label("number")).where(
            Project.account_id == bindparam("account_id"),
            Project.created_at <= bindparam("moment", type_=Project.created_at.type),
        )
    )
    with filled.app.app_context():
        moment = db.session.scalars(select(func.max(Project.created_at))).one()
        assert statement.scalar(account_id=filled.account_id, moment=moment) == 2


def test_rows_that_are_not_taken_hold_nothing(client: Client) -> None:
    for _ in range(5):
        make_project(client)
    statement = CompiledQuery(
        select(Project.id).where(Project.account_id == bindparam("account_id")).order_by(Project.id)
    )
    database = client.app.config["SETTINGS"].database_url
    if not database.startswith("sqlite"):
        pytest.skip("PostgreSQL's driver has all rows at once")
    with client.app.app_context():
        chunks = statement.stream(2, account_id=client.account_id)
        assert len(next(chunks)) == 2
        queries.release_connection()
        make_project(client)
        with closing(sqlite3.connect(make_url(database).database or "")) as other:
            busy, _, _ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not busy
