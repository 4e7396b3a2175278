"""Without a mail server, mails are written to files."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from flask import Flask

from app.mail import jobs
from app.policy.mails import LEASE
from tests.mail.conftest import LINK, AdvanceClock, eml_files, only_row, queue, send
from tests.make import link_in, second_app


@pytest.fixture
def alone(outbox: Flask, tmp_path: Path) -> Iterator[Flask]:
    """The application with its own instance folder."""
    with second_app(outbox, instance_path=tmp_path) as made:
        yield made


def test_a_file_for_each_mail_that_nobody_else_can_read(alone: Flask) -> None:
    queue(alone)
    assert send(alone) == 1
    (path,) = eml_files(alone)
    row = only_row(alone)
    assert path.name.endswith(f"Z-verify_email-{row.id}.eml")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_file_is_the_complete_mail_in_readable_form(alone: Flask) -> None:
    name = "Jörg Förster mit einem Namen, der länger als eine Zeile ist, und noch ein wenig mehr"
    link = f"{LINK}{'a' * 100}"
    queue(alone, kind="invitation", inviter_name=name, inviter_email="j@x.org", role="editor",
          account_name="Süd", link=link, days=7)  # fmt: skip
    send(alone)
    (path,) = eml_files(alone)
    assert link in path.read_text()
    assert "Jörg Förster" in path.read_text()
    message = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert str(message["Subject"]).startswith("Jörg Förster")
    assert link_in(message) == link


def test_a_second_attempt_replaces_the_file(
    alone: Flask, advance_clock: AdvanceClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(alone)
    monkeypatch.setattr(jobs, "mark_sent", lambda _: None)  # killed before it could
    send(alone)
    monkeypatch.undo()
    assert only_row(alone).sent_at is None
    advance_clock(LEASE)
    assert send(alone) == 1
    assert only_row(alone).attempts == 2
    assert len(eml_files(alone)) == 1


def test_the_log_names_the_file_but_not_its_contents(
    alone: Flask, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level("INFO")
    queue(alone)
    send(alone)
    lines = [record.getMessage() for record in caplog.records if record.name == "app.mail.jobs"]
    (path,) = eml_files(alone)
    assert lines == [f"mail {only_row(alone).id} (verify_email) written to {path}"]


def test_an_unwritable_folder(alone: Flask, tmp_path: Path) -> None:
    (tmp_path / "mails").write_text("a file")
    queue(alone)
    assert send(alone) == 0
    row = only_row(alone)
    assert row.error == "the folder mails cannot be written"
    assert row.due_at is not None
