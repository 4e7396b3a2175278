"""Queueing mails: in the transaction of the change, and once for each cause."""

from __future__ import annotations

import pytest
from flask import Flask
from redis import Redis

from app.db.extensions import db
from app.db.transactions import transaction
from app.jobs.queue import MAILS, job_queue
from app.jobs.valkey import valkey
from app.mail.jobs import send_mails
from app.mail.service import NEW_MAILS, queue_mail
from app.values.ids import new_id
from tests.mail.conftest import LINK, RECIPIENT, only_row, queue, rows, send

VALUES = {"name": "Jo", "link": LINK}


def _woken(app: Flask) -> list[str]:
    """Empty the queue and return its jobs."""
    with app.app_context():
        client = valkey().client
        assert isinstance(client, Redis)
        queue = job_queue(client, MAILS)
        found = [job.func_name for job in queue.jobs]
        queue.empty()
        NEW_MAILS.begin(client)
        return found


@pytest.mark.both
def test_a_rollback_queues_nothing(outbox: Flask) -> None:
    _woken(outbox)
    with outbox.app_context(), transaction():
        queue_mail("verify_email", RECIPIENT, cause="rolled back", values=VALUES)
        db.session.rollback()
    assert rows(outbox) == []
    assert _woken(outbox) == []


def test_a_commit_wakes_the_job_once(outbox: Flask) -> None:
    _woken(outbox)
    with outbox.app_context(), transaction():
        for number in range(3):
            queue_mail("verify_email", RECIPIENT, cause=f"woken {number}", values=VALUES)
        assert _woken(outbox) == []
    assert _woken(outbox) == ["send-mails"]


def test_a_commit_while_the_job_ends_wakes_another(
    outbox: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The running one may have looked for mails for the last time already."""
    _woken(outbox)

    def commit() -> None:
        queue_mail("verify_email", RECIPIENT, cause=new_id("mail"), values=VALUES)
        db.session.commit()

    monkeypatch.setattr("app.mail.jobs._lease_mail", commit)
    with outbox.app_context():
        commit()
        job_queue(valkey().client, MAILS).empty()  # a worker has taken the job
        assert send_mails() == 0
    assert _woken(outbox) == ["send-mails"]


@pytest.mark.both
def test_each_cause_queues_one_mail(outbox: Flask) -> None:
    for name in ("First", "Second"):
        with outbox.app_context(), transaction():
            queue_mail("verify_email", RECIPIENT, cause="one", values={"name": name, "link": LINK})
    assert len(rows(outbox)) == 1
    assert send(outbox) == 1
    with outbox.app_context(), transaction():
        queue_mail("verify_email", RECIPIENT, cause="one", values=VALUES)
    assert send(outbox) == 0


def test_the_row_does_not_reveal_the_contents(outbox: Flask) -> None:
    queue(outbox, name="Jo Forester", link=LINK)
    row = only_row(outbox)
    assert row.sealed
    for secret in (LINK, "Jo Forester"):
        assert secret not in str(vars(row))
