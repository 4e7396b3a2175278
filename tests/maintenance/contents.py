"""Filling an instance, and looking at the whole of it."""

from __future__ import annotations

from typing import Any

from flask import Flask
from sqlalchemy import URL, func, select, update

from app.db.extensions import db
from app.db.snapshots import database_url, open_snapshot
from app.db.transactions import transaction
from app.maintenance.dump import checksum_of
from app.maintenance.table_codec import table_codecs
from app.models import AccountUsage, IdempotentResponse, Project, RequestCount
from app.projects.derived import search_columns
from app.values import clock
from app.values.ids import new_id
from tests.make import (
    Client,
    make_account,
    make_asset,
    make_former_boundary,
    make_project,
    multi_square,
    point,
    square,
)

ODD = "Żółw  \U0001f332 \u202eRTL 'q' \"qq\" \\ \t\n\u0001\u2028%_"


def url_of(app: Flask) -> URL:
    """The address of the application's database."""
    return database_url(app.config["SETTINGS"])


def checksums(app: Flask) -> dict[str, tuple[int, str]]:
    """Rows and checksum of each table."""
    with open_snapshot(url_of(app)) as connection:
        tallies = {codec.name: checksum_of(connection, codec) for codec in table_codecs()}
    return {name: (checksum.rows, checksum.sha256) for name, checksum in tallies.items()}


def fill(app: Flask) -> Client:
    """An account with one of everything that is hard to carry over."""
    client = make_account(app)
    odd = make_project(client, geometry=square())
    make_project(
        client,
        name="In parts",
        description="line\nbreak and ʼn",
        geometry=multi_square((-0.0, -0.0), (179.9, 51.123456789012345), (1e-7, 5)),
    )
    project = make_project(client, name="Nothing", description=None)
    make_former_boundary(client, project["id"])
    make_asset(
        client,
        project["id"],
        name="Sensor é",
        location=point(-0.0, 1.0000000000000002),
        metadata={"z": [1e300, -0.0, None, {"ü": 2**53 - 1}], "a": "\ud83c\udf32"},
    )
    make_asset(client, project["id"], metadata={})
    client.post("/v1/projects", json={"name": "Once"}, headers={"Idempotency-Key": "B a~"})
    client.post("/v1/projects", json={"name": "Twice"}, headers={"Idempotency-Key": "a-b"})
    with app.app_context(), transaction():
        is_odd = Project.account_id == client.account_id, Project.id == odd["id"]
        values = {"name": ODD, **search_columns(ODD, None, None)}  # as before names were checked
        db.session.execute(update(Project).where(*is_odd).values(values))
        db.session.add(
            IdempotentResponse(
                account_id=client.account_id,
                key="bytes",
                fingerprint="0" * 64,
                status=200,
                headers={"b": "2", "a": "1"},
                body=bytes(range(256)),
                created_at=clock.now(),
            )
        )
        db.session.add(RequestCount(account_id=client.account_id, day="2026-01-31", requests=2**40))
    return client


def add_projects(app: Flask, client: Client, number: int, **values: Any) -> None:
    """Many projects at once, straight into the table and its account's counters."""
    moment = clock.now()
    rows = [
        {
            "id": new_id("project"),
            "account_id": client.account_id,
            "name": f"Bulk {n}",
            "slug": f"bulk-{n}-{new_id('log')[-8:]}",
            "status": "active",
            "name_key": f"bulk {n}",
            "search_text": f"bulk {n}\n",
            "created_at": moment,
            "updated_at": moment,
            **values,
        }
        for n in range(number)
    ]
    with app.app_context(), transaction():
        db.session.execute(Project.__table__.insert(), rows)
        usage = db.session.get_one(AccountUsage, client.account_id)
        usage.projects_active += number
        usage.lists_version += 1


def count(app: Flask, table: Any) -> int:
    """How many rows a table has."""
    with app.app_context():
        number = db.session.execute(select(func.count()).select_from(table)).scalar_one()
        return int(number)
