"""What is watched: every statement of a request, whichever way it goes to the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.auth import credentials
from app.auth.tenant import account_of
from app.db import queries
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.lists.statements import count_named
from app.models import Project
from app.projects.listing import TABLE
from tests import statement_checks
from tests.make import Client, second_app

pytestmark = pytest.mark.both


ALL = text("SELECT projects.id FROM projects")


@contextmanager
def _request(app: Flask, method: str = "POST") -> Iterator[None]:
    with app.test_request_context("/v1/projects", method=method):
        yield
        db.session.rollback()


def test_a_statement_is_watched_whichever_way_it_is_sent(app: Flask) -> None:
    with _request(app):
        db.session.execute(ALL)
        with queries.reading_connection() as connection:
            connection.execute(ALL)
    with _request(app, "GET"):
        CompiledQuery(select(Project.id)).all()
    with second_app(app) as other, _request(other):
        db.session.execute(ALL)
    found = statement_checks.take_findings()
    assert ["goes around the tenant filter" in each for each in found] == [True] * 4


def test_who_may_ask_whose_a_row_is(app: Flask) -> None:
    """The route on which the database tells of rows, and no other."""
    with _request(app):
        account_of(Project, "proj_1")
    assert len(statement_checks.take_findings()) == 1
    with app.test_request_context("/api/db/webhook", method="POST"):
        account_of(Project, "proj_1")
        assert statement_checks.take_findings() == []
        CompiledQuery(select(Project.id)).all()
    assert len(statement_checks.take_findings()) == 1


def test_a_get_that_begins_a_transaction_is_seen(app: Flask) -> None:
    if not app.config["SETTINGS"].uses_sqlite:
        pytest.skip("PostgreSQL's driver begins by itself, and no writer waits for it")
    with _request(app, "GET"):
        db.session.execute(text("SELECT 1"))
    assert statement_checks.take_findings() == ["a GET of /v1/projects began a transaction"]


def test_a_search_through_the_texts_of_all_is_seen(app: Flask) -> None:
    if not app.config["SETTINGS"].uses_sqlite:
        pytest.skip("of the index of SQLite")
    with _request(app, "GET"):
        count_named(TABLE, "sqlite", "text").scalar(phrase='"for" AND "est"', most=1)
    assert len(statement_checks.take_findings()) == 1


@pytest.mark.provokes(500)
def test_what_a_request_did_is_known_after_it_was_answered_500(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: str) -> None:
        db.session.execute(ALL)
        raise ZeroDivisionError

    monkeypatch.setattr(credentials._BY_HASH, "first", fail)
    assert client.post("/v1/projects", json={"name": "A"}).status_code == 500
    assert len(statement_checks.take_findings()) == 1
