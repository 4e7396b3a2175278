"""Partitions and distribution: what the script says holds on a real PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from app.db.column_types import Base
from docs import partitioning
from tests.postgres import PostgresServer


def partitioned(name: str, column: str) -> str:
    """The statement for a table of ours, partitioned by a column and without references."""
    table = Base.metadata.tables[name]
    created = str(
        CreateTable(table, include_foreign_key_constraints=[]).compile(
            dialect=postgresql.dialect()  # type: ignore[no-untyped-call]
        )
    )
    return f"{created.rstrip()} PARTITION BY RANGE ({column})"


@pytest.mark.parametrize("name", partitioning.BY_MONTH)
def test_what_can_be_partitioned(postgres: PostgresServer, name: str) -> None:
    assert list(partitioning.month_obstacles(name)) == []
    with psycopg.connect(postgres.create_database()) as connection:
        connection.execute(partitioned(name, partitioning.BY_MONTH[name]))


def test_what_cannot(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(partitioning.BY_MONTH, "events", "subject_id")
    assert list(partitioning.month_obstacles("events")) == [
        "the unique key (`id`) lacks `subject_id`",
        "`deliveries` (`event_id`) refers to it without `subject_id`",
    ]
    with (
        psycopg.connect(postgres.create_database()) as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported),
    ):
        connection.execute(partitioned("events", "subject_id"))


@pytest.mark.parametrize(
    ("name", "obstacles"),
    [
        ("account_usage", []),
        ("users", []),
        ("events", ["the unique key (`id`) lacks `account_id`"]),
        ("sessions", ["it refers to `accounts` and has no `account_id`"]),
    ],
)
def test_tables_distributed_by_account(name: str, obstacles: list[str]) -> None:
    assert list(partitioning.account_obstacles(name)) == obstacles
