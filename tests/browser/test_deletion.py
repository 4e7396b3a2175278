"""Leaving, as people do it: an account is deleted, kept and gone, and so is its owner."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from app.account.deletion.jobs import delete_accounts
from app.db.extensions import db
from app.factory import create_app
from app.models import Account
from config import load_settings
from tests.account.deletion.support import make_due
from tests.browser.conftest import Instance, Visitor, new_address, sign_up
from tests.make.browser import PASSWORD


def schedule(visitor: Visitor, slug: str) -> None:
    visitor.go("/settings")
    visitor.page.get_by_role("link", name="Delete the account").click()
    visitor.page.get_by_label("Type").fill(slug)
    visitor.page.get_by_role("button", name="Delete the account").click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text(
        "This account will be deleted"
    )


def let_the_time_come(instance: Instance, slug: str) -> None:
    """Delete what is due, as the worker does every minute."""
    app = create_app(load_settings(instance.environment))
    with app.app_context():
        account_id = db.session.scalars(select(Account.id).where(Account.slug == slug)).one()
    make_due(app, account_id)
    with app.app_context():
        delete_accounts()


@pytest.mark.slow
def test_an_account_and_its_owner_leave(visitor: Visitor, instance: Instance) -> None:
    email, page = new_address(instance), visitor.page
    sign_up(visitor, email, account=f"Leaving Grove {id(instance)}")
    slug = visitor.go("/accounts").locator("main li code").first.inner_text()
    schedule(visitor, slug)
    visitor.go("/projects")
    banner = page.get_by_role("region", name="Deletion of the account")
    expect(banner).to_contain_text("will be deleted on")
    banner.get_by_role("link", name="Keep it").click()
    page.get_by_role("button", name="Keep the account").click()
    expect(page.get_by_role("status")).to_have_text("The account will not be deleted.")
    assert visitor.path == "/settings"
    expect(banner).to_have_count(0)
    schedule(visitor, slug)
    let_the_time_come(instance, slug)
    visitor.go("/accounts")
    expect(page.locator("main")).to_contain_text("You do not belong to an account")
    assert "is being deleted now" in str(instance.mail_to(email, 5))
    visitor.go("/profile")
    page.get_by_role("link", name="Delete your profile").click()
    page.get_by_label("Type").fill(email)
    page.get_by_role("button", name="Delete my profile now").click()
    expect(page.get_by_role("status")).to_have_text("Your profile has been deleted. Goodbye.")
    visitor.fill(email=email, password=PASSWORD)
    visitor.press("Sign in")
    expect(page.locator("main")).to_contain_text("Wrong email address or password.")
