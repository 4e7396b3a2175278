"""How an export reads: in short queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.db import queries
from app.exports.service import Export, write_export
from app.lists import scanning
from tests.make import Client, make_project


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "EXPORT_KEYS", 5)
    monkeypatch.setattr(scanning, "EXPORT_ROWS", 2)
    monkeypatch.setattr("app.formats.writers.source.BLOCK", 1)


def _connections(app: Flask) -> int:
    """Those that are in use."""
    with app.app_context():
        pool: Any = queries.reading_engine().pool
        return int(pool.checkedout())


def _pieces(client: Client, format_name: str = "geojsonl") -> Iterator[bytes]:
    export = Export("projects", format_name, client.account_id)
    return write_export(export, client.app).pieces


@pytest.mark.both
def test_no_connection_is_held_between_two_pieces(client: Client) -> None:
    for _ in range(6):
        make_project(client)
    for _ in _pieces(client):
        assert _connections(client.app) == 0


@pytest.mark.both
def test_what_is_written_meanwhile_neither_repeats_nor_hides_anything(client: Client) -> None:
    made = [make_project(client, name=f"Old {number}")["id"] for number in range(12)]
    lines = []
    for number, line in enumerate(_pieces(client)):
        lines.append(line)
        if number % 3 == 0:
            make_project(client, name=f"New {number}", metadata={f"new {number}": 1})
            client.put(f"/v1/projects/{made[-1]}", json={"description": f"changed {number}"})
    found = [line.split(b'"')[7].decode() for line in lines]
    assert [each for each in found if each in made] == made
    assert len(set(found)) == len(found)


def test_a_key_that_is_new_meanwhile_is_in_the_last_column(client: Client) -> None:
    made = [make_project(client, metadata={"a": 1})["id"] for _ in range(8)]
    pieces = _pieces(client, "csv")
    text = next(pieces)
    client.put(f"/v1/projects/{made[-1]}", json={"metadata": {"a": 1, "later": 2}})
    text += b"".join(pieces)
    assert b"later" in text
    assert text.count(b"later") == 1
