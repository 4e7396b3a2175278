"""The audit log as a file: what is in it, and that its size does not matter."""

from __future__ import annotations

import csv
import io
import json

import pytest
from flask import Flask

from app.audit.entries import write_entry
from app.audit.log.files import HEADINGS, proof_lines
from app.audit.origin import Via
from app.audit.targets import Target
from app.db.extensions import db
from app.db.transactions import transaction
from app.formats.formulas import unguard_formulas
from app.models import AuditEntry
from app.values.strict_json import canonical_json
from tests.audit.log.logs import (
    ANN,
    PATH,
    checkpoints,
    exported,
    findings,
    kinds,
    prune,
    seal,
    sealed_log,
    write,
)
from tests.make import Client, make_account, make_entry


def rows(client: Client, query: str = "") -> list[dict[str, str]]:
    answer = client.get(f"{PATH}?format=csv{query}")
    assert answer.mimetype == "text/csv"
    return list(csv.DictReader(io.StringIO(answer.data.decode(), newline="")))


def test_each_line_is_an_entry_byte_for_byte(client: Client) -> None:
    made = write(client)
    (line,) = (line for line in exported(client) if made.encode() in line)
    with client.app.app_context():
        row = db.session.get_one(AuditEntry, made)
        assert row.body.encode() == line == canonical_json(json.loads(line))


def test_asking_for_a_file_is_entered_with_its_filters(client: Client) -> None:
    client.get(f"{PATH}?format=csv&action=project.updated&since=2026-01-01T00:00:00Z")
    entry = client.get(PATH).json["data"][0]
    assert entry["action"] == "audit_log.exported"
    assert entry["target"]["id"] == client.account_id
    assert {name: change["to"] for name, change in entry["changes"].items()} == {
        "format": "csv",
        "action": "project.updated",
        "since": "2026-01-01T00:00:00.000Z",
    }


def test_filters_leave_what_they_name_in_files_too(client: Client) -> None:
    made = [write(client, target_id=f"p{number % 2}") for number in range(6)]
    wanted = client.get(f"{PATH}?format=ndjson&target_id=p0").data.splitlines()
    assert [json.loads(line)["id"] for line in wanted[1:]] == made[::2]
    assert [row["id"] for row in rows(client, "&target_id=p0")] == made[::2]


def test_no_cell_is_a_formula(client: Client) -> None:
    with client.app.app_context(), transaction():
        target = Target("project", "p1", "=HYPERLINK(1);=2")
        changes = {"name": {"from": None, "to": "x"}, "description": {"from": "y;=3", "to": None}}
        account = client.account_id
        write_entry("project.updated", target, account_id=account, actor=ANN, changes=changes)
    (row,) = rows(client, "&target_id=p1")
    assert tuple(row) == HEADINGS
    assert row["target_label"] == "'=HYPERLINK(1);'=2"
    assert row["actor_label"] == ANN.label
    assert "y;'=3" in row["changes"]
    assert json.loads(unguard_formulas(row["changes"])) == changes


def test_no_file_has_entries_of_another_account(app: Flask, client: Client) -> None:
    write(client, target_id="p9")
    stranger = make_account(app)
    assert not any(b'"p9"' in line for line in exported(stranger))


def test_what_is_sealed_while_a_file_is_written_is_in_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch, batches=1)
    made = [write(client) for _ in range(3)]
    lines = list[bytes]()
    for line in proof_lines(client.app, client.account_id):
        if line.startswith(b'{"not_sealed"'):
            seal(client, monkeypatch)
        lines.append(line)
    assert kinds(lines) == []
    assert all(any(entry_id.encode() in line for line in lines) for entry_id in made)


def test_what_is_deleted_while_a_file_is_written_asks_for_another_file(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch)
    lines = proof_lines(client.app, client.account_id)
    begun = [next(lines) for _ in range(2 + checkpoints(client)[0].last)]
    prune(client, monkeypatch, [1, 2])
    seal(client, monkeypatch)
    (found,) = findings([*begun, *lines])
    assert (found.kind, found.checkpoint) == ("deletion_unrecorded", 2)
    assert "export again" in found.detail
    assert findings(exported(client)) == []


def test_no_text_of_a_spreadsheet_controls_a_terminal(client: Client) -> None:
    hostile = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
    make_entry(
        client,
        target=Target("project", None, hostile),
        actor=ANN._replace(label=f"{hostile}ä"),
        via=Via(user_agent=hostile),
        changes={"name": {"from": None, "to": hostile}},
    )
    text = client.get(f"{PATH}?format=csv").data.decode()
    assert not set(hostile) & set(text.replace("\r\n", ""))
    labels = [row["actor_label"] for row in rows(client, f"&actor_id={ANN.id}")]
    assert labels == ["".join(f"\\u{ord(each):04x}" for each in hostile) + "ä"]
