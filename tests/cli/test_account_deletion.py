"""``bin/canopy account delete``: nothing of the account is left, and everything of others."""

from __future__ import annotations

import json

import pytest
from flask import Flask
from sqlalchemy import func, inspect, select, text

from app.account.deletion import delete_contents, end_access
from app.db.column_types import metadata
from app.db.extensions import db
from tests.cli.conftest import Run
from tests.make import (
    Client,
    deliveries,
    grant_tokens,
    make_account,
    make_application,
    make_asset,
    make_invited,
    make_log,
    make_member,
    make_project,
    make_webhook,
    point,
    sign_in,
    sign_up,
    square,
)
from tests.make.audit import audit_entries


def fill(client: Client) -> None:
    """Give an account one of everything."""
    project = make_project(client, name=f"Old growth {client.account_id}", geometry=square())
    make_asset(client, project["id"], name="Hut", location=point())
    webhook = make_webhook(client)
    event_id = make_delivery(client, webhook["id"])
    make_log(client, webhook["id"], event_id)
    make_invited(client)
    member = make_member(client, "viewer")
    application = make_application(client)
    grant_tokens(client.app, application, member.id, client.account_id)
    client.post(
        "/v1/projects", {"name": "Kept answer"}, headers={"Idempotency-Key": client.account_id}
    )


def make_delivery(client: Client, webhook_id: str) -> str:
    make_project(client, name=f"Delivered {webhook_id}")
    return str(deliveries(client, webhook_id)[-1]["event_id"])


def rows_of_account(app: Flask, account_id: str) -> dict[str, int]:
    """How many rows each table has that name the account."""
    found = {}
    with app.app_context():
        for table in metadata.sorted_tables:
            column = table.c.get("account_id", table.c.get("current_account_id"))
            if table.name == "accounts":
                column = table.c.id
            if column is not None:
                number = select(func.count()).select_from(table).where(column == account_id)
                with db.engine.connect() as connection:
                    if rows := connection.execute(number).scalar_one():
                        found[table.name] = rows
    return found


def index_rows(app: Flask, table: str) -> tuple[int, ...]:
    """The rows of a table, and on SQLite those of its search and box indexes."""
    with app.app_context(), db.engine.connect() as connection:
        names = [table]
        if "sqlite" in str(connection.engine.url):
            names += [f"{table}_text_docsize", f"{table}_box_rowid"]
        assert set(names) <= set(inspect(connection).get_table_names())
        return tuple(
            connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in names
        )


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
        "members": 3,
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
    email = f"deleted-{id(run)}@example.org"
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
        f"({slug}) with 3 projects, 1 asset, 3 members, 2 API keys, 1 application and 1 webhook "
        "for good?" in asked.stderr
    )
    assert client.get("/v1/account").status_code == 200
    unattended = run("account", "delete", slug, "--json")
    assert unattended.exit_code == 1
    assert "--yes" in unattended.stderr
    assert run("account", "delete", slug, input="y\n").exit_code == 0
    assert client.get("/v1/account").status_code == 401


def test_many_rows_go_in_several_batches(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.account.deletion._BATCH_ROWS", 2)
    for number in range(5):
        make_project(client, name=f"Stand {number}")
    entries = len(audit_entries(client))
    with app.app_context():
        end_access(client.account_id)
        db.session.commit()
        assert client.get("/v1/projects").status_code == 401
        sizes = []
        for rows in delete_contents(client.account_id):
            db.session.commit()
            sizes.append(rows)
    assert max(sizes) == 2
    assert sum(sizes) == 10 + entries  # the projects and their events, and the audit log


def test_what_was_interrupted_is_continued(app: Flask, run: Run) -> None:
    client = make_account(app)
    make_project(client)
    with app.app_context():
        end_access(client.account_id)
        db.session.commit()
    result = run("account", "delete", client.account_id, "--yes")
    assert result.exit_code == 0, result.output
    assert rows_of_account(app, client.account_id) == {}
