"""Somebody is invited, or given an account, while they are being deleted."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from flask import Flask
from sqlalchemy import text

from app.account.service import create_account
from app.db.extensions import db
from app.db.transactions import transaction
from app.deletion.service import delete_person
from tests.make import Client, make_member
from tests.members.support import count_members, invite

T = TypeVar("T")

_WAITING = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def while_deleted(app: Flask, user_id: str, call: Callable[[], T]) -> T:
    """What a call returns that begins before the deletion of a person is committed."""
    with app.app_context(), ThreadPoolExecutor(1) as pool:
        with transaction():
            delete_person(user_id)
            db.session.flush()
            result = pool.submit(call)
            _until_it_waits()
        return result.result(timeout=20)


def _until_it_waits() -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with db.engine.connect() as connection:
            if connection.execute(_WAITING).scalar_one():
                return
        time.sleep(0.01)
    raise AssertionError("nothing waits for the deletion")


@pytest.fixture(autouse=True)
def _several_writers(app: Flask) -> None:
    if app.config["SETTINGS"].uses_sqlite:
        pytest.skip("one writer at a time")


def test_they_are_invited_as_somebody_new(client: Client, stranger: Client) -> None:
    leaving = make_member(stranger, "editor")
    response = while_deleted(client.app, leaving.id, lambda: invite(client, leaving.email))
    assert response.status_code == 201, response.text
    assert response.json["data"]["id"] != leaving.id
    assert count_members(client) == 2


def test_an_account_is_created_with_a_new_owner(client: Client) -> None:
    leaving = make_member(client, "editor")

    def create() -> tuple[str, str | None]:
        with client.app.app_context(), transaction():
            made = create_account(name="Green Woods", owner_email=leaving.email)
            return made.owner.id, made.password

    owner_id, password = while_deleted(client.app, leaving.id, create)
    assert owner_id != leaving.id
    assert password is not None
