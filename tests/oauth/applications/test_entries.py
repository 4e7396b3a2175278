"""What happens to an application is entered where people have allowed it to act for them, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.db.transactions import transaction
from app.oauth.applications.service import delete_application, update_application
from tests.account.deletion.support import make_due, run_job
from tests.make import Application, Client, grant_tokens, make_application, make_member
from tests.make.audit import new_entries
from tests.pages.support import post, signed_in_browser


@pytest.fixture
def application(client: Client, stranger: Client) -> Application:
    """An application that the owner and two people of another account use."""
    made = make_application(client, scopes=["projects:read", "assets:read"])
    member = make_member(stranger, "viewer")
    for user_id in (stranger.owner_id, member.id):
        grant_tokens(client.app, made, user_id, stranger.account_id)
    grant_tokens(client.app, made, client.owner_id, client.account_id)
    return made


def of_account(found: list[dict[str, Any]], client: Client) -> list[dict[str, Any]]:
    return [entry for entry in found if entry["account_id"] == client.account_id]


def test_one_that_is_deleted(client: Client, stranger: Client, application: Application) -> None:
    browser = signed_in_browser(client, client.owner_id)
    with new_entries(client, stranger.account_id) as found:
        page = post(browser, f"/applications/{application.id}/delete")
    assert page.status == 303, page.text
    assert [entry["action"] for entry in of_account(found, client)] == ["application.deleted"]
    (entry,) = of_account(found, stranger)
    assert entry["action"] == "application.revoked"
    assert entry["target"]["id"] == application.id
    assert_by(entry, application)


@pytest.mark.both
def test_one_that_may_ask_for_less(
    client: Client, stranger: Client, application: Application
) -> None:
    with new_entries(client, stranger.account_id) as found:
        change(
            client,
            lambda: update_application(client.account_id, application.id, scopes=["assets:read"]),
        )
    assert [entry["action"] for entry in of_account(found, client)] == [
        "application.updated",
        "application.revoked",
    ]
    entries = of_account(found, stranger)
    assert [entry["action"] for entry in entries] == ["application.revoked"] * 2
    for entry in entries:
        assert_by(entry, application)


def test_one_of_an_account_that_is_deleted(
    client: Client, stranger: Client, application: Application
) -> None:
    make_due(client.app, client.account_id)
    with new_entries(stranger) as found:
        run_job(client.app)
    (entry,) = found
    assert entry["action"] == "application.revoked"
    assert_by(entry, application)


def test_one_that_nobody_else_uses(client: Client, stranger: Client) -> None:
    unused = make_application(client)
    with new_entries(client, stranger.account_id) as found:
        change(client, lambda: delete_application(client.account_id, unused.id))
    assert [entry["action"] for entry in found] == ["application.deleted"]


def change(client: Client, call: Callable[[], Any]) -> None:
    with client.app.app_context(), transaction():
        assert call()


def assert_by(entry: dict[str, Any], application: Application) -> None:
    """It does not say who manages the application, nor from where."""
    assert entry["actor"]["type"] == "application"
    assert entry["actor"]["id"] == application.id
    assert set(entry["via"].values()) == {None}
