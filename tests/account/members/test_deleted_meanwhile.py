"""Somebody is invited, or given an account, while they are being deleted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from flask import Flask

from app.account.service import create_account
from app.db.extensions import db
from app.db.transactions import transaction
from app.people.deletion import delete_person
from tests.account.members.support import count_members, invite
from tests.make import Client, make_member
from tests.make.together import until_it_waits

pytestmark = pytest.mark.both
T = TypeVar("T")


def while_deleted(app: Flask, user_id: str, call: Callable[[], T]) -> T:
    """What a call returns that begins before the deletion of a person is committed."""
    with app.app_context(), ThreadPoolExecutor(1) as pool:
        with transaction():
            delete_person(user_id)
            db.session.flush()
            result = pool.submit(call)
            until_it_waits(result)
        return result.result(timeout=60)


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
