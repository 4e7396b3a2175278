"""When the time has come, the job deletes an account, and nothing of it is left anywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.account.deletion import jobs
from app.account.deletion.contents import delete_account
from app.db.connections import close_all
from app.db.extensions import db
from app.db.migrations import upgrade
from app.db.transactions import transaction
from app.exports.account_export.json_files import ExportedAccount
from app.exports.account_export.service import write_archive
from app.factory import create_app
from app.http.errors import Conflict
from app.jobs import runs, shutdown
from app.limits import forgetting
from app.models import User
from app.people.deletion import delete_person
from app.policy.audit import INSTANCE
from app.values import clock
from config import load_settings
from tests.account.deletion.contents import fill, rows_of_account
from tests.account.deletion.support import PAGE, account_with, make_due, run_job, schedule, slug_of
from tests.account.deletion.traces import files_naming, keys_naming, tables_naming
from tests.cli.conftest import runner
from tests.make import Client, make_account, make_member, make_webhook
from tests.make.audit import audit_entries, new_entries
from tests.make.imports import make_import
from tests.make.mails import mails_to, text_of
from tests.oauth.support import browser_of as browser_with_password
from tests.pages.operator.support import operator_browser
from tests.pages.support import signed_in_browser
from tests.webhooks.deliveries.makers import queue

# Where the id of a deleted account stays: what the operator can show that it was deleted.
KEPT = {"audit_entries"}


@pytest.fixture
def due(client: Client) -> Client:
    """An account with one of everything, whose deletion is due."""
    fill(client)
    make_import(client)
    for _ in range(3):
        client.get("/v1/projects")
        client.get("/ogc/collections", headers={"Accept": "application/json"})
    schedule(browser_with_password(client), slug_of(client))
    make_due(client.app, client.account_id)
    return client


def test_nothing_is_left(app: Flask, due: Client, stranger: Client) -> None:
    fill(stranger)
    others = rows_of_account(app, stranger.account_id)
    assert len(tables_naming(app, due.account_id)) > 15
    assert len(keys_naming(app, due.account_id)) > 3
    assert run_job(app) > 0
    assert tables_naming(app, due.account_id) == KEPT
    assert keys_naming(app, due.account_id) == []
    assert files_naming(Path(app.instance_path), due.account_id) == []
    assert rows_of_account(app, stranger.account_id) == others
    assert due.get("/v1/projects").status_code == 401


def test_the_log_of_the_instance_says_who_did_it(app: Flask, due: Client) -> None:
    with new_entries(due, INSTANCE) as found:
        run_job(app)
    (entry,) = [each for each in found if each["target"]["id"] == due.account_id]
    assert entry["action"] == "account.deleted"
    assert entry["actor"]["type"] == "person"
    assert entry["actor"]["id"] == due.owner_id
    assert audit_entries(due) == []


def test_who_scheduled_it_may_be_deleted_before(
    app: Flask, client: Client, stranger: Client
) -> None:
    second = make_member(client, "owner")
    name = client.get("/v1/account").json["data"]["name"]
    schedule(browser_with_password(client, second.id), slug_of(client))
    with app.app_context(), transaction():
        delete_person(second.id)
    make_due(app, client.account_id)
    run_job(app)
    page = operator_browser(stranger).get("/operator/log?action=account.deleted")
    assert f"A former owner deleted the account {name}" in page.text


@pytest.mark.both
def test_owners_and_admins_are_told_once(app: Flask, client: Client) -> None:
    admin, viewer = make_member(client, "admin"), make_member(client, "viewer")
    schedule(browser_with_password(client), slug_of(client))
    make_due(app, client.account_id)
    run_job(app)
    run_job(app)
    told = [text_of(mail) for mail in mails_to(app, admin.email)]
    assert sum("is being deleted now" in mail for mail in told) == 1
    assert not any("is being deleted" in text_of(mail) for mail in mails_to(app, viewer.email))


@pytest.mark.slow
def test_a_run_that_has_no_time_left_is_continued(
    app: Flask, due: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "RUN_SECONDS", -1.0)
    monkeypatch.setattr(jobs, "due_accounts", lambda: [due.account_id])  # none of another test
    rounds = 0
    while run_job(app) == 0:
        rounds += 1
        assert due.get("/v1/projects").status_code == 401
        assert rounds < 500
    assert rounds > 0
    assert tables_naming(app, due.account_id) == KEPT


@pytest.mark.slow
@pytest.mark.both
def test_a_large_account_keeps_no_other(
    app: Flask, client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (client, stranger):
        make_webhook(each)
        make_due(app, each.account_id)
    # Only these two, the large one first.
    monkeypatch.setattr(jobs, "due_accounts", lambda: [client.account_id, stranger.account_id])
    monkeypatch.setattr(runs, "RUN_SECONDS", 600.0)
    real = jobs.delete_account

    def delete(account_id: str) -> Iterator[None]:
        steps = real(account_id)
        yield next(steps)
        if account_id == client.account_id:
            yield from repeat(None, 100)
            shutdown.requested.set()
            yield
        yield from steps

    monkeypatch.setattr(jobs, "delete_account", delete)
    try:
        assert run_job(app) == 1
    finally:
        shutdown.requested.clear()
    assert tables_naming(app, stranger.account_id) == KEPT


@pytest.mark.both
def test_all_access_ends_before_anything_else(
    app: Flask, client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (client, stranger):
        make_due(app, each.account_id)
    monkeypatch.setattr(jobs, "due_accounts", lambda: [client.account_id, stranger.account_id])
    monkeypatch.setattr(runs, "RUN_SECONDS", -1.0)
    assert run_job(app) == 0
    assert [each.get("/v1/projects").status_code for each in (client, stranger)] == [401, 401]


@pytest.mark.slow
@pytest.mark.both
def test_the_deliveries_of_an_event_are_deleted_in_batches(
    app: Flask, client: Client, stranger: Client
) -> None:
    for each in (client, stranger):
        queue(each, 60, make_webhook(each))
    with app.app_context(), transaction():
        kept = rows_of_account(app, stranger.account_id)["deliveries"]
        left = []
        for _ in delete_account(client.account_id):
            db.session.commit()
            left.append(rows_of_account(app, client.account_id).get("deliveries", 0))
    assert max(before - after for before, after in pairwise(left)) <= 50
    assert left[-1] == 0
    assert rows_of_account(app, stranger.account_id)["deliveries"] == kept


def test_a_worker_that_is_killed_after_the_last_commit_leaves_nothing(
    app: Flask, due: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget = forgetting._forget_account

    def forget_while_it_lives(valkey: Any, id_: str) -> None:
        if rows_of_account(app, id_):
            forget(valkey, id_)

    monkeypatch.setattr(forgetting, "_forget_account", forget_while_it_lives)
    run_job(app)
    assert tables_naming(app, due.account_id) == KEPT
    assert keys_naming(app, due.account_id) == []


def test_people_stay(app: Flask, due: Client) -> None:
    browser = signed_in_browser(due, due.owner_id)
    run_job(app)
    page = browser.get("/accounts")
    assert page.status == 200
    assert "You do not belong to an account" in page.text
    assert browser.get(PAGE, follow=False).status == 303


@pytest.mark.parametrize(
    "error",
    [OperationalError("DELETE", {}, Exception("canceled by the server")), ValueError("corrupt")],
)
def test_one_that_cannot_be_deleted_keeps_no_other(
    app: Flask, due: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    make_due(app, stranger.account_id)
    real = jobs.delete_account

    def failing(account_id: str) -> Iterator[None]:
        if account_id == due.account_id:
            raise error
        return real(account_id)

    monkeypatch.setattr(jobs, "delete_account", failing)
    run_job(app)
    assert tables_naming(app, stranger.account_id) == KEPT
    assert "accounts" in tables_naming(app, due.account_id)
    assert not mails_about(app, due)  # none is told of what has not begun


def mails_about(app: Flask, client: Client) -> list[str]:
    with app.app_context():
        owner = db.session.get_one(User, client.owner_id).email
    told = [text_of(mail) for mail in mails_to(app, owner)]
    return [text for text in told if "is being deleted now" in text]


def test_what_is_open_is_not_saved_in_another_account(app: Flask, due: Client) -> None:
    browser = signed_in_browser(due, due.owner_id)
    browser.get("/projects/new")
    run_job(app)
    page = browser.submit("/projects/new", name="Of the deleted one")
    assert page.path == "/accounts"


def test_an_export_meanwhile_is_no_archive(app: Flask, due: Client) -> None:
    account = ExportedAccount(due.account_id, "green-woods", "http://127.0.0.1")
    pieces = write_archive(account, app, lambda name, _: run_job(app) if name else None).pieces
    with pytest.raises(Conflict, match="can no longer be exported"):
        deque(pieces, maxlen=0)


@pytest.mark.slow
def test_a_restore_puts_deletions_off(app: Flask, tmp_path: Path) -> None:
    environ = {"INSTANCE_PATH": str(tmp_path / "own"), "DATABASE_URL": f"sqlite:///{tmp_path}/a.db"}
    own = create_app(load_settings(environ))
    with own.app_context():
        upgrade()
    client = make_account(own)
    make_due(own, client.account_id)
    file = tmp_path / "a.zip"
    assert runner(own)("backup", str(file)).exit_code == 0
    restored = runner(own)("restore", str(file), "--yes")
    assert f"unless an owner cancels that: {slug_of(client)}." in restored.output
    assert run_job(own) == 0
    deletes_at = account_with(own, slug_of(client)).deletes_at
    assert deletes_at is not None
    assert deletes_at > clock.now() + timedelta(days=6)
    with own.app_context():
        close_all()
