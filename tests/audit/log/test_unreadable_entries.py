"""Entries that somebody made unreadable with SQL: skipped in lists, pages and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest

from app.audit.log.actors import list_actors
from app.audit.log.bodies import read_body
from app.db.extensions import db
from app.models import AuditEntry
from tests.audit.log.logs import ANN, PATH, exported, kinds, sealed_log, sql
from tests.make import Client
from tests.pages.support import browser_of

OWN = "WHERE account_id = :account AND"
NONE = ("x", "{}", "[" * 5_000, "9" * 5_000)


@pytest.fixture
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    yield sealed_log(client, monkeypatch)
    sql(client, "DELETE FROM audit_entries WHERE account_id = :account")  # others read them


def body_of(client: Client, entry_id: str) -> str:
    with client.app.app_context():
        return db.session.get_one(AuditEntry, entry_id).body


def check_skipped(client: Client, made: list[str]) -> None:
    """The seventh entry is skipped wherever entries are read, and no other."""
    for query in ("", "&target_id=p1"):
        listed = client.get(f"{PATH}?per_page=100{query}").json
        found = [entry["id"] for entry in listed["data"]]
        assert {made[1], made[11]} <= set(found)
        assert made[6] not in found
        assert len(found) == listed["meta"]["total"] - 1
        answer = client.get(f"{PATH}?format=csv{query}")
        rows = csv.DictReader(io.StringIO(answer.data.decode(), newline=""))
        ids = {row["id"] for row in rows}
        assert {made[1], made[11]} <= ids
        assert made[6] not in ids
        shown = browser_of(client).get(f"/audit-log?{query}")
        assert shown.status == 200
        assert made[1] in shown.text
        assert made[6] not in shown.text
    assert client.get(f"{PATH}/{made[6]}").status_code == 404
    assert kinds(exported(client)) == ["entry_changed"]


@pytest.mark.both
def test_one_is_skipped_and_named_by_verification(client: Client, made: list[str]) -> None:
    text = body_of(client, made[6])
    at = json.loads(text)["at"]
    on_two_lines = text.replace(",", ",\n", 1)
    for body in (*NONE, on_two_lines, text.replace(at, "2026-13-01T00:00:00.000Z")):
        sql(client, f"UPDATE audit_entries SET body = :body {OWN} id = :id", body=body, id=made[6])
        check_skipped(client, made)


def test_one_that_is_not_text_is_skipped(client: Client, made: list[str]) -> None:
    for value in ["CAST(x'ff' AS TEXT)", "x'00'", "7"]:
        if not client.app.config["SETTINGS"].uses_sqlite:
            pytest.skip("PostgreSQL checks types")
        sql(client, f"UPDATE audit_entries SET body = {value} {OWN} id = :id", id=made[6])
        check_skipped(client, made)


def test_an_actor_whose_newest_entry_is_unreadable(client: Client, made: list[str]) -> None:
    sql(client, f"UPDATE audit_entries SET body = 'x' {OWN} actor_id = :id", id=ANN.id)
    with client.app.app_context():
        (actor,) = (each for each in list_actors(client.account_id, 10) if each.id == ANN.id)
    assert (actor.type, actor.label) == ("", ANN.id)
    assert browser_of(client).get("/audit-log?target_id=p1").status == 200


def test_what_the_service_writes_is_readable(client: Client, made: list[str]) -> None:
    bodies = [body_of(client, each) for each in made]
    assert all(read_body(body.encode()) == json.loads(body) for body in bodies)
