"""What one request asks of Valkey and of the database, counted where it arrives or leaves.

Valkey counts by MONITOR, which shows every command that a client sent; what a script does inside
Valkey is left out. Statements are counted at the drivers: SQLite tells of each that it runs, and
psycopg's cursors are counted as they send.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from flask import Flask
from sqlalchemy import Engine, event

from app.db.connections import close_all
from app.factory import create_app
from app.jobs.valkey_client import make_client
from app.processes.embedded import redis_url
from bench.instance import Instance
from config import load_settings

REQUESTS = 200
_END = "that is all"


def count_calls(instance: Instance) -> tuple[float, float]:
    """Round trips to Valkey, and statements, of one ``GET /v1/projects/{id}``.

    The requests are those of a day and a minute that have begun: the first ones of each account
    also read what the day's counter begins with, and note the use of the key.
    """
    app = create_app(load_settings(instance.environ))
    with statements() as sent:
        _read(app, instance, 5)
        with _commands(app) as commands:
            sent.clear()
            _read(app, instance, REQUESTS)
            number = sent.total()
    with app.app_context():
        close_all()
    return commands.total() / REQUESTS, number / REQUESTS


def _read(app: Flask, instance: Instance, times: int) -> None:
    client = app.test_client()
    headers = {"Authorization": f"Bearer {instance.key}"}
    for number in range(times):
        project_id = instance.project_ids[number % len(instance.project_ids)]
        answer = client.get(f"/v1/projects/{project_id}", headers=headers)
        if answer.status_code != 200 or "X-RateLimit-Limit" not in answer.headers:
            raise SystemExit(f"unexpected answer: {answer.status} {dict(answer.headers)}")


@contextmanager
def _commands(app: Flask) -> Iterator[Counter[str]]:
    """The commands that clients send to Valkey meanwhile, by name."""
    found: Counter[str] = Counter()
    address = redis_url(app.config["SETTINGS"])
    watching, ending = make_client(address), make_client(address)
    ending.ping()
    with watching.monitor() as monitor:
        yield found
        ending.echo(_END)
        while _END not in (entry := monitor.next_command())["command"]:
            if entry["client_type"] != "lua":
                found[entry["command"].split()[0]] += 1
    watching.close()
    ending.close()


@contextmanager
def statements() -> Iterator[Counter[str]]:
    """The statements that this process sends to its databases meanwhile."""
    found: Counter[str] = Counter()

    def note(statement: Any, *_: Any) -> None:
        if not str(statement).startswith("--"):  # a trigger of SQLite, or what is in one
            found[str(statement)] += 1

    def trace(connection: Any, _: Any) -> None:
        driver = getattr(connection, "driver_connection", connection)
        if isinstance(driver, sqlite3.Connection):
            driver.set_trace_callback(note)

    execute = psycopg.Cursor.execute

    def counted(cursor: Any, query: Any, *more: Any, **options: Any) -> Any:
        note(query)
        return execute(cursor, query, *more, **options)

    event.listen(Engine, "connect", trace)
    psycopg.Cursor.execute = counted  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]
        event.remove(Engine, "connect", trace)
