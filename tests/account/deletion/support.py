"""Accounts whose deletion is scheduled, and the run of the job at that time."""

from __future__ import annotations

from datetime import timedelta

from flask import Flask
from sqlalchemy import select, update

from app.account.deletion.jobs import delete_accounts
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Account
from app.values import clock
from tests.jobs.due import run_if_due
from tests.make import Browser, Client

PAGE = "/settings/deletion"
PERSON_PAGE = "/profile/deletion"


def slug_of(client: Client) -> str:
    return str(client.get("/v1/account").json["data"]["slug"])


def schedule(browser: Browser, slug: str) -> None:
    """Have an owner schedule the deletion of the account that they work in."""
    browser.get(PAGE)
    page = browser.submit(PAGE, confirmation=slug)
    assert "will be deleted" in page.title, page.text


def account_with(app: Flask, slug: str) -> Account:
    """The account with this slug."""
    with app.app_context():
        return db.session.scalars(select(Account).where(Account.slug == slug)).one()


def make_due(app: Flask, account_id: str) -> None:
    """Let the time come."""
    set_deletion(app, account_id, timedelta(seconds=-1))


def set_deletion(app: Flask, account_id: str, after: timedelta) -> None:
    """Have an account deleted so long after now."""
    moment = clock.now() + after
    with app.app_context(), transaction():
        changed = update(Account).where(Account.id == account_id).values(deletes_at=moment)
        db.session.execute(changed)


def run_job(app: Flask) -> int:
    with app.app_context():
        return run_if_due(delete_accounts)
