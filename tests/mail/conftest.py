"""Fixtures and helpers for mail tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select

from app.db.extensions import db
from app.db.transactions import transaction
from app.mail import jobs
from app.mail.jobs import send_mails
from app.mail.service import queue_mail
from app.mail.transport import MailFolder
from app.models import Mail
from app.settings.mail import mail_server
from app.values import clock
from tests.jobs.due import run_if_due
from tests.mail.servers import Authority, Inbox, smtp_server
from tests.make import second_app

LINK = "https://canopy.example/verify-email/canopy_lnk_0123456789"
RECIPIENT = "jo@example.org"

AdvanceClock = Callable[[timedelta], None]
Fail = Callable[[Exception | None], None]
Connected = Callable[..., tuple[Flask, Inbox]]


@pytest.fixture
def outbox(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The application with an empty mail queue and without resolvers."""
    monkeypatch.setattr(jobs, "resolve_mail", lambda kind, recipient, values: (kind, values))
    with app.app_context(), transaction():
        db.session.execute(delete(Mail))
    return app


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def connected(outbox: Flask) -> Iterator[Connected]:
    """Creates an application with an SMTP server of its own, and the server's inbox."""
    with ExitStack() as stack:

        def connect(
            options: str = "", credentials: str = "", scheme: str = "smtp", **server: Any
        ) -> tuple[Flask, Inbox]:
            inbox, port = stack.enter_context(smtp_server(**server))
            at = f"{credentials}@" if credentials else ""
            url = f"{scheme}://{at}127.0.0.1:{port}{options}"
            return stack.enter_context(second_app(outbox, mail_url=mail_server(url))), inbox

        yield connect


@pytest.fixture
def advance_clock(monkeypatch: pytest.MonkeyPatch) -> AdvanceClock:
    """Advances the clock with each call."""
    moved = timedelta()
    real = clock.now

    def move(by: timedelta) -> None:
        nonlocal moved
        moved += by
        monkeypatch.setattr(clock, "now", lambda: real() + moved)

    return move


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Makes every mail fail with an error from now on, or none."""
    real = MailFolder.send

    def fail(error: Exception | None) -> None:
        def reject(*_: Any) -> str:
            assert error is not None
            raise error

        monkeypatch.setattr(MailFolder, "send", reject if error else real)

    return fail


def queue(
    app: Flask,
    recipient: str = RECIPIENT,
    kind: str = "verify_email",
    account_id: str = "",
    **values: Any,
) -> None:
    """Queue a mail and commit."""
    values = values or {"name": "Jo", "link": LINK}
    with app.app_context(), transaction():
        cause = f"test:{clock.now()}:{recipient}"
        queue_mail(kind, recipient, cause=cause, values=values, account_id=account_id)


def send(app: Flask) -> int:
    with app.app_context():
        return run_if_due(send_mails)


def rows(app: Flask, recipient: str = RECIPIENT) -> list[Mail]:
    """The rows of the mails to a recipient, oldest first."""
    with app.app_context():
        found = select(Mail).where(Mail.recipient == recipient).order_by(Mail.id)
        rows = list(db.session.scalars(found))
        db.session.expunge_all()
        return rows


def only_row(app: Flask, recipient: str = RECIPIENT) -> Mail:
    (row,) = rows(app, recipient)
    return row


def set_row(app: Flask, recipient: str = RECIPIENT, **values: Any) -> None:
    """Change the row of a mail."""
    with app.app_context(), transaction():
        row = db.session.scalars(select(Mail).where(Mail.recipient == recipient)).one()
        for name, value in values.items():
            setattr(row, name, value)


def eml_files(app: Flask) -> list[Path]:
    """All mails written as files."""
    return sorted((app.config["SETTINGS"].instance_path / "mails").glob("*.eml"))
