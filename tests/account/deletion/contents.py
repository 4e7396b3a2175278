"""An account with one of everything, and what is left of it."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import func, inspect, select, text

from app.db.column_types import metadata
from app.db.extensions import db
from tests.make import (
    Client,
    deliveries,
    grant_tokens,
    make_application,
    make_asset,
    make_invited,
    make_log,
    make_member,
    make_project,
    make_webhook,
    point,
    square,
)


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
