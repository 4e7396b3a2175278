"""Mails are resolved when they are first sent, and the result is stored."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.mail import jobs
from app.mail.errors import Delayed
from app.models import MailedLink
from app.policy.mails import RETRY_AFTER
from app.values import clock
from tests.mail.conftest import (
    RECIPIENT,
    AdvanceClock,
    Fail,
    eml_files,
    only_row,
    queue,
    send,
    set_row,
)
from tests.make import link_in, mails_to


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """The calls of the resolver, which returns a different link each time."""
    calls: list[tuple[str, str, dict[str, Any]]] = []

    def resolve(kind: str, recipient: str, values: dict[str, Any]) -> Any:
        calls.append((kind, recipient, values))
        if recipient.startswith("stranger"):
            return None
        return "reset_password", {"name": "Jo", "link": f"https://x.example/{len(calls)}"}

    monkeypatch.setattr(jobs, "resolve_mail", resolve)
    return calls


def test_a_mail_is_resolved_at_the_first_attempt_only(
    outbox: Flask,
    advance_clock: AdvanceClock,
    failing: Fail,
    resolved: list[Any],
) -> None:
    queue(outbox, kind="forgot_password", asked_at="now")
    failing(Delayed("not now"))
    send(outbox)
    assert only_row(outbox).kind == "reset_password"
    failing(None)
    advance_clock(RETRY_AFTER[0])
    send(outbox)
    assert resolved == [("forgot_password", RECIPIENT, {"asked_at": "now"})]
    assert link_in(mails_to(outbox, RECIPIENT)[-1]) == "https://x.example/1"


def test_a_dropped_mail_is_not_sent(outbox: Flask, resolved: list[Any]) -> None:
    queue(outbox, "stranger@example.org", kind="forgot_password", a=1)
    assert send(outbox) == 0
    row = only_row(outbox, "stranger@example.org")
    assert (row.sealed, row.due_at, row.sent_at, row.error) == (None, None, None, None)
    assert mails_to(outbox, "stranger@example.org") == []
    assert len(resolved) == 1


def test_a_resolver_writes_in_the_transaction_of_its_result(
    outbox: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_and_fail(kind: str, recipient: str, values: dict[str, Any]) -> Any:
        moment = clock.now()
        row = MailedLink(
            token_hash="0" * 64,
            purpose="verify_email",
            user_id="nobody",
            created_at=moment,
            expires_at=moment,
        )
        db.session.add(row)
        raise RuntimeError("a fault")

    monkeypatch.setattr(jobs, "resolve_mail", write_and_fail)
    queue(outbox)
    send(outbox)
    with outbox.app_context():
        assert db.session.get(MailedLink, "0" * 64) is None
    assert only_row(outbox).due_at is not None


def test_only_the_holder_of_the_lease_stores_the_result(
    outbox: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(kind: str, recipient: str, values: dict[str, Any]) -> Any:
        db.session.rollback()
        set_row(outbox, attempts=2)  # another one took it, long after
        return kind, values

    monkeypatch.setattr(jobs, "resolve_mail", too_late)
    queue(outbox)
    before = eml_files(outbox)
    assert send(outbox) == 0
    assert eml_files(outbox) == before
