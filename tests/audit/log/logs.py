"""Audit logs for tests: written, sealed, exported, verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.audit.entries import write_entry
from app.audit.log import jobs, retention, sealing
from app.audit.log.checkpoints import next_checkpoint
from app.audit.origin import Actor
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.findings import Finding
from app.audit.proof.verification import Verifier, verify_lines
from app.audit.targets import Target
from app.db.extensions import db
from app.db.transactions import transaction
from tests.jobs.due import run_if_due
from tests.make import Client

PATH = "/v1/audit-log"
ANN = Actor("person", "user_01arz3ndektsv4rrffq69g5fav", "ann@example.org")


def write(
    client: Client, action: str = "project.updated", target_id: str = "p1", actor: Actor = ANN
) -> str:
    """An entry in the log of the client's account."""
    with client.app.app_context(), transaction():
        target = Target("project", target_id, "Hood")
        return write_entry(action, target, account_id=client.account_id, actor=actor)


def seal(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seal the entries of the account, however new."""
    seal_log(client.app, client.account_id, monkeypatch)


def seal_log(app: Flask, account_id: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Seal the entries of a log, however new. Returns how many."""
    with monkeypatch.context() as patch, app.app_context():
        patch.setattr(jobs, "accounts_with_unsealed_entries", lambda: [account_id])
        patch.setattr(sealing, "SEALED_AFTER", timedelta(days=-1))
        return run_if_due(jobs.seal_audit_log)


def sealed_log(client: Client, monkeypatch: pytest.MonkeyPatch, batches: int = 3) -> list[str]:
    """Batches of five entries each, and what the account had before in the first of them. Returns
    the ids of those of five, in order."""
    seal(client, monkeypatch)
    made = list[str]()
    for _ in range(batches):
        made += [write(client, target_id=f"p{number}") for number in range(5)]
        seal(client, monkeypatch)
    return made


def prune(client: Client, monkeypatch: pytest.MonkeyPatch, numbers: Iterable[int]) -> None:
    """Delete the batches with these numbers by age: the oldest that are left."""
    settings = replace(client.app.config["SETTINGS"], audit_days=-1)
    with monkeypatch.context() as patch, client.app.app_context():
        patch.setitem(client.app.config, "SETTINGS", settings)
        patch.setattr(retention, "AT_ONCE", 1)
        for number in numbers:
            with transaction():
                assert retention.delete_oldest(client.account_id)
            assert checkpoints(client)[number - 1].entry_hashes is None


def checkpoints(client: Client) -> list[Any]:
    """The rows of the account's checkpoints."""
    rows = "SELECT * FROM audit_checkpoints WHERE account_id = :account ORDER BY number"
    with client.app.app_context():
        return list(db.session.execute(text(rows), {"account": client.account_id}))


def points(client: Client) -> list[Checkpoint]:
    """The account's checkpoints, as they are exported."""
    found, number = list[Checkpoint](), 0
    with client.app.app_context():
        while point := next_checkpoint(client.account_id, number):
            found.append(point)
            number = point.number
    return found


def sql(client: Client, statement: str, **values: Any) -> None:
    """Change something behind the service's back. ``:account`` is the client's account."""
    with client.app.app_context(), transaction():
        if ":account" in statement:
            values["account"] = client.account_id
        changed: Any = db.session.execute(text(statement), values)
        assert changed.rowcount


def exported(client: Client) -> list[bytes]:
    """The lines of the whole log."""
    answer = client.get(f"{PATH}?format=ndjson")
    assert answer.status_code == 200, answer.text
    return answer.data.splitlines()


def findings(lines: Iterable[bytes], **options: Any) -> list[Finding]:
    """The problems of a file."""
    return [each for each in verify_lines(lines, Verifier(**options)) if each.is_problem]


def kinds(lines: Iterable[bytes], **options: Any) -> list[str]:
    """Of which kinds they are."""
    return [each.kind for each in findings(lines, **options)]
