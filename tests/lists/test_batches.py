"""Lists that are read whole, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask

from app.auth.tenant import columns_of
from app.lists import batches
from app.lists.batches import Batches, KeyedRows, NestedBatches, Readable
from app.models import Project
from tests.make import Client, make_project, square

pytestmark = pytest.mark.both


def _names(client: Client, **options: Any) -> Batches[str]:
    """The names of projects, oldest first, two at a time."""
    key = (Project.created_at, Project.id)
    rows = KeyedRows(columns_of(Project, Project.name), *key, **{"batch_rows": 2} | options)
    return Batches(rows, lambda row: str(row.name), account_id=client.account_id)


def _all(app: Flask, found: Readable[Any]) -> list[list[Any]]:
    with app.app_context():
        return list(iter(found.read, None))


def test_all_rows_come_once_and_in_order(client: Client, stranger: Client) -> None:
    made = [make_project(client)["name"] for _ in range(5)]
    make_project(stranger)
    assert _all(client.app, _names(client)) == [made[:2], made[2:4], made[4:]]
    assert _all(client.app, _names(stranger, batch_rows=200))[1:] == []


def test_there_may_be_none(client: Client) -> None:
    assert _all(client.app, _names(client)) == []


def test_large_rows_come_alone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [make_project(client, geometry=square())["name"] for _ in range(3)]
    monkeypatch.setattr(batches, "EXPORT_ROWS_BYTES", 1)
    found = _all(client.app, _names(client, size=Project.stored_bytes))
    assert found == [[name] for name in made]


def test_a_batch_whose_reading_failed_is_read_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [make_project(client)["name"] for _ in range(4)]
    found = _names(client)

    @contextmanager
    def failing() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(found, "_make", lambda row: 1 / 0)
            yield

    with client.app.app_context():
        assert found.read() == made[:2]
        with failing(), pytest.raises(ZeroDivisionError):
            found.read()
        assert found.read() == made[2:]
        assert found.read() is None


def test_rows_of_others(client: Client) -> None:
    made = [make_project(client)["name"] for _ in range(3)]

    def begin(names: list[str]) -> Readable[str]:
        return _Given([[name] for name in names if name != made[1]])

    found = NestedBatches(_names(client), begin)
    assert [each for batch in _all(client.app, found) for each in batch] == [made[0], made[2]]


class _Given:
    """Some batches."""

    def __init__(self, given: list[list[str]]) -> None:
        self._given = given

    def read(self) -> list[str] | None:
        return self._given.pop(0) if self._given else None
