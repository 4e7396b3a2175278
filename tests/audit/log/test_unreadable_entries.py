"""An entry that somebody has changed with SQL into none: the rest of the log can still be read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest

from app.audit.log.actors import list_actors
from app.audit.log.bodies import CHANGED, looks_whole, read_body
from app.db.extensions import db
from app.models import AuditEntry
from tests.audit.log.logs import ANN, PATH, exported, findings, sealed_log, sql, write
from tests.audit.log.test_changed_rows import BAD, OWN, forget, is_sqlite
from tests.audit.log.test_documented_verifier import Verify, key_of
from tests.audit.log.test_documented_verifier import verify as verify
from tests.make import Client
from tests.pages.support import browser_of

NONE = ("x", "{}", "null", "[]", '{"account_id":"x"}', "[" * 5_000, "9" * 5_000)


@pytest.fixture
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    yield sealed_log(client, monkeypatch)
    forget(client)


def body_of(client: Client, entry_id: str) -> str:
    with client.app.app_context():
        return db.session.get_one(AuditEntry, entry_id).body


def change(client: Client, made: list[str], body: str) -> None:
    sql(client, f"UPDATE audit_entries SET body = :body {OWN} id = :id", body=body, id=made[6])


def test_pages_show_the_other_entries(client: Client, made: list[str]) -> None:
    text, browser = body_of(client, made[6]), browser_of(client)
    time = json.loads(text)["at"]
    almost = (
        f"{text}\n{text}",
        text.replace('"p1"', r'"p\u00001"'),
        text.replace(time, "2026-13-01T00:00:00.000Z"),
    )
    for body in (*NONE, *almost):
        change(client, made, body)
        shown = browser.get("/audit-log?target_id=p1")
        assert shown.status == 200
        assert made[1] in shown.text
        assert f"{CHANGED.partition('.')[0]}. Verify the log . {made[6]}" in shown.text
        assert client.get(f"{PATH}/{made[6]}").status_code == 404
    assert '<a href="#proof">Verify the log</a>' in shown.response.get_data(as_text=True)


@pytest.mark.both
def test_a_page_with_no_other_entry(client: Client, made: list[str]) -> None:
    sql(client, f"UPDATE audit_entries SET body = 'x' {OWN} target_id = 'p1'")
    assert browser_of(client).get("/audit-log?target_id=p1").status == 200


@pytest.mark.parametrize("query", ["", "&target_id=p1"])
def test_the_api_leaves_it_out(client: Client, made: list[str], query: str) -> None:
    text = body_of(client, made[6])
    for body in (*NONE, f"{text}\n{text}"):
        change(client, made, body)
        listed = client.get(f"{PATH}?per_page=100{query}").json
        found = [entry["id"] for entry in listed["data"]]
        assert made[6] not in found
        assert {made[1], made[11]} <= set(found)
        assert len(found) == listed["meta"]["total"] - 1


@pytest.mark.parametrize("query", ["", "&target_id=p1"])
def test_files_have_the_other_entries(client: Client, made: list[str], query: str) -> None:
    for body in NONE:
        change(client, made, body)
        answer = client.get(f"{PATH}?format=csv{query}")
        rows = list(csv.DictReader(io.StringIO(answer.data.decode(), newline="")))
        (changed,) = (row for row in rows if row["id"] == made[6])
        assert {value for value in changed.values() if value} == {made[6], CHANGED}
        assert {made[1], made[11]} <= {row["id"] for row in rows}
        assert client.get(f"{PATH}?format=ndjson{query}").status_code == 200


@pytest.mark.both
@pytest.mark.parametrize("number", [10**12, 2**63 - 1, -5])
def test_each_entry_is_on_one_page_when_a_number_was_changed(
    client: Client, made: list[str], number: int
) -> None:
    expected = client.get(f"{PATH}?per_page=100").json
    sql(client, f"UPDATE audit_entries SET number = {number} {OWN} id = :id", id=made[6])
    found = list[str]()
    for page in range(1, 10):
        answer = client.get(f"{PATH}?per_page=3&page={page}").json
        assert answer["meta"]["total"] == expected["meta"]["total"]
        found += [entry["id"] for entry in answer["data"]]
    assert sorted(found) == sorted(entry["id"] for entry in expected["data"])


FORGED = (
    *('{"checkpoint":{}}', '{"end":{"checkpoints":4,"entries":18}}', '{"not_sealed":{"after":17}}'),
    *('{"audit_log":{}}', "x", '{"a":1}\n{"checkpoint":{}}'),
)


@pytest.mark.both
def test_no_body_is_taken_for_another_line_of_a_file(
    client: Client, made: list[str], verify: Verify
) -> None:
    for body in FORGED:
        change(client, made, body)
        lines = exported(client)
        (found,) = findings(lines)
        assert (found.kind, found.entry_id) == ("entry_changed", made[6])
        with pytest.raises(AssertionError, match=f"{made[6]} was changed"):
            verify(lines, key_of(client))


def test_no_body_that_is_not_sealed_is_taken_for_another_line(
    client: Client, made: list[str]
) -> None:
    waits = write(client)
    for body in FORGED:
        sql(client, f"UPDATE audit_entries SET body = :body {OWN} id = :id", body=body, id=waits)
        (found,) = findings(exported(client))
        assert (found.kind, found.entry_id) == ("entry_unreadable", waits)


@pytest.mark.both
def test_whose_newest_entry_cannot_be_read(client: Client, made: list[str]) -> None:
    sql(client, f"UPDATE audit_entries SET body = 'x' {OWN} actor_id = :id", id=ANN.id)
    with client.app.app_context():
        (actor,) = (each for each in list_actors(client.account_id, 10) if each.id == ANN.id)
    assert (actor.type, actor.label) == ("", ANN.id)
    assert ANN.id in browser_of(client).get("/audit-log").response.get_data(as_text=True)


@pytest.mark.parametrize("value", [BAD, "x'00'"])
@pytest.mark.parametrize("column", ["body", "actor_id", "id"])
def test_what_is_no_text(client: Client, made: list[str], column: str, value: str) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL checks types")
    sql(client, f"UPDATE audit_entries SET {column} = {value} {OWN} id = :id", id=made[6])
    for query in ("format=csv", "format=ndjson&target_id=p1", "", "per_page=100&target_id=p1"):
        assert made[11].encode() in client.get(f"{PATH}?{query}").data
    assert client.get(f"{PATH}/{made[6]}").status_code == (200 if column == "actor_id" else 404)
    for query in ("", "?target_id=p1"):
        assert made[11] in browser_of(client).get(f"/audit-log{query}").text


def test_what_the_service_writes_can_be_read(client: Client, made: list[str]) -> None:
    bodies = [body_of(client, each) for each in made]
    assert all(looks_whole(body) and read_body(body) == json.loads(body) for body in bodies)
