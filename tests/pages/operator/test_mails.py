"""The last emails of the instance, for operators."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db.transactions import transaction
from app.mail.service import queue_mail
from app.settings.mail import mail_server
from tests.make import Browser, Client, mails_to, new_email, second_app
from tests.make.browser import PASSWORD
from tests.pages.operator.support import operator_browser

LINK = "https://canopy.example/secret-link"


@pytest.mark.both
def test_the_last_emails_without_what_they_say(app: Flask, operator: Browser) -> None:
    email = new_email()
    with app.app_context(), transaction():
        queue_mail("confirm_sign_up", email, cause=email, values={"link": LINK})
    page = operator.get("/operator/mails")
    assert f"{email} confirm sign up" in page.text
    assert "waiting" in page.text
    mails_to(app, email)
    page = operator.get("/operator/mails")
    assert "saved *-confirm_sign_up-mail_" in page.text
    assert str(app.config["SETTINGS"].instance_path / "mails") in page.text
    assert "secret-link" not in page.response.get_data(as_text=True)


def test_with_a_mail_server(app: Flask, client: Client) -> None:
    with second_app(app, mail_url=mail_server("smtp://localhost")) as other:
        elsewhere = Client(other, client.account_id, client.owner_id, None)
        text = operator_browser(elsewhere).get("/operator/mails").text
    assert "No mail server is set" not in text


def test_who_signs_up_is_told_where_the_email_is(app: Flask) -> None:
    browser = Browser(app)
    browser.get("/register")
    page = browser.submit(
        name="Ada Birch", password=PASSWORD, account_name="Birch Hill", email=new_email()
    )
    assert "the email becomes a file in its folder mails" in page.text
    assert "spam" not in page.text
    assert "/operator/mails" in page.links
    with second_app(app, mail_url=mail_server("smtp://localhost")) as other:
        browser = Browser(other)
        browser.get("/forgot-password")
        page = browser.submit(email=new_email())
    assert "Check your spam folder" in page.text
    assert "becomes a file" not in page.text
