"""A request ends when it has used its processor time, and takes its turn before that, whichever
route it is for."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.api import expensive
from app.api.expensive import TURNS, answer_in_turn
from app.db.extensions import db
from app.db.queries import CompiledQuery, reading_connection
from app.http.errors import BadRequest, ServiceUnavailable
from app.lists import intersecting, scanning
from app.policy.request_limits import EXPENSIVE_RETRY_SECONDS
from app.values import processor_clock
from app.values.batching import batched_by_bytes
from app.values.processor_clock import ProcessorClock, running
from app.values.text import display_text
from tests.geometry.expensive_shapes import comb
from tests.make import Client, make_project
from tests.processor_time import without_garbage_collection
from tests.turns import turn_taken
from tests.waiting import PATIENCE

ITEMS = "/ogc/collections/projects/items"
LIKE = " OR ".join(f"description LIKE '%{150 * 'a'}{n}'" for n in range(9))
ENDLESS = text(
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) "
    "SELECT count(*) FROM numbers"
)


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Requests have little time."""
    monkeypatch.setattr(expensive, "EXPENSIVE_AFTER_SECONDS", 0.2)
    monkeypatch.setattr(expensive, "EXPENSIVE_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.5)
    with without_garbage_collection():
        yield


@pytest.fixture
def _long_texts(client: Client) -> None:
    """Descriptions that take 6 ms each to compare with ``LIKE`` on SQLite."""
    for _ in range(150):
        make_project(client, description=10_000 * "a")


def refuse() -> None:
    raise BadRequest("enough")


def clock(seconds: float = 0.05) -> ProcessorClock:
    return ProcessorClock((seconds, refuse))


@pytest.mark.both
@pytest.mark.provokes(503)
@pytest.mark.usefixtures("_short", "_long_texts")
def test_a_filter_that_takes_long_needs_its_turn_and_is_ended(client: Client) -> None:
    ended = client.get(ITEMS, query_string={"filter": LIKE, "limit": 1})
    assert ended.status_code == 400
    (detail,) = ended.json["error"]["details"]
    assert detail["field"] == "filter"
    assert "Ask for less" in detail["message"]
    with turn_taken():
        refused = client.get(ITEMS, query_string={"filter": LIKE, "limit": 1})
        assert client.get(ITEMS, query_string={"limit": 1}).status_code == 200
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == str(EXPENSIVE_RETRY_SECONDS)
    assert not TURNS.is_taken


@pytest.mark.usefixtures("_short")
def test_boundaries_are_compared_until_the_time_is_over(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(8):
        make_project(client, geometry=comb(2_000))
    monkeypatch.setattr(intersecting, "AT_ONCE", 1)
    monkeypatch.setattr(expensive, "EXPENSIVE_AFTER_SECONDS", 10)
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.001)
    response = client.get(ITEMS, query_string={"filter": "S_INTERSECTS(geometry,POINT(1 1))"})
    assert response.status_code == 400


def _on_a_connection() -> None:
    with reading_connection() as connection:
        connection.execute(ENDLESS)


@pytest.mark.both
def test_any_statement_that_reads_is_ended(app: Flask) -> None:
    for run in (
        lambda: CompiledQuery(ENDLESS.columns()).all(),
        lambda: next(CompiledQuery(ENDLESS.columns()).stream(1)),
        _on_a_connection,
    ):
        with (
            app.test_request_context(),
            running(clock()),
            pytest.raises(BadRequest, match="enough"),
        ):
            run()


def test_the_cursor_of_an_ended_statement_is_closed(app: Flask) -> None:
    """Else it would be garbage, which any thread may free: that one would wait for the statement
    that the connection has then, and all of the process with it."""
    with app.test_request_context(), running(clock()), pytest.raises(BadRequest) as refused:
        CompiledQuery(ENDLESS.columns()).all()
    frames = (frame.f_locals for frame, _ in traceback.walk_tb(refused.tb))
    (cursor,) = (values["cursor"] for values in frames if "cursor" in values)
    with pytest.raises(sqlite3.ProgrammingError, match="closed cursor"):
        cursor.fetchone()


def test_a_statement_of_a_change_is_ended(app: Flask) -> None:
    with app.test_request_context(method="POST"), running(clock()):
        with pytest.raises(BadRequest, match="enough"):
            db.session.execute(ENDLESS)
        db.session.rollback()


def test_a_change_that_takes_too_long_is_refused(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.02)
    with app.test_request_context(method="POST"):
        expensive._begin_expensive_request()
        with pytest.raises(ServiceUnavailable, match="Send less per request"):
            db.session.execute(ENDLESS)
        db.session.rollback()


def test_whoever_holds_up_changes_waits_for_no_turn(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expensive, "EXPENSIVE_WAIT_SECONDS", 10 * PATIENCE)
    with turn_taken(), app.test_request_context(method="POST"):
        expensive._begin_expensive_request()
        db.session.execute(text("SELECT 1"))
        with pytest.raises(ServiceUnavailable):
            answer_in_turn()
        db.session.rollback()


def test_a_text_of_control_characters_takes_no_longer_than_its_request() -> None:
    with running(clock(0.0)), pytest.raises(BadRequest, match="enough"):
        display_text("x\x01" * 100_000)


def test_each_piece_of_a_stream_has_its_own_time(app: Flask) -> None:
    def pieces(seconds: float) -> Iterator[bytes]:
        for _ in range(6):
            for _ in batched_by_bytes(range(3), int, 1, 1):
                processor_clock.add(seconds)
            yield b"1"

    with app.test_request_context():
        few = expensive._Stream(pieces(100), clock(500))
        assert b"".join(few) == b"111111"
        with pytest.raises(BadRequest):
            next(expensive._Stream(pieces(300), clock(500)))


def test_outside_of_a_request_nothing_is_ended(app: Flask) -> None:
    with app.app_context():
        limited = text(
            "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers "
            "WHERE n < 300000) SELECT count(*) FROM numbers"
        )
        with reading_connection() as connection:
            assert connection.execute(limited).scalar() == 300_000


@pytest.mark.slow
@pytest.mark.usefixtures("_short")
def test_an_export_takes_its_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a slot, in which no batch takes long."""
    for _ in range(150):
        make_project(client, geometry=comb(400))
    monkeypatch.setattr(scanning, "EXPORT_ROWS_BYTES", 1)
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.3)
    with turn_taken():
        response = client.get("/v1/exports/projects?format=gpkg")
    assert response.status_code == 200, response.text
    assert len(response.data) > 10_000
