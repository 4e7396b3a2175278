"""An account or a person is deleted while a request of theirs runs, after it was authenticated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.account.deletion import jobs
from app.account.deletion.contents import delete_account
from app.auth import guard
from app.cli import account_deletion
from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs import runs
from app.pages.deletion import views
from app.pages.second_factor import views as second_step
from app.people.deletion import delete_person
from app.site import signed_in
from tests.account.deletion.support import PERSON_PAGE, make_due, run_job
from tests.cli.conftest import Run
from tests.cli.conftest import core as core
from tests.cli.conftest import run as run
from tests.make import Client, make_member
from tests.oauth.support import browser_of
from tests.people.second_factor.support import Later, app_of, begin, give


def _meanwhile(
    monkeypatch: pytest.MonkeyPatch, app: Flask, module: Any, name: str, change: Callable[[], None]
) -> None:
    """Make a change once, in another connection, after a function has returned."""
    original, waiting = getattr(module, name), [change]

    def in_app() -> None:
        with app.app_context():
            waiting.pop()()

    def run(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        if waiting:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(in_app).result(30)
        return result

    monkeypatch.setattr(module, name, run)


def _delete_account(account_id: str) -> None:
    with transaction():
        for _ in delete_account(account_id):
            db.session.commit()


def _delete_person(user_id: str) -> None:
    with transaction():
        delete_person(user_id)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/account", None),
        ("GET", "/v1/projects", None),
        ("POST", "/v1/projects", {"name": "Alder"}),
    ],
)
def test_the_credential_of_a_deleted_account_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any
) -> None:
    change = partial(_delete_account, client.account_id)
    _meanwhile(monkeypatch, client.app, guard, "authenticate_header", change)
    response = getattr(client, method.lower())(path, **({"json": body} if body else {}))
    assert response.status_code == 401, response.text
    assert "has just been deleted" in response.json["error"]["message"]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/accounts", {"account_name": "Alder", "account_slug": ""}),
        ("/profile/name", {"name": "Another Name"}),
        ("/profile/second-factor/off", {}),
    ],
)
def test_a_deleted_person_is_told(
    client: Client, monkeypatch: pytest.MonkeyPatch, path: str, fields: dict[str, str]
) -> None:
    member = make_member(client, "editor")
    browser = browser_of(client, member.id)
    token = browser.get("/profile").form("/logout").fields
    change = partial(_delete_person, member.id)
    _meanwhile(monkeypatch, client.app, signed_in, "save_session_use", change)
    page = browser.send(path, None, **token, **fields)
    assert page.status == 401
    assert "has just been deleted" in page.text
    assert browser.get("/profile").path.startswith("/login")


def test_the_command_is_told_that_another_one_was_faster(
    client: Client, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    change = partial(_delete_account, client.account_id)
    _meanwhile(monkeypatch, client.app, account_deletion, "count_contents", change)
    result = run("account", "delete", client.account_id, "--yes")
    assert (result.exit_code, result.stderr) == (1, "Error: This account is already deleted.\n")


def test_the_job_ends_what_a_command_has_begun(
    client: Client, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    real = account_deletion.delete_account

    def delete(account_id: str) -> Iterator[None]:
        steps = real(account_id)
        yield next(steps)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(run_job, client.app).result(30) == 1
        yield from steps

    monkeypatch.setattr(jobs, "due_accounts", lambda: [client.account_id])
    monkeypatch.setattr(account_deletion, "delete_account", delete)
    result = run("account", "delete", client.account_id, "--yes")
    assert result.exit_code == 0, result.stderr


def test_the_job_loses_to_a_command(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_due(client.app, client.account_id)
    monkeypatch.setattr(jobs, "due_accounts", lambda: [client.account_id])
    change = partial(_delete_account, client.account_id)
    _meanwhile(monkeypatch, client.app, runs, "pause_after", change)
    assert run_job(client.app) == 0
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


def test_a_double_click_deletes_a_person_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = make_member(client, "editor")
    browser = browser_of(client, member.id)
    browser.get(PERSON_PAGE)
    _meanwhile(monkeypatch, client.app, views, "ask_again", partial(_delete_person, member.id))
    page = browser.submit(PERSON_PAGE, confirmation=member.email)
    assert page.status == 200
    assert "Your profile has been deleted" in page.text


@pytest.mark.parametrize("is_right", [True, False])
def test_a_person_is_deleted_within_the_second_step(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch, is_right: bool
) -> None:
    member, later = make_member(client, "editor"), Later(monkeypatch)
    factor = app_of(app, member.id)
    later.move()
    browser = begin(app, member.email)
    # The attempt is counted before that, and compared after it.
    _meanwhile(monkeypatch, app, second_step, "_purpose_of", partial(_delete_person, member.id))
    page = give(browser, value=factor.code() if is_right else factor.wrong())
    assert page.path == "/login"
    assert "This sign-in has expired or ended." in page.text
