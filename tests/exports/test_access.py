"""A file that is being read ends when its reader may no longer have it."""

from __future__ import annotations

from typing import Any

import pytest

from app.account.deletion.contents import delete_account
from app.auth.sessions import list_sessions, switch_account
from app.db.extensions import db
from app.db.transactions import transaction
from app.downloads import files, responses
from app.formats.writers import source
from app.people.instance_operators import remove_operator
from tests.exports.account_export.archives import PATH, Archive
from tests.make import (
    Browser,
    Client,
    bearer,
    grant_tokens,
    make_application,
    make_key,
    make_member,
    make_operator,
    make_project,
    revoke,
)
from tests.make.oauth import ask_token
from tests.pages.support import signed_in_browser

MEMBERS = "/v1/account/members"


@pytest.fixture(autouse=True)
def _pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces, with a check before each of them."""
    monkeypatch.setattr(source, "BLOCK", 1)
    monkeypatch.setattr(files, "BLOCK", 1024)
    monkeypatch.setattr(responses, "EXPORT_CHECK_SECONDS", 0)


def begun(client: Client, path: str = PATH, **headers: str) -> Any:
    """An export of which nothing but the beginning was read."""
    headers = {"Authorization": f"Bearer {client.token}"} | headers
    response = client.app.test_client().get(path, headers=headers, buffered=False)
    assert response.status_code == 200
    return response


def _ends_early(response: Any, caplog: pytest.LogCaptureFixture) -> None:
    """As if the client had gone, which the web server does not log; one line says why."""
    with caplog.at_level("INFO", "app.downloads.responses"), pytest.raises(BrokenPipeError):
        response.get_data()
    (line,) = [each for each in caplog.records if each.name == "app.downloads.responses"]
    assert line.getMessage().startswith("an export ended early: ")
    assert (line.levelname, line.exc_info) == ("INFO", None)
    assert vars(line)["fields"] == {"request_id": response.headers["X-Request-Id"]}


def _leave_account(client: Client, user_id: str) -> None:
    """Let somebody look at no account in their browser."""
    with client.app.app_context(), transaction():
        for session in list_sessions(user_id):
            switch_account(session.id, None)


def begun_on_page(browser: Browser, page: str = "/settings", path: str = "/settings/export") -> Any:
    fields = browser.get(page).form(path).fields
    response = browser.client.post(path, data=fields | {"format": "csv"}, buffered=False)
    assert response.status_code == 200, response.text
    return response


def test_of_a_credential_that_stays_it_is_complete(client: Client) -> None:
    assert Archive(begun(client).data).names
    assert Archive(begun_on_page(signed_in_browser(client, client.owner_id)).data).names


@pytest.mark.parametrize(
    ("path", "coding"),
    [
        (PATH, "identity"),
        ("/v1/exports/projects", "gzip"),
        ("/v1/exports/projects?format=gpkg", "identity"),
        ("/v1/audit-log?format=csv", "gzip"),
    ],
)
def test_a_revoked_key(
    client: Client, path: str, coding: str, caplog: pytest.LogCaptureFixture
) -> None:
    key = make_key(client)
    for _ in range(2):
        make_project(key)
    response = begun(key, path, **{"Accept-Encoding": coding})
    revoke(key)
    _ends_early(response, caplog)


def test_an_account_that_is_deleted_before_the_next_check(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file does not look complete without what was deleted."""
    monkeypatch.setattr(responses, "EXPORT_CHECK_SECONDS", 60)
    for _ in range(2):
        make_project(client)
    response = begun(client, "/v1/exports/projects")
    with client.app.app_context(), transaction():
        for _ in delete_account(client.account_id):
            db.session.commit()
    _ends_early(response, caplog)


def test_a_member_who_made_the_key(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    member = make_member(client, "admin")
    response = begun(member.client)
    client.put(f"{MEMBERS}/{member.id}", {"role": "viewer"})
    _ends_early(response, caplog)


def test_a_person_who_is_removed(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    member = make_member(client, "admin")
    response = begun_on_page(signed_in_browser(client, member.id))
    client.delete(f"{MEMBERS}/{member.id}")
    _ends_early(response, caplog)


def test_a_person_who_signs_out(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    browser = signed_in_browser(client, client.owner_id)
    response = begun_on_page(browser)
    browser.get("/profile")
    browser.submit("/logout")
    _ends_early(response, caplog)


def test_an_application_whose_access_is_ended(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    application = make_application(client)
    token = grant_tokens(client.app, application, client.owner_id, client.account_id)
    for _ in range(2):
        make_project(client)
    caller = bearer(client, token["access_token"])
    response = begun(caller, "/v1/exports/projects")
    ask_token(client.app, application, "/oauth/revoke", token=token["access_token"])
    _ends_early(response, caplog)


def test_a_person_who_works_in_another_account_meanwhile(client: Client, stranger: Client) -> None:
    browser = signed_in_browser(client, client.owner_id)
    response = begun_on_page(browser)
    _leave_account(client, client.owner_id)
    assert Archive(response.data).names


def test_a_person_who_is_removed_while_they_work_in_another_account(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    member = make_member(client, "admin")
    response = begun_on_page(signed_in_browser(client, member.id))
    _leave_account(client, member.id)
    client.delete(f"{MEMBERS}/{member.id}")
    _ends_early(response, caplog)


def test_a_person_who_is_no_longer_an_operator(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    user_id = make_operator(client)
    browser = signed_in_browser(client, user_id)
    response = begun_on_page(browser, "/operator/log", "/operator/log/export")
    with client.app.app_context(), transaction():
        remove_operator(user_id)
    _ends_early(response, caplog)
