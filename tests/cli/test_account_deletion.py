"""``bin/canopy account delete``: nothing of the account is left, and everything of others. A
scheduled deletion can be canceled."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from flask import Flask

from app.account.deletion.contents import delete_account
from app.db.transactions import transaction
from app.policy.audit import INSTANCE
from tests.account.deletion.contents import fill, index_rows, rows_of_account
from tests.account.deletion.support import make_due, run_job, set_deletion
from tests.cli.conftest import Run
from tests.make import Client, make_account, make_member, make_project, new_email, sign_in, sign_up
from tests.make.audit import new_entries
from tests.make.mails import mails_to, text_of


@pytest.mark.slow
@pytest.mark.both
def test_everything_of_the_account_goes_and_nothing_else(
    app: Flask, run: Run, client: Client, stranger: Client
) -> None:
    indexes_before = {table: index_rows(app, table) for table in ("projects", "assets")}
    fill(client)
    fill(stranger)
    others_before = rows_of_account(app, stranger.account_id)
    assert len(others_before) > 10
    assert set(rows_of_account(app, client.account_id)) == set(others_before)
    slug = client.get("/v1/account").json["data"]["slug"]

    result = run("account", "delete", slug, "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "id": client.account_id,
        "slug": slug,
        "deleted": True,
        "projects": 3,
        "assets": 1,
        "members": 2,
        "invitations": 1,
        "api_keys": 2,
        "service_tokens": 0,
        "applications": 1,
        "webhooks": 1,
    }
    assert rows_of_account(app, client.account_id) == {}
    assert rows_of_account(app, stranger.account_id) == others_before
    of_stranger = {"projects": (3, 3, 1), "assets": (1, 1, 1)}  # one project has a boundary
    for table, before in indexes_before.items():
        pairs = zip(before, of_stranger[table], strict=False)  # PostgreSQL has one number
        assert index_rows(app, table) == tuple(map(sum, pairs))
    assert client.get("/v1/projects").status_code == 401
    assert stranger.get("/v1/projects").status_code == 200
    assert run("account", "show", client.account_id).exit_code == 1


def test_sessions_go_on_in_another_account_or_in_none(app: Flask, run: Run) -> None:
    email = new_email("deleted")
    browser = sign_up(app, email, account="First Woods")
    assert "First Woods" in browser.get("/accounts").text
    browser.get("/accounts")
    browser.submit("/accounts", account_name="Second Woods", account_slug="")
    accounts = json.loads(run("user", "show", email, "--json").stdout)["accounts"]
    by_name = {account["name"]: account["slug"] for account in accounts}

    assert run("account", "delete", by_name["Second Woods"], "--yes").exit_code == 0
    page = browser.get("/accounts")
    assert page.status == 200
    assert "First Woods" in page.text
    assert "Second Woods" not in page.text
    assert run("account", "delete", by_name["First Woods"], "--yes").exit_code == 0
    assert browser.get("/accounts").status == 200
    sign_in(app, email)
    person = json.loads(run("user", "show", email, "--json").stdout)
    assert person["accounts"] == []
    assert len(person["sessions"]) == 2


def test_it_asks_and_names_what_goes(run: Run, client: Client) -> None:
    fill(client)
    slug = client.get("/v1/account").json["data"]["slug"]
    asked = run("account", "delete", slug, input="n\n")
    assert asked.exit_code == 1
    assert asked.stdout == ""
    assert (
        f"({slug}) with 3 projects, 1 asset, 2 members, 1 invitation, 2 API keys, 1 application "
        "and 1 webhook for good?" in asked.stderr
    )
    assert client.get("/v1/account").status_code == 200
    unattended = run("account", "delete", slug, "--json")
    assert unattended.exit_code == 1
    assert "--yes" in unattended.stderr
    assert run("account", "delete", slug, input="y\n").exit_code == 0
    assert client.get("/v1/account").status_code == 401


def test_what_was_interrupted_is_continued(app: Flask, run: Run) -> None:
    client = make_account(app)
    make_project(client)
    with app.app_context(), transaction():
        next(delete_account(client.account_id))
    assert client.get("/v1/projects").status_code == 401
    result = run("account", "delete", client.account_id, "--yes")
    assert result.exit_code == 0, result.output
    assert rows_of_account(app, client.account_id) == {}


def test_the_job_deletes_what_a_killed_command_has_left(app: Flask, run: Run) -> None:
    """It was scheduled for later: that is no longer what happens."""
    client = make_account(app)
    make_project(client)
    set_deletion(app, client.account_id, timedelta(days=1))
    with app.app_context(), transaction():
        next(delete_account(client.account_id))
    refused = run("account", "cancel-deletion", client.account_id)
    assert (refused.exit_code, "has begun" in refused.stderr) == (1, True)
    with new_entries(client, INSTANCE) as found:
        run_job(app)
    assert rows_of_account(app, client.account_id) == {}
    (entry,) = [each for each in found if each["target"]["id"] == client.account_id]
    assert (entry["action"], entry["actor"]["type"]) == ("account.deleted", "operator")


def test_a_scheduled_deletion_is_canceled(run: Run, client: Client) -> None:
    admin = make_member(client, "admin")
    slug = client.get("/v1/account").json["data"]["slug"]
    set_deletion(client.app, client.account_id, timedelta(days=1))
    assert "will be deleted" in run("account", "show", slug).stdout
    result = run("account", "cancel-deletion", slug, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"id": client.account_id, "slug": slug, "canceled": True}
    assert json.loads(run("account", "show", slug, "--json").stdout)["deletes_at"] is None
    told = text_of(mails_to(client.app, admin.email)[-1])
    assert "The operator of this instance canceled the deletion" in told
    run_job(client.app)
    assert client.get("/v1/account").status_code == 200


def test_a_deletion_that_is_not_scheduled_or_has_begun_is_not_canceled(
    run: Run, client: Client
) -> None:
    result = run("account", "cancel-deletion", client.account_id)
    assert result.exit_code == 1
    assert "not scheduled for deletion" in result.stderr
    make_due(client.app, client.account_id)
    result = run("account", "cancel-deletion", client.account_id)
    assert result.exit_code == 1
    assert "can no longer be canceled" in result.stderr
