"""What pages say while the instance sends nothing out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.db.transactions import transaction
from app.mail.service import queue_mail
from tests.make import Browser, Client, make_log, make_project, new_email, second_app
from tests.make.webhooks import set_deliveries
from tests.pages.operator.support import operator_browser
from tests.pages.support import browser_of

HELD = "Held: this instance sends nothing out."


@pytest.fixture(scope="module")
def off(app: Flask) -> Iterator[Flask]:
    with second_app(app, outbound="off") as other:
        yield other


@pytest.fixture
def there(client: Client, off: Flask) -> Browser:
    """The owner's browser at the instance that is off."""
    return browser_of(replace(client, app=off))


def test_pages_of_webhooks_say_that_deliveries_are_held(
    client: Client, there: Browser, webhook: dict[str, Any], subtests: pytest.Subtests
) -> None:
    make_project(client)
    log_id = make_log(client, webhook["id"], "evt_01arz3ndektsv4rrffq69g5fav")
    set_deliveries(client, webhook["id"], "pending")
    path = f"/webhooks/{webhook['id']}"
    for page in ("/webhooks", path, f"{path}/health", f"{path}/logs/{log_id}", f"{path}/replay"):
        with subtests.test(page):
            assert HELD in there.get(page).response.text
    assert "Send a test" not in there.get(path).text
    here = browser_of(client).get(path)
    assert HELD not in here.text
    assert "Send a test" in here.text


def test_a_test_and_a_try_at_once_are_refused(there: Browser, webhook: dict[str, Any]) -> None:
    token = there.get("/webhooks").form("/logout").fields
    for action in ("test", "retry"):
        refused = there.send(f"/webhooks/{webhook['id']}/{action}", **token)
        assert (refused.status, "sends nothing out" in refused.text) == (409, True)


def test_pages_that_have_a_mail_sent_say_that_none_is(
    client: Client, off: Flask, there: Browser
) -> None:
    browser = Browser(off)
    browser.get("/forgot-password")
    page = browser.submit(email=new_email())
    assert page.title == "This instance does not send email"
    assert "the email is held" in page.text
    there.get("/members")
    email = new_email()
    page = there.submit("/members/invite", email=email, role="viewer")
    assert f"{email} is invited, but this instance does not send email." in page.text
    assert "Email held" in page.text


def test_operators_see_it(client: Client, off: Flask) -> None:
    browser = operator_browser(replace(client, app=off))
    with off.app_context(), transaction():
        queue_mail("verify_email", new_email(), cause=new_email(), values={})
    assert "verify email" in (mails := browser.get("/operator/mails").text)
    assert ("held" in mails, "waiting" in mails) == (True, False)
    page = browser.get("/operator")
    assert "Nothing is sent out: deliveries and emails are held" in page.text
    assert "remove OUTBOUND=off from the settings" in page.text
    assert "0 due now" in page.text
